//===- RegexDialect.h - For which engine a pattern was written ------------===//
//
// Hugging Face runs the patterns of a tokenizer.json by Oniguruma in its Ruby syntax, tiktoken those of its
// encodings by Rust's fancy-regex.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_REGEXDIALECT_H
#define WEFT_RUNTIME_TOKENIZER_REGEXDIALECT_H

namespace weft {

enum class RegexDialect { Oniguruma, Rust };

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_REGEXDIALECT_H
