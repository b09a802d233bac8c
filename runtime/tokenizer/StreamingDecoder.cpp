//===- StreamingDecoder.cpp - Text of ids that come one by one ------------===//
//
// Only the tail can be unfinished: look back over at most three continuation bytes for a lead byte that
// promises more bytes than have come.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/StreamingDecoder.h"

#include <utility>

namespace weft {
namespace {

/// Bytes of the character that `lead` begins; 1 for a continuation byte or one that no UTF-8 contains.
size_t characterLength(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF)
    return 2;
  if (lead >= 0xE0 && lead <= 0xEF)
    return 3;
  if (lead >= 0xF0 && lead <= 0xF4)
    return 4;
  return 1;
}

/// Bytes at the end of `text` that begin a character whose end is not there yet.
size_t unfinishedTail(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    unsigned char byte = text[text.size() - back];
    bool isContinuation = (byte & 0xC0) == 0x80;
    if (!isContinuation)
      return characterLength(byte) > back ? back : 0;
  }
  return 0;
}

} // namespace

absl::StatusOr<std::string> StreamingDecoder::feed(int32_t id) {
  absl::StatusOr<std::string_view> bytes = tokenizer.nextBytesOf(id, isFirst);
  if (!bytes.ok())
    return bytes.status();
  pending.append(*bytes);
  size_t ready = pending.size() - unfinishedTail(pending);
  std::string text = pending.substr(0, ready);
  pending.erase(0, ready);
  return text;
}

std::string StreamingDecoder::finish() { return std::exchange(pending, std::string()); }

} // namespace weft
