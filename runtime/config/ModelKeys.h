//===- ModelKeys.h - The spellings of a Hugging Face config.json ----------===//
//
// `model` takes the keys of a config.json as they are, old and new spellings alike, or names such a file.
// Here both become the one spelling of the schema. A key of a config.json that would change the model and
// that weft does not have is refused; one that is known to change nothing is dropped.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_MODELKEYS_H
#define WEFT_RUNTIME_CONFIG_MODELKEYS_H

#include "runtime/config/Diagnostics.h"

namespace weft {

/// Replaces `model.from` by what the file holds, under the keys written beside it, and brings every key to
/// the spelling of the schema. `folder` is what the file's path is relative to.
void resolveModelKeys(ConfigNode &root, const std::string &folder, Diagnostics &diagnostics);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_MODELKEYS_H
