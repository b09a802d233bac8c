//===- DataTrainTokenizer.h - weft data train-tokenizer -------------------===//
//
// A tokenizer.json learned from texts.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_DATATRAINTOKENIZER_H
#define WEFT_TOOLS_WEFT_DATATRAINTOKENIZER_H

#include "tools/weft/Command.h"

namespace weft {

void addDataTrainTokenizer(CLI::App &data);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_DATATRAINTOKENIZER_H
