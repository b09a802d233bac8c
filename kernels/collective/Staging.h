//===- Staging.h - Memory for what peers send -----------------------------===//
//
// Between processes a collective needs memory for what it reads of its peers, and for rows that it packs for
// them. That is the kernel's workspace, a row of the memory plan like any other: the compiler writes into the
// call how many ranks it is staged for (attribute `staged`), and the size follows from the types. A call
// without the attribute has no workspace, and runs between threads only.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_STAGING_H
#define WEFT_KERNELS_COLLECTIVE_STAGING_H

#include "kernels/collective/CallChecks.h"

namespace weft::collective {

/// Of one call: a slot for each peer, and with several rows also one for this member and one for each peer
/// to pack into.
struct Staging {
  int64_t ranks = 1;
  int64_t rows = 1;
  int64_t rowBytes = 0; ///< the longest row that any member reads

  /// The staging of a call for the ranks that it names; of one rank, which is none, if it names none.
  static absl::StatusOr<Staging> of(const KernelCall &call, int64_t rows, int64_t rowBytes);

  int64_t workspaceBytes() const;
  /// Adds landings and packings for these reads and sends, those of member `own`.
  Transfer place(std::vector<Region> reads, std::vector<Region> sends, int64_t own) const;

private:
  int64_t slotBytes() const;
};

/// Refuses a call on an exchange that packs when it is not staged for this many ranks.
absl::Status expectStaging(const KernelCall &call, const Exchange &exchange);

} // namespace weft::collective

#endif // WEFT_KERNELS_COLLECTIVE_STAGING_H
