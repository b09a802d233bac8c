//===- Utf8Text.cpp - Well-formed UTF-8 -----------------------------------===//
//
// Bytes below 128 are skipped eight at a time; the second byte of a character decides whether it may exist
// at all (no overlong forms, no surrogates, nothing above U+10FFFF).
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/Utf8Text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace weft {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct Sequence {
  size_t bytes;
  bool isCharacter;
};

/// The character at `position`, or the longest piece that begins like one.
Sequence sequenceAt(std::string_view text, size_t position) {
  const auto byteAt = [&](size_t at) -> unsigned {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
  };
  const unsigned lead = byteAt(position);
  if (lead < 0x80)
    return {1, true};
  if (lead < 0xC2 || lead > 0xF4)
    return {1, false};
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byteAt(position + 1) < low || byteAt(position + 1) > high)
    return {1, false};
  for (size_t i = 2; i < length; ++i)
    if ((byteAt(position + i) & 0xC0) != 0x80)
      return {i, false};
  return {length, true};
}

/// The first byte from `position` on that is not ASCII.
size_t skipAscii(std::string_view text, size_t position) {
  constexpr uint64_t highBits = 0x8080808080808080;
  uint64_t word = 0;
  while (position + sizeof(word) <= text.size()) {
    std::memcpy(&word, text.data() + position, sizeof(word));
    if ((word & highBits) != 0)
      break;
    position += sizeof(word);
  }
  while (position < text.size() && static_cast<unsigned char>(text[position]) < 0x80)
    ++position;
  return position;
}

/// The first byte from `position` on that is not part of a character.
size_t skipWellFormed(std::string_view text, size_t position) {
  while ((position = skipAscii(text, position)) < text.size()) {
    const Sequence sequence = sequenceAt(text, position);
    if (!sequence.isCharacter)
      break;
    position += sequence.bytes;
  }
  return position;
}

} // namespace

bool isAscii(std::string_view text) { return skipAscii(text, 0) == text.size(); }

bool isWellFormedUtf8(std::string_view text) { return skipWellFormed(text, 0) == text.size(); }

std::string replaceMalformedUtf8(std::string_view text) {
  std::string replaced;
  for (size_t position = 0; position < text.size();) {
    const size_t end = skipWellFormed(text, position);
    replaced.append(text, position, end - position);
    position = end;
    if (position == text.size())
      break;
    replaced += replacement;
    position += sequenceAt(text, position).bytes;
  }
  return replaced;
}

char32_t characterBefore(std::string_view text, size_t end) {
  for (size_t length = 1; length <= 4 && length <= end; ++length) {
    const size_t begin = end - length;
    const auto lead = static_cast<unsigned char>(text[begin]);
    if ((lead & 0xC0) == 0x80)
      continue;
    const Sequence sequence = sequenceAt(text, begin);
    if (!sequence.isCharacter || sequence.bytes != length)
      break;
    if (length == 1)
      return lead;
    char32_t code = lead & (0x7Fu >> length);
    for (size_t i = 1; i < length; ++i)
      code = code << 6 | (static_cast<unsigned char>(text[begin + i]) & 0x3F);
    return code;
  }
  return 0xFFFD;
}

void appendUtf8(std::string &text, char32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | code >> 6);
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | code >> 12);
    text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | code >> 18);
    text += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

WellFormedCopy::WellFormedCopy(std::string_view original) {
  for (size_t position = 0; position < original.size(); ++position) {
    const size_t end = skipWellFormed(original, position);
    copy.append(original, position, end - position);
    position = end;
    if (position == original.size())
      break;
    replaced.push_back(copy.size());
    copy += replacement;
  }
}

size_t WellFormedCopy::originOf(size_t offset) const {
  const auto before = std::lower_bound(replaced.begin(), replaced.end(), offset) - replaced.begin();
  return offset - static_cast<size_t>(before) * (replacement.size() - 1);
}

} // namespace weft
