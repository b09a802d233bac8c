//===- LocalLine.cpp - From one thread of a local group to another --------===//
//
// What a local group does on its lines.
//
//===----------------------------------------------------------------------===//
#include "runtime/comm/LocalLine.h"

#include "runtime/comm/CallText.h"
#include "runtime/comm/LocalGroup.h"

#include <algorithm>
#include <cstring>

namespace weft {

LocalLine::LocalLine(int from, int to) : members{from, to} {
  // More are seldom under way, so that how far one rank is ahead of the other decides no allocation.
  constexpr size_t usual = 8;
  transfers.reserve(usual);
  while (spare.size() < usual)
    addSpare();
}

void LocalLine::addSpare() {
  spare.push_back(std::make_unique<Transfer>());
  spare.back()->detail.reserve(320);
}

bool LocalLine::isCopying() const {
  return std::any_of(transfers.begin(), transfers.end(), [](const auto &transfer) {
    return transfer->hasBegun[0] && transfer->hasBegun[1] && !transfer->isCopied;
  });
}

LocalLine::Transfer &LocalLine::add(const CollectiveCall &call) {
  if (spare.empty())
    addSpare();
  transfers.push_back(std::move(spare.back()));
  spare.pop_back();
  Transfer &transfer = *transfers.back();
  transfer.hasBegun[0] = transfer.hasBegun[1] = transfer.isCopied = false;
  transfer.detail.assign(call.detail);
  transfer.call = call;
  transfer.call.detail = transfer.detail;
  return transfer;
}

void LocalLine::takeFirst() {
  spare.push_back(std::move(transfers.front()));
  transfers.erase(transfers.begin());
  ++firstKept;
}

LocalLineEnds::LocalLineEnds(std::shared_ptr<LocalGroup> ofRank, int rank, int peer)
    : group(std::move(ofRank)), out(group->line(rank, peer)), in(group->line(peer, rank)) {}

absl::Status LocalLineEnds::send(const CollectiveCall &call, const void *from) {
  return group->begin(out, LineEnd::Send, call, from, nullptr);
}

absl::Status LocalLineEnds::receive(const CollectiveCall &call, void *to) {
  return group->begin(in, LineEnd::Receive, call, nullptr, to);
}

absl::Status LocalLineEnds::finishSend() { return group->finish(out, LineEnd::Send); }

absl::Status LocalLineEnds::finishReceive() { return group->finish(in, LineEnd::Receive); }

LocalLine &LocalGroup::line(int from, int to) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<LocalLine> &line = lines[{from, to}];
  if (!line)
    line = std::make_unique<LocalLine>(from, to);
  return *line;
}

absl::Status LocalGroup::begin(LocalLine &line, LineEnd end, const CollectiveCall &call, const void *from,
                               void *to) {
  const PlaceAfterWaiting place;
  std::unique_lock<std::mutex> lock(mutex);
  const int rank = line.rankAt(end);
  RankState &state = states[static_cast<size_t>(rank)];
  if (!state.kept.ok())
    return state.kept;
  if (absl::Status status = admission(rank, call.operation); !status.ok())
    return status;
  const uint64_t number = line.begun[static_cast<size_t>(end)];
  state.activity.begin(call, number + 1, line.members, states.size());
  absl::Status status = refusal(rank, lostEnd(line)); // what a rank that has left began is not there any more
  if (status.ok())
    status = join(lock, line, end, call, from, to);
  if (status.ok() && end == LineEnd::Send) {
    Traffic::Count &count = state.traffic[call.operation];
    ++count.calls;
    count.bytes += call.sent;
  }
  return status.ok() ? over(rank) : failed(lock, rank, status, true);
}

