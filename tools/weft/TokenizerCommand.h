//===- TokenizerCommand.h - weft tokenizer encode|decode|show -------------===//
//
// Looks into a tokenizer: the ids of a text, the text of ids, what the file holds.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TOKENIZERCOMMAND_H
#define WEFT_TOOLS_WEFT_TOKENIZERCOMMAND_H

namespace CLI {
class App;
}

namespace weft {

void addTokenizerCommand(CLI::App &app);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_TOKENIZERCOMMAND_H
