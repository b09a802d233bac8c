//===- Collective.h - Kernels that know their rank ------------------------===//
//
// The collectives (all_gather, all_reduce, reduce_scatter, all_to_all, shift), the ends of transfers from one
// rank to another (send, send_wait, receive, receive_wait) and the kernels whose results depend on the rank's
// place in the mesh (rank_slice, rank_offset, rank_valid, rank_first, rank_mask). They are ordinary calls of
// an executable, but no device creates them: the executor does, for its rank. docs/kernels.md has their
// signatures; parts of dimensions are those of Parts.h. A rank's bits are the same in every run and, where a
// result is replicated, on every rank: reductions fold in ascending group rank order.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_COLLECTIVE_H
#define WEFT_KERNELS_COLLECTIVE_COLLECTIVE_H

#include "kernels/collective/RankContext.h"
#include "kernels/common/Kernel.h"

#include "absl/status/statusor.h"

#include <memory>
#include <optional>
#include <string_view>

namespace weft {

/// True for the names of these kernels.
bool isRankKernel(std::string_view name);
/// Of those, the collectives and messages: other ranks count on each of them, whether or not its result is
/// used.
bool meetsOtherRanks(std::string_view name);

/// What a kernel does on a line (Line.h): it acts, whether or not anybody uses a result of it.
enum class LineStep : uint8_t { Send, FinishSend, Receive, FinishReceive };
/// The step of send, send_wait, receive and receive_wait; none for any other kernel.
std::optional<LineStep> lineStepOf(std::string_view name);

/// The kernel for a call on the rank of `context`, which must outlive it. Without a context: a kernel that
/// answers workspaceBytes() and mayAlias(), which are the same on every rank, and does nothing when it runs
/// (the compiler plans memory with it). InvalidArgument when types or attributes do not fit the signature or,
/// with a context, the mesh.
absl::StatusOr<std::unique_ptr<Kernel>> createRankKernel(const KernelCall &call, const RankContext *context);

} // namespace weft

#endif // WEFT_KERNELS_COLLECTIVE_COLLECTIVE_H
