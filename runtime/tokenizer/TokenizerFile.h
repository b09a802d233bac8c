//===- TokenizerFile.h - A tokenizer that somebody trained ----------------===//
//
// A file, and what the run file says where the file cannot. The format is recognized by the content, never by
// the name. Both travel whole in the blob of a tokenizer, so that the node that reads the blob builds the
// same tokenizer with the same code.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_TOKENIZERFILE_H
#define WEFT_RUNTIME_TOKENIZER_TOKENIZERFILE_H

#include "runtime/config/Config.h"
#include "runtime/tokenizer/Tokenizer.h"

namespace weft {

struct TokenizerFile {
  /// Tokenizer::kind() of all tokenizers that have a file.
  static constexpr std::string_view kindName = "file";

  /// What messages call it; not part of the payload.
  std::string name;
  std::string contents;
  /// tokenizer.pattern, tokenizer.special_tokens and tokenizer.end_of_document; empty: not given.
  std::string pattern;
  std::vector<SpecialTokenConfig> specialTokens;
  std::string endOfDocument;

  /// The keys as one line of JSON, then the contents: Tokenizer::payload() of a tokenizer that has a file.
  std::string payload() const;
  static absl::StatusOr<TokenizerFile> fromPayload(std::string_view payload);
};

/// The tokenizer of the file; an error names the file, and what was recognized in it.
absl::StatusOr<std::unique_ptr<Tokenizer>> readTokenizerFile(TokenizerFile file);

/// Whether the file begins with a line "BASE64 RANK".
bool isTiktoken(std::string_view contents);
absl::StatusOr<std::unique_ptr<Tokenizer>> readTiktoken(TokenizerFile file);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_TOKENIZERFILE_H
