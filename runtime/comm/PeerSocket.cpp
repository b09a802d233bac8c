//===- PeerSocket.cpp - TCP between the processes of a job ----------------===//
//
// A connection is opened in three words, Hello, Welcome, Chosen: of several tries on several addresses the
// caller keeps one, and whoever is called takes none of the others for a link.
//
//===----------------------------------------------------------------------===//
#include "runtime/comm/PeerSocket.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

/// What was sent and is not acknowledged for so long ends a connection: the host is gone.
constexpr int kHostSilenceMilliseconds = 5000;

absl::Status systemError(const char *action) {
  return absl::UnavailableError(
      absl::StrCat("watching the other ranks: cannot ", action, ": ", std::strerror(errno)));
}

void set(int descriptor, int level, int option, int value) {
  ::setsockopt(descriptor, level, option, &value, sizeof(value)); // what the system does not know, it leaves
}

void prepareLink(int descriptor) {
  set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, kHostSilenceMilliseconds);
}

bool isMapped(const PeerEndpoint::Address &address) {
  constexpr std::array<uint8_t, 12> prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(prefix.begin(), prefix.end(), address.begin());
}

PeerEndpoint::Address mapped(const in_addr &address) {
  PeerEndpoint::Address result{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::memcpy(result.data() + 12, &address, 4);
  return result;
}

std::string printed(const PeerEndpoint::Address &address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (isMapped(address))
    ::inet_ntop(AF_INET, address.data() + 12, text.data(), text.size());
  else
    ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
  return text.data();
}

/// Every address of the host that others may reach, then the loopback's, for a host without a network.
void findAddresses(PeerEndpoint &endpoint) {
  ifaddrs *first = nullptr;
  std::vector<PeerEndpoint::Address> reachable, own;
  if (::getifaddrs(&first) == 0) {
    for (const ifaddrs *entry = first; entry; entry = entry->ifa_next) {
      if (!entry->ifa_addr || !(entry->ifa_flags & IFF_UP))
        continue;
      PeerEndpoint::Address address;
      if (entry->ifa_addr->sa_family == AF_INET) {
        address = mapped(reinterpret_cast<const sockaddr_in *>(entry->ifa_addr)->sin_addr);
      } else if (entry->ifa_addr->sa_family == AF_INET6) {
        const in6_addr &found = reinterpret_cast<const sockaddr_in6 *>(entry->ifa_addr)->sin6_addr;
        if (IN6_IS_ADDR_LINKLOCAL(&found))
          continue;
        std::memcpy(address.data(), &found, address.size());
      } else {
        continue;
      }
      (entry->ifa_flags & IFF_LOOPBACK ? own : reachable).push_back(address);
    }
    ::freeifaddrs(first);
  }
  if (own.empty())
    own.push_back(mapped(in_addr{htonl(INADDR_LOOPBACK)}));
  reachable.resize(std::min(reachable.size(), PeerEndpoint::kMostAddresses - 1));
  reachable.push_back(own.front());
  endpoint.addressCount = static_cast<uint16_t>(reachable.size());
  std::copy(reachable.begin(), reachable.end(), endpoint.addresses.begin());
}

/// Listens on all addresses of a family, on a port of the system's choice.
Socket listenOn(int family, uint16_t &port) {
  Socket socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.isOpen())
    return socket;
  sockaddr_storage address{};
  address.ss_family = static_cast<sa_family_t>(family);
  socklen_t length = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (family == AF_INET6)
    set(socket.descriptor(), IPPROTO_IPV6, IPV6_V6ONLY, 0); // IPv4 callers, too
  constexpr int waiting = 128;
  if (::bind(socket.descriptor(), reinterpret_cast<sockaddr *>(&address), length) < 0 ||
      ::listen(socket.descriptor(), waiting) < 0 ||
      ::getsockname(socket.descriptor(), reinterpret_cast<sockaddr *>(&address), &length) < 0)
    return Socket();
  port = ntohs(family == AF_INET6 ? reinterpret_cast<sockaddr_in6 *>(&address)->sin6_port
                                  : reinterpret_cast<sockaddr_in *>(&address)->sin_port);
  return socket;
}

/// Waits until a descriptor is ready for `events`; false when the time is over.
bool waitFor(int descriptor, short events, Clock::time_point deadline) {
  while (true) {
    const double left = std::chrono::duration<double, std::milli>(deadline - Clock::now()).count();
    if (left <= 0)
      return false;
    pollfd waiting{descriptor, events, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::ceil(left)));
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return false;
  }
}

