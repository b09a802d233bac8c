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

absl::Status LocalGroup::begin(LocalChannel &channel, size_t member, const CollectiveCall &call,
                               const void *operand, void *result, bool isKept) {
  std::unique_lock<std::mutex> lock(mutex);
  RankState &state = states[static_cast<size_t>(channel.members[member])];
  if (isKept && !state.kept.ok())
    return state.kept;
  if (state.inCall || state.waitsIn != nullptr)
    return absl::FailedPreconditionError(absl::StrCat("rank ", channel.members[member], " called ",
                                                      std::string(name(call.operation)),
                                                      " while another call of it was not over"));
  channel.calls[member] = call;
  channel.operands[member] = operand;
  channel.results[member] = result;
  state.activity.begin(call, channel.opened + 1, channel.members, states.size());
  absl::Status status = join(lock, channel, member);
  if (status.ok()) {
    Traffic::Count &count = state.traffic[call.operation];
    ++count.calls;
    count.bytes += call.sent;
    return status;
  }
  state.activity.end();
  if (isKept)
    state.kept = status;
  return status;
}

/// Waits for `isOver`, in the call that the rank is in; false when the limit of its phase came before.
template <typename Condition>
bool LocalGroup::waitInTime(std::unique_lock<std::mutex> &lock, LocalChannel &channel, int rank,
                            const Condition &isOver) {
  const RankState &state = states[static_cast<size_t>(rank)];
  const double left = state.limits.of(state.activity.phase()) - state.activity.seconds();
  constexpr double forever = 1e9; // more than any limit, and a clock can be asked for it
  if (left < forever)
    return channel.changed.wait_for(lock, std::chrono::duration<double>(left), isOver);
  channel.changed.wait(lock, isOver);
  return true;
}

/// Returns OK once all members have joined the call that they published.
absl::Status LocalGroup::join(std::unique_lock<std::mutex> &lock, LocalChannel &channel, size_t member) {
  int rank = channel.members[member];
  RankState &state = states[static_cast<size_t>(rank)];
  if (absl::Status status = refusal(channel, member); !status.ok())
    return status;
  channel.joined[member] = true;
  ++channel.arrived;
  state.waitsIn = &channel;
  state.member = member;
  if (channel.arrived == channel.members.size()) {
    absl::Status different = difference(channel);
    if (different.ok()) {
      open(channel);
      return different;
    }
    fail(different);
  } else {
    std::fill(visited.begin(), visited.end(), false);
    path.clear();
    if (findCycle(rank, rank))
      fail(absl::InvalidArgumentError(describeCycle()));
  }
  uint64_t meeting = channel.meetings;
  if (!waitInTime(lock, channel, rank,
                  [&] { return channel.meetings != meeting || !failure.ok() || lostMember(channel) >= 0; }))
    loseLate(channel, rank);
  if (channel.meetings != meeting)
    return absl::OkStatus();
  channel.joined[member] = false;
  --channel.arrived;
  state.waitsIn = nullptr;
  return refusal(channel, member);
}

/// All members have joined: from here to end() they are in the call.
void LocalGroup::open(LocalChannel &channel) {
  ++channel.opened;
  for (int rank : channel.members) {
    states[static_cast<size_t>(rank)].waitsIn = nullptr;
    states[static_cast<size_t>(rank)].inCall = true;
  }
  pass(channel);
}

/// All members have come to a meeting point.
void LocalGroup::pass(LocalChannel &channel) {
  channel.arrived = 0;
  std::fill(channel.joined.begin(), channel.joined.end(), false);
  ++channel.meetings;
  channel.changed.notify_all();
}

