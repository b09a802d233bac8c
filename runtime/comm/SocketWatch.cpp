//===- SocketWatch.cpp - The processes of a job watch each other ----------===//
//
// One thread owns all links. Of two linked ranks the lower one calls; the other's thread answers, so no two
// ranks wait for each other to accept.
//
//===----------------------------------------------------------------------===//
#include "runtime/comm/SocketWatch.h"

#include "runtime/comm/PeerBoard.h"
#include "runtime/comm/PeerTopology.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace weft {
namespace {

using Clock = PeerBoard::Clock;
using Kind = PeerMessage::Kind;

constexpr double kHeartbeat = 1;      ///< seconds from one to the next
constexpr double kLookAgain = 0.1;    ///< while a failure waits for this rank's own thread
constexpr double kFarewell = 1;       ///< for the others to take a goodbye
constexpr double kCallOneAddress = 5; ///< to reach a rank on one of its addresses
constexpr double kUnknownCaller = 10; ///< to say who calls

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

} // namespace

class SocketWatch::Impl {
public:
  Impl(int rank, int ranks, Socket theListener, PeerEndpoint theEndpoint, Socket theWake)
      : own(rank), ranks(ranks), endpoint(theEndpoint), listener(std::move(theListener)),
        wakeEvent(std::move(theWake)), board(rank, ranks, [this] { wake(); }) {}
  ~Impl();

  absl::Status start();
  absl::Status connect(std::span<const PeerEndpoint> endpoints, double seconds);
  void setStandIn(StandIn newStandIn, Patience newPatience);
  void awaitReports();

  const int own, ranks;
  const PeerEndpoint endpoint;

private:
  /// A connection; a link once the caller has chosen it.
  struct Peer {
    PeerLink link;
    int rank = -1; ///< -1: has not said yet
    bool isLink = false;
    Clock::time_point opened = Clock::now();
  };

  void wake();
  void run();
  int sleepMilliseconds() const;
  void takeLinks();
  void accept();
  void read(Peer &peer);
  void meet(Peer &peer, const PeerMessage &message);
  void sendToAll(const PeerMessage &message, const Peer *but = nullptr);
  void sendMessages();
  void beat();
  void attend();
  void sayGoodbye();

  Socket listener, wakeEvent;

public:
  PeerBoard board; ///< after wakeEvent, which it uses

private:
  std::vector<std::unique_ptr<Peer>> peers; ///< of the thread alone
  Clock::time_point lastBeat = Clock::now();
  Clock::time_point polledAt;
  absl::Status reported; ///< by the stand-in
  Clock::time_point reportedAt;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::unique_ptr<Peer>> called; ///< links on their way to the thread
  std::vector<int> linked;                   ///< ranks with a link, now or earlier
  StandIn standIn;
  Patience patience;

  std::atomic<bool> isLeaving{false};
  std::thread thread;
};

//===----------------------------------------------------------------------===//
// The rank's own thread
//===----------------------------------------------------------------------===//

