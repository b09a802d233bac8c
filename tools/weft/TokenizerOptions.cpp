//===- TokenizerOptions.cpp - The tokenizer of a command ------------------===//
//
// The options become the config that a run file gives, and go the same way from there.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/TokenizerOptions.h"

#include "runtime/config/Config.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace weft {

void addTokenizerOptions(CLI::App &command, TokenizerOptions &options) {
  command.add_option("--tokenizer", options.tokenizer, "bytes, or the file of a trained tokenizer")
      ->capture_default_str();
  addTokenizerFileOptions(command, options);
}

void addTokenizerFileOptions(CLI::App &command, TokenizerOptions &options) {
  command.add_option("--pattern", options.pattern,
                     "How text is split, where the file does not say it: tokenizer.pattern of a run file");
  command.add_option("--special-token", options.specialTokens,
                     "NAME=ID: a token beside those of the file, as tokenizer.special_tokens of a run file");
  command.add_option("--end-of-document", options.endOfDocument,
                     "The token that ends each document: tokenizer.end_of_document of a run file");
}

/// The name may have any character in it: the last = counts.
static absl::StatusOr<SpecialTokenConfig> readSpecialToken(const std::string &text) {
  const size_t equals = text.rfind('=');
  SpecialTokenConfig special;
  if (equals == std::string::npos || !absl::SimpleAtoi(text.substr(equals + 1), &special.id))
    return absl::InvalidArgumentError(absl::StrCat(
        "--special-token: expected NAME=ID, such as \"<|endoftext|>=100257\", got \"", text, "\""));
  special.token = text.substr(0, equals);
  return special;
}

std::unique_ptr<Tokenizer> openTokenizer(const TokenizerOptions &options) {
  TokenizerConfig config{.file = options.tokenizer == "bytes" ? "" : options.tokenizer,
                         .pattern = options.pattern,
                         .specialTokens = {},
                         .endOfDocument = options.endOfDocument};
  for (const std::string &text : options.specialTokens) {
    absl::StatusOr<SpecialTokenConfig> special = readSpecialToken(text);
    if (!special.ok())
      failCommand(withExitCode(special.status(), ExitCode::Config));
    config.specialTokens.push_back(*std::move(special));
  }
  if (config.file.empty() &&
      (!config.pattern.empty() || !config.specialTokens.empty() || !config.endOfDocument.empty()))
    failCommand(withExitCode(absl::InvalidArgumentError(
                                 "--tokenizer bytes has no pattern and no special tokens: name the file of a "
                                 "tokenizer, or leave --pattern, --special-token and --end-of-document out"),
                             ExitCode::Config));
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = createTokenizer(config);
  if (!tokenizer.ok())
    failCommand(withExitCode(tokenizer.status(), ExitCode::Config));
  return *std::move(tokenizer);
}

} // namespace weft
