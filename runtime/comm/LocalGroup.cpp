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
  absl::Status status = join(lock, channel, member);
  if (status.ok()) {
    Traffic::Count &count = state.traffic[call.operation];
    ++count.calls;
    count.bytes += call.sent;
  } else if (isKept) {
    state.kept = status;
  }
  return status;
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
  channel.changed.wait(
      lock, [&] { return channel.meetings != meeting || !failure.ok() || lostMember(channel) >= 0; });
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
  std::fill(channel.joined.begin(), channel.joined.end(), false);
  pass(channel);
}

/// All members have come to a meeting point.
void LocalGroup::pass(LocalChannel &channel) {
  channel.arrived = 0;
  ++channel.meetings;
  channel.changed.notify_all();
}

void LocalGroup::meet(LocalChannel &channel) {
  std::unique_lock<std::mutex> lock(mutex);
  if (++channel.arrived == channel.members.size())
    return pass(channel);
  uint64_t meeting = channel.meetings;
  channel.changed.wait(lock, [&] { return channel.meetings != meeting; });
}

void LocalGroup::end(LocalChannel &channel, size_t member) {
  meet(channel);
  std::lock_guard<std::mutex> lock(mutex);
  states[static_cast<size_t>(channel.members[member])].inCall = false;
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
absl::Status LocalGroup::refusal(const LocalChannel &channel, size_t member) const {
  if (!failure.ok())
    return failure;
  int lost = lostMember(channel);
  return lost < 0 ? absl::OkStatus() : hasLeft(lost, channel.members[member], describe(channel, member));
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
