//===- PeerMessage.h - What peer watches tell each other ------------------===//
//
// A frame on a stream: its length, a header of fixed size, a short text. Bytes may come from anybody who
// finds the port, so reading refuses what is no message of this job; nothing is allocated by a length that
// was read.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_PEERMESSAGE_H
#define WEFT_RUNTIME_COMM_PEERMESSAGE_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

struct PeerMessage {
  enum class Kind : uint8_t {
    Hello,     ///< opens a connection: `rank` calls; values[0] is the token of whoever is called
    Welcome,   ///< the answer, with the same token
    Chosen,    ///< the caller keeps this connection: a link from here on
    Heartbeat, ///< what `rank` at the other end is doing
    Lost,      ///< news: `rank` is lost; text: the reason
    GaveUp,   ///< news: `rank` stops the job; values[0]: status code, values[1]: exit code; text: its message
    Left,     ///< news: `rank` has ended its part of the job
    Question, ///< news: `rank` asks what everyone is doing
    Answer,   ///< news: what `rank` is doing; values[0]: counts the teller's answers, values[1]: 1 in a
              ///< collective, values[2]: how old that knowledge is, in milliseconds
    Reported, ///< news: `rank` has said why the job failed, and ends once the others have
  };
  static constexpr size_t kValues = 3;
  static constexpr size_t kMostText = 2000;

  Kind kind = Kind::Hello;
  uint32_t rank = 0;
  /// Who tells: in an answer that a neighbor gives for a silent rank, not `rank` itself.
  uint32_t teller = 0;
  std::array<uint64_t, kValues> values{};
  std::string text; ///< longer ones are cut when sent
  bool operator==(const PeerMessage &) const = default;
};

void append(std::string &stream, const PeerMessage &message);

/// Takes the first message off `stream`; absent while it is not whole. InvalidArgument for bytes that are no
/// message between `ranks` ranks.
absl::StatusOr<std::optional<PeerMessage>> takeMessage(std::string &stream, int ranks);

} // namespace weft

#endif // WEFT_RUNTIME_COMM_PEERMESSAGE_H