absl::Status SocketWatch::Impl::start() {
  // Signals are for the thread that trains.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  absl::Status status;
  try {
    thread = std::thread([this] { run(); });
  } catch (const std::system_error &error) {
    status = absl::UnavailableError(
        absl::StrCat("watching the other ranks: cannot start a thread: ", error.what()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

SocketWatch::Impl::~Impl() {
  isLeaving = true;
  wake();
  if (thread.joinable())
    thread.join();
}

absl::Status SocketWatch::Impl::connect(std::span<const PeerEndpoint> endpoints, double seconds) {
  const auto begin = Clock::now();
  const std::vector<int> wanted = linkedRanks(own, ranks);
  for (int rank : wanted) {
    if (rank < own)
      continue;
    absl::StatusOr<Socket> socket =
        callPeer(endpoints[static_cast<size_t>(rank)], rank, own, ranks, std::min(seconds, kCallOneAddress));
    if (!socket.ok())
      return socket.status();
    auto peer = std::make_unique<Peer>(Peer{PeerLink(*std::move(socket)), rank, true});
    std::lock_guard lock(mutex);
    called.push_back(std::move(peer));
    linked.push_back(rank);
  }
  wake();
  std::unique_lock lock(mutex);
  const auto missing = [&] {
    return std::find_if(wanted.begin(), wanted.end(), [&](int rank) {
      return std::find(linked.begin(), linked.end(), rank) == linked.end();
    });
  };
  const auto deadline =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  if (changed.wait_until(lock, deadline, [&] { return missing() == wanted.end() || board.hasFailed(); }))
    return missing() == wanted.end() ? absl::OkStatus() : board.failure();
  return absl::UnavailableError(absl::StrCat("rank ", *missing(), " has not connected to rank ", own,
                                             " within ", seconds,
                                             " s. Ranks must be able to connect to each other"));
}

void SocketWatch::Impl::setStandIn(StandIn newStandIn, Patience newPatience) {
  std::lock_guard lock(mutex);
  standIn = std::move(newStandIn);
  patience = newPatience;
}

void SocketWatch::Impl::awaitReports() {
  double seconds;
  {
    std::lock_guard lock(mutex);
    seconds = patience.reports;
  }
  board.awaitReports(seconds);
}

void SocketWatch::Impl::wake() {
  const uint64_t one = 1;
  // A counter that is full wakes, too.
  [[maybe_unused]] const ssize_t written = ::write(wakeEvent.descriptor(), &one, sizeof(one));
}

//===----------------------------------------------------------------------===//
// The watch's thread
//===----------------------------------------------------------------------===//

void SocketWatch::Impl::run() {
  std::vector<pollfd> waiting;
  while (!isLeaving) {
    waiting.assign({{wakeEvent.descriptor(), POLLIN, 0}, {listener.descriptor(), POLLIN, 0}});
    for (const std::unique_ptr<Peer> &peer : peers)
      waiting.push_back(
          {peer->link.descriptor(), static_cast<short>(POLLIN | (peer->link.hasPending() ? POLLOUT : 0)), 0});
    polledAt = Clock::now(); // what comes while it sleeps is read before the next one at the latest
    const int ready = ::poll(waiting.data(), waiting.size(), sleepMilliseconds());
    uint64_t woken;
    if (ready > 0 && waiting[0].revents != 0 && ::read(wakeEvent.descriptor(), &woken, sizeof(woken)) < 0 &&
        errno != EAGAIN)
      break;
    const size_t polled = peers.size();
    for (size_t i = 0; ready > 0 && i < polled; ++i) {
      if (waiting[i + 2].revents & POLLOUT)
        peers[i]->link.flush();
      if (waiting[i + 2].revents & (POLLIN | POLLHUP | POLLERR))
        read(*peers[i]);
    }
    if (ready > 0 && waiting[1].revents != 0)
      accept();
    takeLinks();
    std::erase_if(peers, [](const std::unique_ptr<Peer> &peer) {
      return !peer->link.isOpen() || (!peer->isLink && secondsSince(peer->opened) > kUnknownCaller);
    });
    sendMessages();
    if (secondsSince(lastBeat) >= kHeartbeat)
      beat();
    attend();
  }
  sayGoodbye();
}

int SocketWatch::Impl::sleepMilliseconds() const {
  const double left = std::max(0.0, kHeartbeat - secondsSince(lastBeat));
  return static_cast<int>(1000 * (board.hasFailed() ? std::min(left, kLookAgain) : left)) + 1;
}

void SocketWatch::Impl::takeLinks() {
  std::lock_guard lock(mutex);
  for (std::unique_ptr<Peer> &peer : called)
    peers.push_back(std::move(peer));
  called.clear();
}

void SocketWatch::Impl::accept() {
  while (true) {
    Socket socket = acceptPeer(listener);
    if (!socket.isOpen())
      return;
    peers.push_back(std::make_unique<Peer>(Peer{PeerLink(std::move(socket))}));
  }
}

/// All that has come on a connection, then its end.
void SocketWatch::Impl::read(Peer &peer) {
  const bool goesOn = peer.link.receive();
  while (peer.link.isOpen()) {
    absl::StatusOr<std::optional<PeerMessage>> message = peer.link.next(ranks);
    if (message.ok() && !*message)
      break;
    if (!message.ok()) {
      if (peer.isLink)
        board.lose(peer.rank, absl::StrCat("sent rank ", own, " bytes that are no message"));
      peer.link.close();
      break;
    }
    if (!peer.isLink) {
      meet(peer, **message);
      continue;
    }
    if (board.hear(**message, peer.rank))
      sendToAll(**message, &peer);
    if ((*message)->kind == Kind::Left && static_cast<int>((*message)->rank) == peer.rank)
      peer.link.close();
  }
  if (goesOn || !peer.link.isOpen())
    return;
  if (peer.isLink)
    board.lose(peer.rank, peer.link.reason().empty()
                              ? absl::StrCat("died: its connection to rank ", own, " ended without a goodbye")
                              : absl::StrCat("is cut off: its connection to rank ", own, " ended (",
                                             std::string(peer.link.reason()), "), as when its host is down"));
  peer.link.close();
}

/// The three words of a caller.
void SocketWatch::Impl::meet(Peer &peer, const PeerMessage &message) {
  const int caller = static_cast<int>(message.rank);
  if (message.kind == Kind::Hello && message.values[0] == endpoint.token && peer.rank < 0) {
    peer.rank = caller;
    PeerMessage welcome = message;
    welcome.kind = Kind::Welcome;
    welcome.rank = welcome.teller = static_cast<uint32_t>(own);
    peer.link.send(welcome);
    return;
  }
  if (message.kind != Kind::Chosen || caller != peer.rank) {
    peer.link.close();
    return;
  }
  peer.isLink = true;
  {
    std::lock_guard lock(mutex);
    linked.push_back(peer.rank);
  }
  changed.notify_all();
}

void SocketWatch::Impl::sendToAll(const PeerMessage &message, const Peer *but) {
  for (const std::unique_ptr<Peer> &peer : peers)
    if (peer->isLink && peer->link.isOpen() && peer.get() != but)
      peer->link.send(message);
}

void SocketWatch::Impl::sendMessages() {
  for (const PeerMessage &message : board.takeMessages(polledAt))
    sendToAll(message);
}

/// What a peer has not taken yet tells it enough.
void SocketWatch::Impl::beat() {
  lastBeat = Clock::now();
  const PeerMessage message = board.heartbeat();
  for (const std::unique_ptr<Peer> &peer : peers)
    if (peer->isLink && peer->link.isOpen() && !peer->link.hasPending())
      peer->link.send(message);
}

/// Speaks for this rank's own thread when that does not, and ends the process unless that comes after all.
void SocketWatch::Impl::attend() {
  StandIn now;
  Patience until;
  {
    std::lock_guard lock(mutex);
    now = standIn;
    until = patience;
  }
  if (!now.report)
    return;
  if (reported.ok()) {
    const std::optional<absl::Status> failure = board.unattended(until);
    if (!failure)
      return;
    reported = *failure;
    now.report(reported);
    board.tellReported();
    sendMessages();
    reportedAt = Clock::now();
  }
  if (!board.haveAllReported() && secondsSince(reportedAt) < until.reports)
    return;
  board.leave();
  sendMessages();
  now.end(reported);
}

/// The others take the goodbye and close; what they send meanwhile is read, or the system would drop what
/// they have not read yet.
void SocketWatch::Impl::sayGoodbye() {
  takeLinks();
  board.leave();
  sendMessages();
  for (const std::unique_ptr<Peer> &peer : peers)
    peer->link.finishSending();
  const auto begin = Clock::now();
  std::vector<pollfd> waiting;
  while (secondsSince(begin) < kFarewell) {
    std::erase_if(peers, [](const std::unique_ptr<Peer> &peer) { return !peer->link.isOpen(); });
    if (peers.empty())
      return;
    waiting.clear();
    for (const std::unique_ptr<Peer> &peer : peers)
      waiting.push_back({peer->link.descriptor(), POLLIN, 0});
    if (::poll(waiting.data(), waiting.size(), 1000) <= 0)
      return;
    for (size_t i = 0; i < waiting.size(); ++i)
      if (waiting[i].revents != 0 && !peers[i]->link.receive())
        peers[i]->link.close();
  }
}

//===----------------------------------------------------------------------===//
// SocketWatch
//===----------------------------------------------------------------------===//

SocketWatch::SocketWatch(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
SocketWatch::~SocketWatch() = default;

absl::StatusOr<std::unique_ptr<SocketWatch>> SocketWatch::open(int rank, int ranks) {
  PeerEndpoint endpoint;
  absl::StatusOr<Socket> listener = listenForPeers(endpoint);
  if (!listener.ok())
    return listener.status();
  Socket wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.isOpen())
    return absl::UnavailableError(
        absl::StrCat("watching the other ranks: no event descriptor: ", std::strerror(errno)));
  auto impl = std::make_unique<Impl>(rank, ranks, *std::move(listener), endpoint, std::move(wake));
  if (absl::Status status = impl->start(); !status.ok())
    return status;
  return std::unique_ptr<SocketWatch>(new SocketWatch(std::move(impl)));
}

const PeerEndpoint &SocketWatch::endpoint() const { return impl->endpoint; }

absl::Status SocketWatch::connect(std::span<const PeerEndpoint> endpoints, double seconds) {
  return impl->connect(endpoints, seconds);
}

void SocketWatch::setLimits(const WaitLimits &limits) { impl->board.setLimits(limits); }
void SocketWatch::setStandIn(StandIn standIn, Patience patience) {
  impl->setStandIn(std::move(standIn), patience);
}
void SocketWatch::awaitReports() { impl->awaitReports(); }
void SocketWatch::enter(Phase phase, int64_t step) { impl->board.enter(phase, step); }
void SocketWatch::begin(const CollectiveCall &call, uint64_t number, std::span<const int> members) {
  impl->board.begin(call, number, members);
}
void SocketWatch::end() { impl->board.end(); }
absl::Status SocketWatch::check(const PeerWait &wait) { return impl->board.check(wait); }
void SocketWatch::giveUp(const absl::Status &cause) { impl->board.giveUp(cause); }

} // namespace weft
