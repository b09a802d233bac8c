//===- Overrides.h - `--set a.b=c` ----------------------------------------===//
//
// An override is a path into the run file and a YAML value. It is laid over the tree before anything is
// decoded, so that an overridden value is checked like a written one.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_OVERRIDES_H
#define WEFT_RUNTIME_CONFIG_OVERRIDES_H

#include "runtime/config/Diagnostics.h"

namespace weft {

/// Sets the value at the path of `a.b=c`. An element of a list is `data.train[0].weight`. A map is merged key
/// by key, everything else replaced. The same path twice is an error, since one of the two would be ignored.
void applyOverride(const std::string &text, ConfigNode &root, Diagnostics &diagnostics);

/// Lays `over` over `base`: maps key by key, everything else replaces.
void mergeOver(ConfigNode &base, const ConfigNode &over);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_OVERRIDES_H
