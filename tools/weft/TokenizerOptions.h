//===- TokenizerOptions.h - The tokenizer of a command --------------------===//
//
// Commands that work without a run file take on the command line what the section `tokenizer` says there.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TOKENIZEROPTIONS_H
#define WEFT_TOOLS_WEFT_TOKENIZEROPTIONS_H

#include "runtime/tokenizer/Tokenizer.h"
#include "tools/weft/Command.h"

#include <memory>
#include <string>
#include <vector>

namespace weft {

struct TokenizerOptions {
  std::string tokenizer = "bytes";
  std::string pattern;
  std::vector<std::string> specialTokens;
  std::string endOfDocument;
};

/// The options --pattern, --special-token and --end-of-document, for a command that is given the file itself.
void addTokenizerFileOptions(CLI::App &command, TokenizerOptions &options);

/// The options --tokenizer, --pattern, --special-token and --end-of-document.
void addTokenizerOptions(CLI::App &command, TokenizerOptions &options);

/// The tokenizer that they name; ends the command when there is none.
std::unique_ptr<Tokenizer> openTokenizer(const TokenizerOptions &options);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_TOKENIZEROPTIONS_H
