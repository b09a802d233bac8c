//===- MemoryLimits.h - Whether a job's ranks fit into the memory there is --===//
//
// Ranks that share a machine share its memory, and those of a pipeline do not all need the same: what counts
// is what they need together. Which ranks will share a machine is not known where a plan is made, unless all
// of them do; so the ones that need most must fit.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_MEMORYLIMITS_H
#define WEFT_RUNTIME_EXECUTABLE_MEMORYLIMITS_H

#include "runtime/executable/Parts.h"

#include <optional>
#include <string>

namespace weft {

/// Bytes; what is absent is not limited.
struct MemoryLimits {
  std::optional<int64_t> perRank; ///< launch.memory_per_rank
  std::optional<int64_t> shared;  ///< of `ranks` ranks together: launch.memory_limit, or the machine's
  int64_t ranks = 1;

  int64_t share() const { return *shared / ranks; }
};

/// A limit that a job exceeds.
struct MemoryOverrun {
  bool isShared = false;
  int64_t needed = 0, limit = 0; ///< of one rank, or of all that share
  size_t part = 0;               ///< the part whose ranks need most
};

/// The limit that is exceeded; of two the lower, for a rank.
std::optional<MemoryOverrun> overrunOf(const std::vector<Executable> &parts, const MemoryLimits &limits);

/// `memory: this plan needs 1.7 MiB per rank (1778752 bytes), the limit is 1.0 MiB (launch.memory_limit over
/// 4 ranks).` Of several parts it names the one whose ranks need most, and its stages.
std::string describeOverrun(const std::vector<Executable> &parts, const MemoryOverrun &overrun,
                            const MemoryLimits &limits);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_MEMORYLIMITS_H
