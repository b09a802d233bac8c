//===- CommandLists.h - Whether all ranks come to the same calls ----------===//
//
// A rank's command list in its final form: the collectives that it calls in one run of a program, with whom,
// and what all of them must call alike; and the messages that it begins and waits for. The lists of several
// ranks complete together if every collective is met by the same one of each member of its group, when each
// rank makes its calls one after another and waits in each. That is one order per group, and one order for
// all groups that share ranks: what transports need that queue calls per communicator. The k-th message to a
// rank must be the k-th that it receives from there; a wait for it is over when both have begun it, and
// each is waited for. Nothing is run, and no rank needs a thread.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_COMMANDLISTS_H
#define WEFT_RUNTIME_EXECUTABLE_COMMANDLISTS_H

#include "kernels/collective/Collective.h"
#include "runtime/executable/Executable.h"

#include "absl/status/statusor.h"

#include <memory>
#include <optional>
#include <span>

namespace weft {

/// What the members of a group call together. Lists share both parts, of which there are few.
struct GroupCall {
  std::shared_ptr<const std::vector<int64_t>> ranks; ///< of the group, in its order
  std::shared_ptr<const std::string> call; ///< operation, types and attributes: equal on all members
  bool sameGroup(const GroupCall &other) const { return ranks == other.ranks || *ranks == *other.ranks; }
  bool operator==(const GroupCall &other) const {
    return (call == other.call || *call == *other.call) && sameGroup(other);
  }
};

struct CommandList {
  struct Entry {
    GroupCall call;       ///< of a message: the rank that sends it, the one that receives it, and its type
    uint32_t command = 0; ///< of the program in the rank's part
    std::optional<LineStep> step = {}; ///< of a message; else the call is a collective
  };
  int64_t rank = 0;
  std::vector<Entry> entries; ///< in the order of the schedule
};

/// The lists of these ranks, each once and of the mesh, in the program of this index, which every rank has
/// from its part of the job. InvalidArgument, naming rank and command, when a kernel does not fit a rank's
/// place in the mesh. The parts have passed verify().
absl::StatusOr<std::vector<CommandList>> commandListsOf(const std::vector<Executable> &parts, size_t program,
                                                        std::span<const int64_t> ranks);

/// OK if the lists complete together; members of groups that have no list here come to every call in time.
/// Else InvalidArgument with the two commands that disagree.
absl::Status verifyCommandLists(const std::vector<Executable> &parts, size_t program,
                                std::span<const CommandList> lists);

/// Both, for every program of the job. Returns how many calls the lists have in all.
absl::StatusOr<int64_t> verifyCommandLists(const std::vector<Executable> &parts,
                                           std::span<const int64_t> ranks);

/// `count` ranks of the mesh, ascending: all if there are no more, else the first, the last and others drawn
/// at random, the same ones each time. Of a pipeline whole ones are drawn, until there are as many ranks.
std::vector<int64_t> sampleRanks(const Mesh &mesh, int64_t count);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_COMMANDLISTS_H
