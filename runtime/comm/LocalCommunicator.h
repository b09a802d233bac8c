//===- LocalCommunicator.h - Ranks that are threads of one process --------===//
//
// A group's ranks share an address space, so a collective moves no byte twice: ranks meet, then each reads
// and folds its part straight from its peers' memory. Waiting is on condition variables, never busy: sixteen
// ranks run on two cores. A group of one is what a trainer on one device uses; every operation checks its
// arguments there as it does for many ranks.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_LOCALCOMMUNICATOR_H
#define WEFT_RUNTIME_COMM_LOCALCOMMUNICATOR_H

#include "runtime/comm/Communicator.h"

#include <memory>
#include <vector>

namespace weft {

/// So many threads one process starts at most.
inline constexpr int kMostLocalRanks = 1024;

/// The communicators of the ranks of one group, in rank order, each for a thread of its own. InvalidArgument
/// unless there are 1 to kMostLocalRanks ranks.
absl::StatusOr<std::vector<std::unique_ptr<Communicator>>> createLocalGroup(int ranks);

/// A group of one rank.
std::unique_ptr<Communicator> createLocalCommunicator();

} // namespace weft

#endif // WEFT_RUNTIME_COMM_LOCALCOMMUNICATOR_H
