//===- TokenizerJson.h - Tokenizers whose file is JSON --------------------===//
//
// tokenizer.json of Hugging Face and tekken.json of Mistral. Whatever a file asks for is done or refused by
// name; no file, however broken, does more than end in an error.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_TOKENIZERJSON_H
#define WEFT_RUNTIME_TOKENIZER_TOKENIZERJSON_H

#include "runtime/tokenizer/JsonFields.h"
#include "runtime/tokenizer/TokenizerFile.h"

namespace weft {

/// Whether the first character is a brace.
bool isTokenizerJson(std::string_view contents);
absl::StatusOr<std::unique_ptr<Tokenizer>> readTokenizerJson(TokenizerFile file);

/// The readers of the two formats; messages do not name the file.
absl::StatusOr<std::unique_ptr<Tokenizer>> readHuggingFaceTokenizer(TokenizerFile file,
                                                                    const JsonFields &fields);
absl::StatusOr<std::unique_ptr<Tokenizer>> readTekken(TokenizerFile file, const JsonFields &fields);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_TOKENIZERJSON_H
