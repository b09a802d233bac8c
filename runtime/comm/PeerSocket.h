//===- PeerSocket.h - TCP between the processes of a job ------------------===//
//
// A process listens on a port that the system chooses, on every address of its host; where that is, and a
// random token that a caller must know, is a block of bytes that ranks gather from each other. Children do
// not inherit sockets, so a connection ends with its process. A host that vanishes without a word is noticed
// by the system: what was sent is not acknowledged.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_PEERSOCKET_H
#define WEFT_RUNTIME_COMM_PEERSOCKET_H

#include "runtime/comm/PeerMessage.h"

#include "absl/status/statusor.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace weft {

/// A descriptor, closed at the end.
class Socket {
public:
  Socket() = default;
  explicit Socket(int descriptor) : held(descriptor) {}
  Socket(Socket &&other) noexcept : held(std::exchange(other.held, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(held, other.held);
    return *this;
  }
  ~Socket() { close(); }

  int descriptor() const { return held; }
  bool isOpen() const { return held >= 0; }
  void close();

private:
  int held = -1;
};

/// Where a rank listens. Plain bytes, the same size on every rank.
struct PeerEndpoint {
  static constexpr size_t kMostAddresses = 12;
  using Address = std::array<uint8_t, 16>; ///< IPv6; an IPv4 address mapped into it

  uint64_t token = 0;
  uint16_t port = 0;
  uint16_t addressCount = 0;
  std::array<Address, kMostAddresses> addresses{};
};

/// Listens, and fills in where. Unavailable when the system refuses.
absl::StatusOr<Socket> listenForPeers(PeerEndpoint &endpoint);

/// A caller on a listening socket, not blocking; not open when there is none (any more).
Socket acceptPeer(const Socket &listener);

/// A connection to a rank, not blocking, which its watch has accepted; tries each address in turn.
/// Unavailable names the addresses and what each said.
absl::StatusOr<Socket> callPeer(const PeerEndpoint &peer, int peerRank, int ownRank, int ranks,
                                double seconds);

/// One end of a connection: messages out and in.
class PeerLink {
public:
  explicit PeerLink(Socket socket) : socket(std::move(socket)) {}

  int descriptor() const { return socket.descriptor(); }
  bool isOpen() const { return socket.isOpen(); }
  /// Whether something waits until the other end takes it.
  bool hasPending() const { return !out.empty(); }
  /// Sends what goes at once, and the rest when flush() is called. A failure shows when reading.
  void send(const PeerMessage &message);
  void flush();
  /// Reads what has come; false when the connection has ended.
  bool receive();
  /// Why it did, unless the other end closed it.
  std::string_view reason() const { return problem; }
  /// The next of the messages that have come.
  absl::StatusOr<std::optional<PeerMessage>> next(int ranks) { return takeMessage(in, ranks); }
  /// Nothing will be sent any more; what the other end still sends can be read.
  void finishSending();
  void close() { socket.close(); }
  /// The socket of a link on which nothing is under way.
  Socket release() { return std::move(socket); }

private:
  void noteError(int error);

  Socket socket;
  std::string in, out, problem;
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_PEERSOCKET_H
