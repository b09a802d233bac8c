#include "runtime/executable/Meetings.h"

#include "runtime/executable/Parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <numeric>

namespace weft {

/// Ranks, or commands, that a message names.
static constexpr size_t kShown = 8;

std::string commandText(const Executable &executable, const Program &program,
                        const CommandList::Entry &entry) {
  const std::string &location = executable.locations[program.commands[entry.command].location];
  return absl::StrCat("command ", entry.command, " of ", program.name,
                      entry.microbatch == kNone ? "" : absl::StrCat(", microbatch ", entry.microbatch),
                      location.empty() ? "" : absl::StrCat(", at ", location));
}

/// Which end of its line a rank is: 0 sends.
static size_t endOf(LineStep step) { return step == LineStep::Send || step == LineStep::FinishSend ? 0 : 1; }

static absl::Status disagree(const std::string &first, const std::string &second, const std::string &end) {
  return absl::InvalidArgumentError(absl::StrCat("command lists disagree: ", first, ", while ", second, end));
}

Meetings::Meetings(const std::vector<Executable> &parts, size_t program, std::span<const CommandList> lists)
    : parts(parts), program(program), lists(lists), next(lists.size()), hasArrived(lists.size()) {
  for (size_t list = 0; list < lists.size(); ++list)
    listOf[lists[list].rank] = list;
}

absl::Status Meetings::run() {
  awake.resize(lists.size());
  std::iota(awake.rbegin(), awake.rend(), size_t{0});
  while (!awake.empty()) {
    const size_t list = awake.back();
    awake.pop_back();
    while (!isOver(list)) {
      absl::StatusOr<bool> passed = pass(list);
      if (!passed.ok())
        return passed.status();
      if (!*passed)
        break;
    }
  }
  for (size_t list = 0; list < lists.size(); ++list)
    if (!isOver(list))
      return disagreement();
  return unfinished();
}

Meetings::Group &Meetings::groupOf(const Entry &entry) {
  Group *&group = known[entry.call.ranks.get()];
  if (group == nullptr) {
    auto [found, isNew] = groups.try_emplace(*entry.call.ranks);
    group = &found->second;
    if (isNew)
      for (int64_t rank : *entry.call.ranks)
        if (std::optional<size_t> list = listOfRank(rank))
          group->members.push_back(*list);
  }
  return *group;
}

std::pair<Meetings::Line &, size_t> Meetings::lineOf(size_t list, const Entry &entry) {
  const size_t end = endOf(*entry.step);
  const int64_t rank = lists[list].rank;
  return {lines[end == 0 ? std::pair(rank, entry.peer) : std::pair(entry.peer, rank)], end};
}

std::optional<size_t> Meetings::listOfRank(int64_t rank) const {
  auto found = listOf.find(rank);
  return found == listOf.end() ? std::nullopt : std::optional(found->second);
}

/// Whether the list goes on behind the entry that it stands before.
absl::StatusOr<bool> Meetings::pass(size_t list) {
  const Entry &entry = entryOf(list);
  if (!entry.step)
    return meet(list);
  if (*entry.step == LineStep::FinishSend || *entry.step == LineStep::FinishReceive)
    return finish(list);
  if (absl::Status status = begin(list); !status.ok())
    return status;
  return true;
}

absl::StatusOr<bool> Meetings::meet(size_t list) {
  Group &group = groupOf(entryOf(list));
  if (!hasArrived[list]) {
    hasArrived[list] = true;
    ++group.arrived;
  }
  if (group.arrived < group.members.size())
    return false;
  for (size_t member : group.members)
    if (!entryOf(member).agreesWith(entryOf(group.members.front())))
      return disagree(describe(group.members.front()), describe(member), ". They would wait for ever");
  group.arrived = 0;
  for (size_t member : group.members) {
    hasArrived[member] = false;
    ++next[member];
    if (member != list)
      awake.push_back(member);
  }
  return true;
}

absl::Status Meetings::begin(size_t list) {
  const Entry &entry = entryOf(list);
  auto [line, end] = lineOf(list, entry);
  const size_t number = line.begun[end].size();
  line.begun[end].push_back(next[list]++);
  const std::optional<size_t> peer = listOfRank(entry.peer);
  if (!peer || line.begun[1 - end].size() <= number)
    return absl::OkStatus();
  const Entry &other = lists[*peer].entries[line.begun[1 - end][number]];
  if (!entry.agreesWith(other)) {
    const std::string own = describe(list, entry), theirs = describe(*peer, other);
    return disagree(end == 0 ? own : theirs, end == 0 ? theirs : own,
                    absl::StrCat(". Each is #", number + 1, " of its line"));
  }
  if (!isOver(*peer) && entryOf(*peer).step && entryOf(*peer).peer == lists[list].rank)
    awake.push_back(*peer);
  return absl::OkStatus();
}

absl::StatusOr<bool> Meetings::finish(size_t list) {
  const Entry &entry = entryOf(list);
  auto [line, end] = lineOf(list, entry);
  const size_t number = line.finished[end];
  if (line.begun[end].size() <= number)
    return absl::InvalidArgumentError(
        absl::StrCat("command lists: rank ", lists[list].rank, " waits for its ",
                     end == 0 ? "send #" : "receive #", number + 1, end == 0 ? " to rank " : " from rank ",
                     entry.peer, ", which it has not begun (", describeCommand(list, entry), ")"));
  if (listOfRank(entry.peer) && line.begun[1 - end].size() <= number)
    return false;
  ++line.finished[end];
  ++next[list];
  return true;
}

std::string Meetings::describeCommand(size_t list, const Entry &entry) const {
  const Executable &part = partOf(parts, lists[list].rank);
  return commandText(part, part.programs[program], entry);
}

std::string Meetings::describe(size_t list, const Entry &entry) {
  const std::string rank = absl::StrCat("rank ", lists[list].rank),
                    command = absl::StrCat(" (", describeCommand(list, entry), ")");
  if (!entry.step) {
    const std::span<const int64_t> ranks(*entry.call.ranks);
    return absl::StrCat(rank, " calls ", *entry.call.call, " with ranks ",
                        absl::StrJoin(ranks.first(std::min(kShown, ranks.size())), ", "),
                        ranks.size() > kShown ? absl::StrCat(", ... (", ranks.size(), ")") : "", command);
  }
  const std::string peer = absl::StrCat("rank ", entry.peer);
  switch (*entry.step) {
  case LineStep::Send:
    return absl::StrCat(rank, " sends ", *entry.call.call, " to ", peer, command);
  case LineStep::Receive:
    return absl::StrCat(rank, " receives ", *entry.call.call, " from ", peer, command);
  case LineStep::FinishSend:
  case LineStep::FinishReceive:
    break;
  }
  auto [line, end] = lineOf(list, entry);
  const Entry &begun = lists[list].entries[line.begun[end][line.finished[end]]];
  return absl::StrCat(rank, " waits for ", peer, end == 0 ? " to receive " : " to send ", *begun.call.call,
                      " (", describeCommand(list, begun), "; waits at ", describeCommand(list, entry), ")");
}

std::string Meetings::describe(size_t list) {
  return isOver(list) ? absl::StrCat("rank ", lists[list].rank, " has come to the end of its list")
                      : describe(list, entryOf(list));
}

/// A list that this one, which cannot go on, waits for.
size_t Meetings::awaited(size_t list) {
  const Entry &entry = entryOf(list);
  if (entry.step)
    return *listOfRank(entry.peer);
  const std::vector<size_t> &members = groupOf(entry).members;
  return *std::find_if(members.begin(), members.end(), [&](size_t member) {
    return isOver(member) || entryOf(member).step || &groupOf(entryOf(member)) != &groupOf(entry);
  });
}

/// No list can go on. Two that wait in one group with different calls are shown; else whoever waits for a
/// list that is at its end; else the lists that wait for each other in a ring.
absl::Status Meetings::disagreement() {
  std::map<const Group *, size_t> firsts;
  for (size_t list = 0; list < lists.size(); ++list) {
    if (isOver(list) || entryOf(list).step)
      continue;
    const size_t first = firsts.try_emplace(&groupOf(entryOf(list)), list).first->second;
    if (!entryOf(list).agreesWith(entryOf(first)))
      return disagree(describe(first), describe(list), ". They would wait for ever");
  }
  std::vector<size_t> path;
  std::vector<bool> isOnPath(lists.size());
  size_t list = 0;
  while (isOver(list))
    ++list;
  for (; !isOver(list) && !isOnPath[list]; list = awaited(list)) {
    isOnPath[list] = true;
    path.push_back(list);
  }
  if (isOver(list))
    return disagree(describe(path.back()), describe(list), ". They would wait for ever");
  path.erase(path.begin(), std::find(path.begin(), path.end(), list));
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
  std::string ring;
  for (size_t i = 0; i < std::min(kShown, path.size()); ++i)
    absl::StrAppend(&ring, i == 0 ? "" : ", while ", describe(path[i]));
  if (path.size() > kShown)
    absl::StrAppend(&ring, ", and ", path.size() - kShown, " more");
  return absl::InvalidArgumentError(
      absl::StrCat("command lists disagree: ", ring, ": each waits for the next, the last for the first"));
}

/// All lists are at their end: what they have begun must be over.
absl::Status Meetings::unfinished() {
  for (auto &[ranks, line] : lines)
    for (size_t end : {0, 1}) {
      const std::optional<size_t> list = listOfRank(end == 0 ? ranks.first : ranks.second),
                                  peer = listOfRank(end == 0 ? ranks.second : ranks.first);
      if (!list || line.finished[end] == line.begun[end].size())
        continue;
      const size_t number = line.finished[end];
      const std::string begun = describe(*list, lists[*list].entries[line.begun[end][number]]);
      if (peer && line.begun[1 - end].size() <= number)
        return disagree(begun, describe(*peer),
                        end == 0 ? " and does not receive it" : " and does not send it");
      return absl::InvalidArgumentError(
          absl::StrCat("command lists: ", begun, " and comes to the end of its list without waiting for it"));
    }
  return absl::OkStatus();
}

} // namespace weft
