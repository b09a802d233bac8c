//===- PeerMessage.cpp - What peer watches tell each other ----------------===//
//
// Integers are little-endian, as on every machine that the kernels run on.
//
//===----------------------------------------------------------------------===//
#include "runtime/comm/PeerMessage.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

constexpr size_t kHeader = 2 + 1 + 4 + 4 + 8 * PeerMessage::kValues; // the length of the text comes first

template <typename T> void put(std::string &stream, T value) {
  stream.append(reinterpret_cast<const char *>(&value), sizeof(T));
}
template <typename T> T get(const std::string &stream, size_t &place) {
  T value;
  std::memcpy(&value, stream.data() + place, sizeof(T));
  place += sizeof(T);
  return value;
}

} // namespace

void append(std::string &stream, const PeerMessage &message) {
  const size_t length = std::min(message.text.size(), PeerMessage::kMostText);
  put(stream, static_cast<uint16_t>(length));
  put(stream, message.kind);
  put(stream, message.rank);
  put(stream, message.teller);
  for (uint64_t value : message.values)
    put(stream, value);
  stream.append(message.text, 0, length);
}

absl::StatusOr<std::optional<PeerMessage>> takeMessage(std::string &stream, int ranks) {
  if (stream.size() < kHeader)
    return std::nullopt;
  size_t place = 0;
  const size_t length = get<uint16_t>(stream, place);
  PeerMessage message;
  message.kind = get<PeerMessage::Kind>(stream, place);
  message.rank = get<uint32_t>(stream, place);
  message.teller = get<uint32_t>(stream, place);
  for (uint64_t &value : message.values)
    value = get<uint64_t>(stream, place);
  const auto known = [&](uint32_t rank) { return rank < static_cast<uint32_t>(ranks); };
  if (length > PeerMessage::kMostText || message.kind > PeerMessage::Kind::Reported || !known(message.rank) ||
      !known(message.teller))
    return absl::InvalidArgumentError(absl::StrCat("not a message between the ", ranks, " ranks of a job"));
  if (stream.size() < kHeader + length)
    return std::nullopt;
  message.text = stream.substr(kHeader, length);
  stream.erase(0, kHeader + length);
  return message;
}

} // namespace weft
