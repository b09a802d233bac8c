//===- CallText.h - How messages call a collective ------------------------===//
//
// One wording for all backends, so that a message means the same wherever it comes from. Internal to
// runtime/comm.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_CALLTEXT_H
#define WEFT_RUNTIME_COMM_CALLTEXT_H

#include "kernels/collective/Exchange.h"

#include <span>
#include <string>

namespace weft {

/// Call `number` (from 1) of its group: all_reduce #12 of 4096 bytes f32 (sum, ...) over ranks 0 1. The ranks
/// are named where they are not all of the `ranks` of the job. Of a transfer, whose members are the sender
/// and the receiver: send #12 of 4096 bytes f32 (...) from rank 0 to rank 1.
std::string describeCall(const CollectiveCall &call, uint64_t number, std::span<const int> members,
                         size_t ranks);

/// InvalidArgument with what the two ends of transfer `number` say: send #12 from rank 0 to rank 1: rank 0
/// sends 4096 bytes f32 (...), rank 1 receives ...
absl::Status differentEnds(const CollectiveCall &sent, const CollectiveCall &received, uint64_t number,
                           std::span<const int> members);

/// InvalidArgument: `rank` waits for a transfer, with these members, that it has not begun.
absl::Status notBegun(int rank, uint64_t number, std::span<const int> members);

/// What a rank is told that waits in a call for one that has left.
absl::Status hasLeft(int lost, int waiting, const std::string &call);

/// What the others are told when a rank gives up: "rank R gave up: ...", with the code and the payloads of
/// the cause.
absl::Status gaveUp(int rank, const absl::Status &cause);

} // namespace weft

#endif // WEFT_RUNTIME_COMM_CALLTEXT_H
