//===- ConfigChecks.h - Values that must agree ----------------------------===//
//
// What no single key can check: divisibility, order and fit between keys. Also computes the derived defaults,
// which depend on other keys in the same way.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_CONFIGCHECKS_H
#define WEFT_RUNTIME_CONFIG_CONFIGCHECKS_H

#include "runtime/config/Config.h"
#include "runtime/config/Diagnostics.h"

#include <map>
#include <string>

namespace weft {

/// Fills in every key with a derived default that is not in `origins`.
void deriveDefaults(Config &config, const std::map<std::string, Origin> &origins);

/// Reports each disagreement at the key to change, with values that would work. `fallback` is the place of
/// keys that were not given.
void checkAcrossKeys(const Config &config, const std::map<std::string, Origin> &origins,
                     const Origin &fallback, Diagnostics &diagnostics);

/// Whether the heads can be split over these ranks, axis after axis, so that no part has some heads of one
/// group and some of another: groups first, then the heads of a group.
bool headsAreShared(const ModelConfig &model, int64_t tensor, int64_t context);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_CONFIGCHECKS_H