/// A TCP connection; `problem` says why there is none.
Socket connectTo(const PeerEndpoint::Address &address, uint16_t port, Clock::time_point deadline,
                 std::string &problem) {
  sockaddr_storage storage{};
  socklen_t length;
  if (isMapped(address)) {
    auto *target = reinterpret_cast<sockaddr_in *>(&storage);
    target->sin_family = AF_INET;
    target->sin_port = htons(port);
    std::memcpy(&target->sin_addr, address.data() + 12, 4);
    length = sizeof(*target);
  } else {
    auto *target = reinterpret_cast<sockaddr_in6 *>(&storage);
    target->sin6_family = AF_INET6;
    target->sin6_port = htons(port);
    std::memcpy(&target->sin6_addr, address.data(), address.size());
    length = sizeof(*target);
  }
  Socket socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int error = socket.isOpen() ? 0 : errno;
  if (error == 0 && ::connect(socket.descriptor(), reinterpret_cast<sockaddr *>(&storage), length) < 0) {
    error = errno;
    if (error == EINPROGRESS) {
      socklen_t size = sizeof(error);
      if (!waitFor(socket.descriptor(), POLLOUT, deadline))
        error = ETIMEDOUT;
      else if (::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        error = errno;
    }
  }
  if (error == 0)
    return socket;
  problem = std::strerror(error);
  return Socket();
}

/// Says who calls, and hears that it is the rank that was meant.
bool introduce(PeerLink &link, const PeerEndpoint &peer, int peerRank, int ownRank, int ranks,
               Clock::time_point deadline, std::string &problem) {
  PeerMessage hello;
  hello.rank = hello.teller = static_cast<uint32_t>(ownRank);
  hello.values[0] = peer.token;
  link.send(hello);
  while (true) {
    absl::StatusOr<std::optional<PeerMessage>> answer = link.next(ranks);
    if (answer.ok() && *answer) {
      const PeerMessage &message = **answer;
      if (message.kind == PeerMessage::Kind::Welcome && message.values[0] == peer.token &&
          message.rank == static_cast<uint32_t>(peerRank)) {
        hello.kind = PeerMessage::Kind::Chosen;
        link.send(hello);
        return true;
      }
    }
    if (!answer.ok() || *answer) {
      problem = "another program answers there";
      return false;
    }
    if (!waitFor(link.descriptor(), POLLIN, deadline)) {
      problem = "no answer";
      return false;
    }
    if (!link.receive()) {
      problem = link.reason().empty() ? "the connection was closed" : link.reason();
      return false;
    }
  }
}

} // namespace

void Socket::close() {
  if (held >= 0)
    ::close(std::exchange(held, -1));
}

absl::StatusOr<Socket> listenForPeers(PeerEndpoint &endpoint) {
  Socket socket = listenOn(AF_INET6, endpoint.port);
  if (!socket.isOpen())
    socket = listenOn(AF_INET, endpoint.port);
  if (!socket.isOpen())
    return systemError("listen on a port");
  if (::getrandom(&endpoint.token, sizeof(endpoint.token), 0) != sizeof(endpoint.token))
    return systemError("draw a random token");
  findAddresses(endpoint);
  return socket;
}

Socket acceptPeer(const Socket &listener) {
  Socket socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.isOpen())
    prepareLink(socket.descriptor());
  return socket;
}

absl::StatusOr<Socket> callPeer(const PeerEndpoint &peer, int peerRank, int ownRank, int ranks,
                                double seconds) {
  std::vector<std::string> problems;
  const size_t count = std::min<size_t>(peer.addressCount, PeerEndpoint::kMostAddresses);
  for (size_t i = 0; i < count; ++i) {
    const PeerEndpoint::Address &address = peer.addresses[i];
    const auto deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    std::string problem;
    Socket socket = connectTo(address, peer.port, deadline, problem);
    if (socket.isOpen()) {
      prepareLink(socket.descriptor());
      PeerLink link(std::move(socket));
      if (introduce(link, peer, peerRank, ownRank, ranks, deadline, problem))
        return link.release();
    }
    problems.push_back(absl::StrCat(printed(address), ": ", problem));
  }
  return absl::UnavailableError(absl::StrCat("rank ", ownRank, " cannot reach rank ", peerRank,
                                             " on TCP port ", peer.port, " (", absl::StrJoin(problems, "; "),
                                             "). Ranks must be able to connect to each other"));
}

void PeerLink::send(const PeerMessage &message) {
  append(out, message);
  flush();
}

void PeerLink::flush() {
  while (!out.empty() && isOpen()) {
    const ssize_t sent = ::send(descriptor(), out.data(), out.size(), MSG_NOSIGNAL);
    if (sent > 0)
      out.erase(0, static_cast<size_t>(sent));
    else if (sent < 0 && errno == EINTR)
      continue;
    else
      return noteError(sent < 0 ? errno : 0);
  }
}

/// A failure shows once, when sending or when reading.
void PeerLink::noteError(int error) {
  constexpr std::array<int, 5> none = {0, EAGAIN, EWOULDBLOCK, EPIPE, ECONNRESET};
  if (problem.empty() && std::find(none.begin(), none.end(), error) == none.end())
    problem = std::strerror(error);
}

bool PeerLink::receive() {
  std::array<char, 16384> buffer;
  while (true) {
    const ssize_t count = ::recv(descriptor(), buffer.data(), buffer.size(), 0);
    if (count > 0) {
      in.append(buffer.data(), static_cast<size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return true;
    noteError(count < 0 ? errno : 0);
    return false;
  }
}

void PeerLink::finishSending() {
  flush();
  if (isOpen())
    ::shutdown(descriptor(), SHUT_WR);
}

} // namespace weft
