//===- CommandLists.h - Whether all ranks come to the same calls ----------===//
//
// A rank's command list in its final form: the collectives that it calls in one run of a program, what it
// sends and receives and where it waits for that, with whom, and what all of them must call alike. The lists
// of several ranks complete together if every call is met by the same call of each member of its group, and
// every transfer by its other end, when each rank does one thing after another: it waits in each collective,
// and in each wait for the transfer; to send and to receive only begins. That is one order per group and per
// line, and one order for all groups that share ranks: two ranks that share several leave one before they
// come to the next, both in the same order, which is what transports need that queue calls per communicator.
// Nothing is run, and no rank needs a thread.
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

/// What the members of a group call together, or what both ends of a transfer say. Lists share both parts, of
/// which there are few.
struct GroupCall {
  std::shared_ptr<const std::vector<int64_t>> ranks; ///< of the group, in its order; null on a line
  std::shared_ptr<const std::string> call; ///< operation, types and attributes: equal on all members
  bool operator==(const GroupCall &other) const {
    return (call == other.call || *call == *other.call) &&
           (ranks == other.ranks || (ranks && other.ranks && *ranks == *other.ranks));
  }
};

struct CommandList {
  struct Entry {
    GroupCall call;                              ///< a wait for a transfer has none
    uint32_t command = 0;                        ///< of the program in the rank's part
    std::optional<LineStep> step = std::nullopt; ///< none: a collective
    int64_t peer = -1;                           ///< the rank at the other end of a line
    uint32_t microbatch = kNone;                 ///< of the command; members agree on it too

    bool agreesWith(const Entry &other) const { return call == other.call && microbatch == other.microbatch; }
  };
  int64_t rank = 0;
  std::vector<Entry> entries; ///< in the order of the schedule
};

/// The lists of these ranks, each once and of the mesh, in the program of this index, which every rank has
/// from its part of the job. InvalidArgument, naming rank and command, when a kernel does not fit a rank's
/// place in the mesh. The parts have passed verify().
absl::StatusOr<std::vector<CommandList>> commandListsOf(const std::vector<Executable> &parts, size_t program,
                                                        std::span<const int64_t> ranks);

/// OK if the lists complete together; ranks that have no list here come to every call and transfer in time.
/// Else InvalidArgument with the two commands that disagree, or those of all ranks that wait in a ring.
/// Linear in the length of the lists.
absl::Status verifyCommandLists(const std::vector<Executable> &parts, size_t program,
                                std::span<const CommandList> lists);

/// Both, for every program of the job. Returns how many calls the lists have in all.
absl::StatusOr<int64_t> verifyCommandLists(const std::vector<Executable> &parts,
                                           std::span<const int64_t> ranks);

/// `count` ranks of the mesh, ascending: all if there are no more, else the first, the last and others drawn
/// at random, the same ones each time. With a pipeline they are whole pipelines, so that every transfer has
/// both its ends, until there are as many ranks.
std::vector<int64_t> sampleRanks(const Mesh &mesh, int64_t count);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_COMMANDLISTS_H
