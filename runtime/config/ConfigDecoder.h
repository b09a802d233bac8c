//===- ConfigDecoder.h - A tree into typed members ------------------------===//
//
// Walks a tree along the schema: every key of the tree must be in the table, every value must have its key's
// type and lie in its range. What decodes lands in the Config, what does not becomes an error with its place.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_CONFIGDECODER_H
#define WEFT_RUNTIME_CONFIG_CONFIGDECODER_H

#include "runtime/config/Config.h"
#include "runtime/config/Diagnostics.h"

#include <map>

namespace weft {

/// `origins` receives the place of every key and section that was given. Missing keys are not this function's
/// matter.
void decodeConfig(const ConfigNode &root, const std::string &folder, Config &config,
                  std::map<std::string, Origin> &origins, Diagnostics &diagnostics);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_CONFIGDECODER_H
