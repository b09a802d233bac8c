//===- BytesTokenizer.cpp - One token per byte ----------------------------===//
//
// Encoding widens bytes, decoding looks into a table of all 256 bytes.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/BytesTokenizer.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <array>

namespace weft {
namespace {

constexpr std::array<char, 256> allBytes = [] {
  std::array<char, 256> bytes{};
  for (int i = 0; i < 256; ++i)
    bytes[i] = static_cast<char>(i);
  return bytes;
}();

} // namespace

absl::Status BytesTokenizer::encode(std::string_view text, const EncodeOptions &, std::vector<int32_t> &ids,
                                    Scratch &) const {
  size_t before = ids.size();
  ids.resize(before + text.size());
  int32_t *out = ids.data() + before;
  for (size_t i = 0; i < text.size(); ++i)
    out[i] = static_cast<unsigned char>(text[i]);
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> BytesTokenizer::bytesOf(int32_t id) const {
  if (id < 0 || id >= vocabularySize())
    return absl::NotFoundError(
        absl::StrCat("id ", id, " is outside of the vocabulary of ", vocabularySize(), " ids"));
  if (id == endOfDocument())
    return std::string_view();
  return std::string_view(&allBytes[id], 1);
}

} // namespace weft
