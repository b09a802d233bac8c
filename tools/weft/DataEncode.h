//===- DataEncode.h - weft data encode ------------------------------------===//
//
// The ids of texts, and how fast they come.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_DATAENCODE_H
#define WEFT_TOOLS_WEFT_DATAENCODE_H

#include "tools/weft/Command.h"

namespace weft {

void addDataEncode(CLI::App &data);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_DATAENCODE_H
