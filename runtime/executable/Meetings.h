//===- Meetings.h - Whether command lists complete together ---------------===//
//
// Lists meet until all are at their end, or none can go on. A collective is over once all members stand
// before it, a wait for a transfer once both ends have begun. The order in which lists are looked at changes
// nothing: a rank stands before one thing at a time, and what it has begun stays begun. Internal to
// runtime/executable.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_MEETINGS_H
#define WEFT_RUNTIME_EXECUTABLE_MEETINGS_H

#include "runtime/executable/CommandLists.h"

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace weft {

/// command 3 of step, microbatch 1, at layer 2
std::string commandText(const Executable &executable, const Program &program,
                        const CommandList::Entry &entry);

class Meetings {
public:
  Meetings(const std::vector<Executable> &parts, size_t program, std::span<const CommandList> lists);

  absl::Status run();

private:
  using Entry = CommandList::Entry;

  /// A group, by its lists: the members' that are here.
  struct Group {
    std::vector<size_t> members;
    size_t arrived = 0;
  };
  /// From one rank to another.
  struct Line {
    std::array<std::vector<size_t>, 2> begun; ///< entries of the sender's and the receiver's list
    std::array<size_t, 2> finished{};
  };

  bool isOver(size_t list) const { return next[list] == lists[list].entries.size(); }
  const Entry &entryOf(size_t list) const { return lists[list].entries[next[list]]; }
  Group &groupOf(const Entry &entry);
  /// The line of an entry, and the end that its rank is.
  std::pair<Line &, size_t> lineOf(size_t list, const Entry &entry);
  std::optional<size_t> listOfRank(int64_t rank) const;

  absl::StatusOr<bool> pass(size_t list);
  absl::StatusOr<bool> meet(size_t list);
  absl::Status begin(size_t list);
  absl::StatusOr<bool> finish(size_t list);

  absl::Status disagreement();
  size_t awaited(size_t list);
  absl::Status unfinished();
  std::string describeCommand(size_t list, const Entry &entry) const;
  std::string describe(size_t list, const Entry &entry);
  std::string describe(size_t list);

  const std::vector<Executable> &parts;
  size_t program;
  std::span<const CommandList> lists;
  std::vector<size_t> next;     ///< entry of each list
  std::vector<bool> hasArrived; ///< whether a list is counted in the group that it stands before
  std::vector<size_t> awake;
  std::unordered_map<int64_t, size_t> listOf;
  std::unordered_map<const std::vector<int64_t> *, Group *> known;
  std::map<std::vector<int64_t>, Group> groups;
  std::map<std::pair<int64_t, int64_t>, Line> lines; ///< by sender and receiver
};

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_MEETINGS_H
