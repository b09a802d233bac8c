//===- RankContext.h - What a kernel may know of its rank -----------------===//
//
// One executable serves all ranks: what differs between them, a rank kernel asks here when it is created. The
// axes are those of the executable's mesh, by index; a list of axes is major to minor, and the ranks along it
// are a group. Kernels know no mesh: runtime/comm implements this over one.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_RANKCONTEXT_H
#define WEFT_KERNELS_COLLECTIVE_RANKCONTEXT_H

#include "kernels/collective/Line.h"

#include "absl/status/statusor.h"

#include <memory>
#include <span>

namespace weft {

class RankContext {
public:
  virtual ~RankContext() = default;
  virtual int64_t rank() const = 0;
  /// The number of axes of the mesh, and the ranks along one of them.
  virtual uint32_t axisCount() const = 0;
  virtual int64_t axisSize(uint32_t axis) const = 0;
  /// The ranks along several axes together, and this rank's place among them.
  virtual int64_t size(std::span<const uint32_t> axes) const = 0;
  virtual int64_t index(std::span<const uint32_t> axes) const = 0;
  /// This rank's end of its group along `axes`, whose members are in the order of index().
  virtual absl::StatusOr<std::shared_ptr<Exchange>> exchange(std::span<const uint32_t> axes) const = 0;
  /// This rank's line to the member `index` of that group, which is another rank.
  virtual absl::StatusOr<std::shared_ptr<Line>> line(std::span<const uint32_t> axes, int64_t index) const = 0;

  /// Kernel::run() has no status: here is the first failure of an exchange or line of this rank, OK while
  /// there is none. After a failure every further call of them fails at once, so a program runs to its end
  /// quickly, on values without a meaning; whoever runs it (the executor) asks here and passes the failure
  /// on.
  virtual absl::Status status() const = 0;
};

} // namespace weft

#endif // WEFT_KERNELS_COLLECTIVE_RANKCONTEXT_H
