#include "runtime/comm/LocalGroup.h"

#include "runtime/comm/CallText.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace weft {

LocalChannel::LocalChannel(std::vector<int> ranks)
    : members(std::move(ranks)), calls(members.size()), operands(members.size()), results(members.size()),
      joined(members.size()) {}

LocalGroup::LocalGroup(int ranks) : states(static_cast<size_t>(ranks)), visited(states.size()) {
  path.reserve(states.size());
}

LocalChannel &LocalGroup::channel(const std::vector<int> &ranks) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<LocalChannel> &channel = channels[ranks];
  if (!channel)
    channel = std::make_unique<LocalChannel>(ranks);
  return *channel;
}

/// Whether the rank may begin anything.
absl::Status LocalGroup::admission(int rank, CollectiveOp operation) const {
  const RankState &state = states[static_cast<size_t>(rank)];
  if (!state.inCall && !state.waits())
    return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("rank ", rank, " called ", std::string(name(operation)),
                                                    " while another call of it was not over"));
}

absl::Status LocalGroup::over(int rank) {
  states[static_cast<size_t>(rank)].activity.end();
  return absl::OkStatus();
}

/// What the rank was in has failed; when this returns, its memory is its own.
absl::Status LocalGroup::failed(std::unique_lock<std::mutex> &lock, int rank, const absl::Status &status,
                                bool isKept) {
  RankState &state = states[static_cast<size_t>(rank)];
  state.activity.end();
  if (isKept)
    state.kept.Update(status);
  settle(lock, rank);
  return status;
}

absl::Status LocalGroup::begin(LocalChannel &channel, size_t member, const CollectiveCall &call,
                               const void *operand, void *result, bool isKept) {
  const PlaceAfterWaiting place;
  std::unique_lock<std::mutex> lock(mutex);
  const int rank = channel.members[member];
  RankState &state = states[static_cast<size_t>(rank)];
  if (isKept && !state.kept.ok())
    return state.kept;
  if (absl::Status status = admission(rank, call.operation); !status.ok())
    return status;
  channel.calls[member] = call;
  channel.operands[member] = operand;
  channel.results[member] = result;
  state.activity.begin(call, channel.opened + 1, channel.members, states.size());
  absl::Status status = join(lock, channel, member);
  if (!status.ok())
    return failed(lock, rank, status, isKept);
  Traffic::Count &count = state.traffic[call.operation];
  ++count.calls;
  count.bytes += call.sent;
  return status;
}

/// Returns OK once all members have joined the call that they published.
absl::Status LocalGroup::join(std::unique_lock<std::mutex> &lock, LocalChannel &channel, size_t member) {
  int rank = channel.members[member];
  RankState &state = states[static_cast<size_t>(rank)];
  if (absl::Status status = refusal(rank, lostMember(channel)); !status.ok())
    return status;
  channel.joined[member] = true;
  ++channel.arrived;
  state.waitsIn = &channel;
  if (channel.arrived == channel.members.size()) {
    absl::Status different = difference(channel);
    if (different.ok()) {
      open(channel);
      return different;
    }
    fail(different);
  } else {
    failCycle(rank);
  }
  uint64_t meeting = channel.meetings;
  if (!waitInTime(lock, channel.changed, rank,
                  [&] { return channel.meetings != meeting || !failure.ok() || lostMember(channel) >= 0; }))
    loseLate(rank);
  if (channel.meetings != meeting)
    return absl::OkStatus();
  channel.joined[member] = false;
  --channel.arrived;
  state.waitsIn = nullptr;
  return refusal(rank, lostMember(channel));
}

/// All members have joined: from here to end() they are in the call.
void LocalGroup::open(LocalChannel &channel) {
  ++channel.opened;
  for (int rank : channel.members)
    states[static_cast<size_t>(rank)].inCall = true;
  pass(channel);
}

/// All members have come to a meeting point.
void LocalGroup::pass(LocalChannel &channel) {
  for (int rank : channel.members)
    states[static_cast<size_t>(rank)].waitsIn = nullptr;
  channel.arrived = 0;
  std::fill(channel.joined.begin(), channel.joined.end(), false);
  ++channel.meetings;
  channel.changed.notify_all();
}

void LocalGroup::meet(LocalChannel &channel, size_t member) {
  const PlaceAfterWaiting place;
  std::unique_lock<std::mutex> lock(mutex);
  channel.joined[member] = true;
  if (++channel.arrived == channel.members.size())
    return pass(channel);
  const int rank = channel.members[member];
  RankState &state = states[static_cast<size_t>(rank)];
  uint64_t meeting = channel.meetings;
  state.waitsIn = &channel;
  if (waitInTime(lock, channel.changed, rank,
                 [&] { return channel.meetings != meeting || channel.isBroken; }) &&
      !channel.isBroken)
    return;
  loseLate(rank);
  state.waitsIn = nullptr;
  channel.isBroken = true;
  channel.changed.notify_all();
  state.kept.Update(refusal(rank, lostMember(channel)));
}

void LocalGroup::end(LocalChannel &channel, size_t member) {
  meet(channel, member);
  std::lock_guard<std::mutex> lock(mutex);
  RankState &state = states[static_cast<size_t>(channel.members[member])];
  state.inCall = false;
  state.activity.end();
}

void LocalGroup::setLimits(int rank, const WaitLimits &limits) {
  std::lock_guard<std::mutex> lock(mutex);
  states[static_cast<size_t>(rank)].limits = limits;
}