void LocalGroup::meet(LocalChannel &channel, size_t member) {
  std::unique_lock<std::mutex> lock(mutex);
  channel.joined[member] = true;
  if (++channel.arrived == channel.members.size())
    return pass(channel);
  const int rank = channel.members[member];
  uint64_t meeting = channel.meetings;
  if (waitInTime(lock, channel, rank, [&] { return channel.meetings != meeting || channel.isBroken; }) &&
      !channel.isBroken)
    return;
  loseLate(channel, rank);
  channel.isBroken = true;
  channel.changed.notify_all();
  states[static_cast<size_t>(rank)].kept.Update(refusal(channel, member));
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
  std::lock_guard<std::mutex> lock(mutex);
  states[static_cast<size_t>(rank)].hasLeft = true;
  for (const auto &[ranks, channel] : channels)
    channel->changed.notify_all();
}

void LocalGroup::abort(int rank, const absl::Status &cause) {
  std::lock_guard<std::mutex> lock(mutex);
  fail(gaveUp(rank, cause));
}

void LocalGroup::fail(absl::Status status) {
  if (!failure.ok())
    return;
  failure = std::move(status);
  for (const auto &[ranks, channel] : channels)
    channel->changed.notify_all();
}

void LocalGroup::lose(std::vector<LostRank> ranks) {
  if (!failure.ok())
    return;
  lost = std::move(ranks);
  fail(absl::UnavailableError("a rank is lost")); // refusal() says which
}

/// `rank` has waited too long in a call on `channel`: whoever is in no wait itself holds it up, best one of
/// those that it waits for.
void LocalGroup::loseLate(const LocalChannel &channel, int rank) {
  const RankState &waiting = states[static_cast<size_t>(rank)];
  std::vector<int> missing, others;
  for (size_t i = 0; i < channel.members.size(); ++i)
    if (!channel.joined[i] && states[static_cast<size_t>(channel.members[i])].waitsIn == nullptr)
      missing.push_back(channel.members[i]);
  for (size_t other = 0; other < states.size(); ++other)
    if (static_cast<int>(other) != rank && states[other].waitsIn == nullptr && !states[other].hasLeft)
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

/// Why this member's call cannot go on; OK when it can.
absl::Status LocalGroup::refusal(const LocalChannel &channel, size_t member) {
  const RankState &state = states[static_cast<size_t>(channel.members[member])];
  if (int left = lostMember(channel); left >= 0)
    lose({{left, absl::StrCat("has left the job before ", state.activity.describeCall())}});
  return lost.empty() ? failure : lossReport(lost, channel.members[member], state.activity);
}

/// InvalidArgument with the first member and the first that differs from it.
absl::Status LocalGroup::difference(const LocalChannel &channel) const {
  for (size_t i = 1; i < channel.calls.size(); ++i)
    if (channel.calls[i] != channel.calls[0])
      return absl::InvalidArgumentError(absl::StrCat("rank ", channel.members[0], " called ",
                                                     describe(channel, 0), ", rank ", channel.members[i],
                                                     " called ", describe(channel, i)));
  return absl::OkStatus();
}

/// Whether `rank`, which waits, waits for `target`: for it or for ranks that do. `path` is then the chain.
bool LocalGroup::findCycle(int rank, int target) {
  const RankState &state = states[static_cast<size_t>(rank)];
  if (state.waitsIn == nullptr || visited[static_cast<size_t>(rank)])
    return false;
  visited[static_cast<size_t>(rank)] = true;
  path.push_back(rank);
  const LocalChannel &channel = *state.waitsIn;
  for (size_t i = 0; i < channel.members.size(); ++i) {
    if (channel.joined[i])
      continue;
    if (channel.members[i] == target || findCycle(channel.members[i], target))
      return true;
  }
  path.pop_back();
  return false;
}

std::string LocalGroup::describeCycle() const {
  std::string text;
  for (size_t i = 0; i < path.size(); ++i) {
    const RankState &state = states[static_cast<size_t>(path[i])];
    absl::StrAppend(&text, i == 0 ? "" : ", ", "rank ", path[i], " waits for rank ",
                    path[(i + 1) % path.size()], " in ", describe(*state.waitsIn, state.member));
  }
  return absl::StrCat(text, ": none can go on");
}

std::string LocalGroup::describe(const LocalChannel &channel, size_t member) const {
  return describeCall(channel.calls[member], channel.opened + 1, channel.members, states.size());
}

} // namespace weft
