//===- SentencePieceFallback.cpp - Unknown characters as bytes ------------===//
//
// Edits the wire format of Protocol Buffers, where what stands behind a message merges into it: elements of a
// repeated field come behind the others, fields of a message replace its own.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/SentencePieceFallback.h"

#include <cstddef>
#include <cstdint>

namespace weft {

namespace {
/// Reads top-level fields; the text may be anything.
class WireReader {
public:
  explicit WireReader(std::string_view text) : rest(text) {}

  /// The next field with its tag, of which `tag` is the value; empty at the end and where no field can be
  /// read.
  std::string_view next(uint64_t &tag) {
    const std::string_view all = rest;
    uint64_t ignored = 0;
    uint64_t length = 0;
    if (!readVarint(tag) || !(tag % 8 == 0   ? readVarint(ignored)
                              : tag % 8 == 1 ? skip(8)
                              : tag % 8 == 2 ? readVarint(length) && skip(length)
                                             : tag % 8 == 5 && skip(4))) {
      rest = all;
      return {};
    }
    return all.substr(0, all.size() - rest.size());
  }

  std::string_view unread() const { return rest; }

private:
  bool readVarint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest.front());
      rest.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80)
        return true;
    }
    return false;
  }

  bool skip(uint64_t length) {
    if (length > rest.size())
      return false;
    rest.remove_prefix(static_cast<size_t>(length));
    return true;
  }

  std::string_view rest;
};
} // namespace

std::string fallbackPiece(unsigned char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  return {'<', '0', 'x', digits[byte / 16], digits[byte % 16], '>'};
}

std::string withByteFallback(std::string_view model) {
  // ModelProto.self_test_data: field 4, a message.
  constexpr uint64_t selfTests = 4 * 8 + 2;
  std::string result;
  WireReader reader(model);
  uint64_t tag = 0;
  for (std::string_view field = reader.next(tag); !field.empty(); field = reader.next(tag))
    if (tag != selfTests)
      result += field;
  // What is no plain field stays as it is, with all behind it.
  result += reader.unread();
  // Field 1, a piece of 10 bytes: its field 1, the spelling of 6 bytes, and its field 3, the type BYTE.
  for (int byte = 0; byte < 256; ++byte)
    result += "\x0A\x0A\x0A\x06" + fallbackPiece(static_cast<unsigned char>(byte)) + "\x18\x06";
  // Field 2, the trainer's options, of 3 bytes: its field 35, byte_fallback, is true.
  return result += "\x12\x03\x98\x02\x01";
}

} // namespace weft