/// This end of the line's next transfer begins. The end that comes second copies.
absl::Status LocalGroup::join(std::unique_lock<std::mutex> &lock, LocalLine &line, LineEnd end,
                              const CollectiveCall &call, const void *from, void *to) {
  const uint64_t number = line.begun[static_cast<size_t>(end)];
  const bool isFirst = number == line.firstKept + line.transfers.size();
  LocalLine::Transfer &transfer = isFirst ? line.add(call) : line.at(number);
  if (!isFirst && transfer.call != call) {
    fail(end == LineEnd::Send ? differentEnds(call, transfer.call, number + 1, line.members)
                              : differentEnds(transfer.call, call, number + 1, line.members));
    return failure;
  }
  ++line.begun[static_cast<size_t>(end)];
  transfer.hasBegun[static_cast<size_t>(end)] = true;
  if (end == LineEnd::Send)
    transfer.from = from;
  else
    transfer.to = to;
  if (isFirst)
    return absl::OkStatus();
  RankState &peer = states[static_cast<size_t>(line.peerAt(end))];
  if (peer.waitsOn == &line && line.finished[1 - static_cast<size_t>(end)] == number)
    peer.waitsOn = nullptr;
  const void *source = transfer.from;
  void *target = transfer.to;
  lock.unlock();
  std::memcpy(target, source, static_cast<size_t>(call.bytes));
  lock.lock();
  line.at(number).isCopied = true;
  line.changed.notify_all();
  return absl::OkStatus();
}

absl::Status LocalGroup::finish(LocalLine &line, LineEnd end) {
  const PlaceAfterWaiting place;
  std::unique_lock<std::mutex> lock(mutex);
  const size_t side = static_cast<size_t>(end);
  const int rank = line.rankAt(end);
  RankState &state = states[static_cast<size_t>(rank)];
  if (!state.kept.ok())
    return state.kept;
  if (absl::Status status = admission(rank, CollectiveOp::Send); !status.ok())
    return status;
  const uint64_t number = line.finished[side];
  if (number == line.begun[side]) {
    fail(notBegun(rank, number + 1, line.members));
    return failed(lock, rank, failure, true);
  }
  state.activity.begin(line.at(number).call, number + 1, line.members, states.size());
  if (absl::Status status = awaitPeer(lock, line, end); !status.ok())
    return failed(lock, rank, status, true);
  awaitCopy(lock, line, [&] { return line.at(number).isCopied; });
  ++line.finished[side];
  if (line.firstKept < std::min(line.finished[0], line.finished[1]))
    line.takeFirst();
  return over(rank);
}

/// Returns OK once the other end of the transfer at hand has begun too.
absl::Status LocalGroup::awaitPeer(std::unique_lock<std::mutex> &lock, LocalLine &line, LineEnd end) {
  const int rank = line.rankAt(end);
  const LineEnd other = end == LineEnd::Send ? LineEnd::Receive : LineEnd::Send;
  const uint64_t number = line.finished[static_cast<size_t>(end)];
  RankState &state = states[static_cast<size_t>(rank)];
  auto lost = [&] { return line.hasBegun(number, other) ? -1 : lostEnd(line); };
  if (absl::Status status = refusal(rank, lost()); !status.ok() || line.hasBegun(number, other))
    return status;
  state.waitsOn = &line;
  failCycle(rank);
  if (!waitInTime(lock, line.changed, rank,
                  [&] { return line.hasBegun(number, other) || !failure.ok() || lost() >= 0; }))
    loseLate(rank);
  state.waitsOn = nullptr;
  return line.hasBegun(number, other) ? absl::OkStatus() : refusal(rank, lost());
}

/// The end of a line that has left; -1 for none.
int LocalGroup::lostEnd(const LocalLine &line) const {
  for (int rank : line.members)
    if (states[static_cast<size_t>(rank)].hasLeft)
      return rank;
  return -1;
}

/// Waits for the copies that are under way to or from the rank's memory. No other begins once the rank has
/// left or the group has failed.
void LocalGroup::settle(std::unique_lock<std::mutex> &lock, int rank) {
  for (const auto &[ends, line] : lines)
    if (ends.first == rank || ends.second == rank)
      awaitCopy(lock, *line, [&line = *line] { return !line.isCopying(); });
}

} // namespace weft
