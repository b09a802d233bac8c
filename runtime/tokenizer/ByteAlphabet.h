//===- ByteAlphabet.h - Bytes as visible characters -----------------------===//
//
// How tokens spell bytes. Byte-level tokenizer files spell each byte as one visible character: printable
// Latin-1 as itself, the other 68 bytes as U+0100 and the following. Files with byte fallback have tokens
// <0x00> to <0xFF> instead.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_BYTEALPHABET_H
#define WEFT_RUNTIME_TOKENIZER_BYTEALPHABET_H

#include <optional>
#include <string>
#include <string_view>

namespace weft {

/// Each byte of `bytes` as its character.
std::string toByteAlphabet(std::string_view bytes);

/// The bytes that `text` spells; nothing when a character is none of the alphabet.
std::optional<std::string> fromByteAlphabet(std::string_view text);

/// The byte of a token spelled <0x00> to <0xFF>.
std::optional<char> byteOfFallback(std::string_view token);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_BYTEALPHABET_H