void LocalGroup::enter(int rank, Phase phase, int64_t step) {
  std::lock_guard<std::mutex> lock(mutex);
  states[static_cast<size_t>(rank)].activity.enter(phase, step);
}

void LocalGroup::leave(int rank) {
  const PlaceAfterWaiting place;
  std::unique_lock<std::mutex> lock(mutex);
  states[static_cast<size_t>(rank)].hasLeft = true;
  wakeAll();
  settle(lock, rank);
}

void LocalGroup::abort(int rank, const absl::Status &cause) {
  const PlaceAfterWaiting place;
  std::unique_lock<std::mutex> lock(mutex);
  fail(gaveUp(rank, cause));
  settle(lock, rank);
}

void LocalGroup::wakeAll() {
  for (const auto &[ranks, channel] : channels)
    channel->changed.notify_all();
  for (const auto &[ends, line] : lines)
    line->changed.notify_all();
}

void LocalGroup::fail(absl::Status status) {
  if (!failure.ok())
    return;
  failure = std::move(status);
  wakeAll();
}

void LocalGroup::lose(std::vector<LostRank> ranks) {
  if (!failure.ok())
    return;
  lost = std::move(ranks);
  fail(absl::UnavailableError("a rank is lost")); // refusal() says which
}

/// Whether see(other) is true for a rank that this one waits for.
template <typename See> bool LocalGroup::anyAwaited(int rank, const See &see) const {
  const RankState &state = states[static_cast<size_t>(rank)];
  if (state.waitsOn != nullptr)
    return see(state.waitsOn->members[state.waitsOn->members[0] == rank ? 1 : 0]);
  if (state.waitsIn == nullptr)
    return false;
  for (size_t i = 0; i < state.waitsIn->members.size(); ++i)
    if (!state.waitsIn->joined[i] && see(state.waitsIn->members[i]))
      return true;
  return false;
}

/// `rank` has waited too long: whoever is in no wait itself holds it up, best one of those that it waits for.
void LocalGroup::loseLate(int rank) {
  const RankState &waiting = states[static_cast<size_t>(rank)];
  std::vector<int> missing, others;
  anyAwaited(rank, [&](int awaited) {
    if (!states[static_cast<size_t>(awaited)].waits())
      missing.push_back(awaited);
    return false;
  });
  for (size_t other = 0; other < states.size(); ++other)
    if (static_cast<int>(other) != rank && !states[other].waits() && !states[other].hasLeft)
      others.push_back(static_cast<int>(other));
  std::vector<LostRank> late;
  for (int of : missing.empty() ? others : missing)
    late.push_back({of, describeAbsence(
                            waiting.activity, waiting.activity.seconds(), !missing.empty(),
                            absl::StrCat("it is in ", states[static_cast<size_t>(of)].activity.describe()))});
  lose(std::move(late));
}

absl::Status LocalGroup::keptFailure(int rank) const {
  std::lock_guard<std::mutex> lock(mutex);
  return states[static_cast<size_t>(rank)].kept;
}

Traffic LocalGroup::traffic(int rank) const {
  std::lock_guard<std::mutex> lock(mutex);
  return states[static_cast<size_t>(rank)].traffic;
}

int LocalGroup::lostMember(const LocalChannel &channel) const {
  for (size_t i = 0; i < channel.members.size(); ++i)
    if (!channel.joined[i] && states[static_cast<size_t>(channel.members[i])].hasLeft)
      return channel.members[i];
  return -1;
}

/// Why the rank cannot go on, where `left` (none if negative) has left what it is in; OK when it can.
absl::Status LocalGroup::refusal(int rank, int left) {
  const RankState &state = states[static_cast<size_t>(rank)];
  if (left >= 0)
    lose({{left, absl::StrCat("has left the job before ", state.activity.describeCall())}});
  return lost.empty() ? failure : lossReport(lost, rank, state.activity);
}

/// InvalidArgument with the first member and the first that differs from it.
absl::Status LocalGroup::difference(const LocalChannel &channel) const {
  auto describe = [&](size_t member) {
    return describeCall(channel.calls[member], channel.opened + 1, channel.members, states.size());
  };
  for (size_t i = 1; i < channel.calls.size(); ++i)
    if (channel.calls[i] != channel.calls[0])
      return absl::InvalidArgumentError(absl::StrCat("rank ", channel.members[0], " called ", describe(0),
                                                     ", rank ", channel.members[i], " called ", describe(i)));
  return absl::OkStatus();
}

/// Fails the group when `rank`, which begins to wait, waits for itself: for ranks that wait for it.
void LocalGroup::failCycle(int rank) {
  std::fill(visited.begin(), visited.end(), false);
  path.clear();
  if (findCycle(rank, rank))
    fail(absl::InvalidArgumentError(describeCycle()));
}

/// Whether `rank` waits for `target`: for it or for ranks that do. `path` is then the chain.
bool LocalGroup::findCycle(int rank, int target) {
  if (visited[static_cast<size_t>(rank)])
    return false;
  visited[static_cast<size_t>(rank)] = true;
  path.push_back(rank);
  if (anyAwaited(rank, [&](int awaited) { return awaited == target || findCycle(awaited, target); }))
    return true;
  path.pop_back();
  return false;
}

std::string LocalGroup::describeCycle() const {
  std::string text;
  for (size_t i = 0; i < path.size(); ++i)
    absl::StrAppend(&text, i == 0 ? "" : ", ", "rank ", path[i], " waits for rank ",
                    path[(i + 1) % path.size()], " in ",
                    states[static_cast<size_t>(path[i])].activity.describeCall());
  return absl::StrCat(text, ": none can go on");
}

} // namespace weft
