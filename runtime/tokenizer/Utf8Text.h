//===- Utf8Text.h - Well-formed UTF-8 -------------------------------------===//
//
// What the parts of a tokenizer ask of a text as bytes: is it well-formed, what would Python's
// errors="replace" make of it, which character stands before a position.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_UTF8TEXT_H
#define WEFT_RUNTIME_TOKENIZER_UTF8TEXT_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

bool isAscii(std::string_view text);

bool isWellFormedUtf8(std::string_view text);

/// U+FFFD for each longest piece that begins like a character and is none, as Unicode recommends.
std::string replaceMalformedUtf8(std::string_view text);

/// The character that ends at `end`, which is not 0; U+FFFD when the bytes before it are none.
char32_t characterBefore(std::string_view text, size_t end);

void appendUtf8(std::string &text, char32_t code);

/// A text with U+FFFD for each byte that is not part of a character, for readers that need well-formed UTF-8.
class WellFormedCopy {
public:
  explicit WellFormedCopy(std::string_view original);

  std::string_view text() const { return copy; }
  /// Where in the original the byte at `offset` of the copy comes from.
  size_t originOf(size_t offset) const;

private:
  std::string copy;
  /// Offsets in the copy of what was replaced.
  std::vector<size_t> replaced;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_UTF8TEXT_H
