//===- TokenizerSpeed.h - weft tokenizer speed ----------------------------===//
//
// How fast texts are encoded.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TOKENIZERSPEED_H
#define WEFT_TOOLS_WEFT_TOKENIZERSPEED_H

#include "tools/weft/Command.h"

namespace weft {

void addTokenizerSpeed(CLI::App &tokenizer);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_TOKENIZERSPEED_H
