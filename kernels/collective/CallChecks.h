//===- CallChecks.h - Checking the calls of rank kernels ------------------===//
//
// What the factories share: messages that name the kernel, the group that a call is over, and what a kernel
// without a rank is. Internal to kernels/collective.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_CALLCHECKS_H
#define WEFT_KERNELS_COLLECTIVE_CALLCHECKS_H

#include "kernels/collective/Parts.h"
#include "kernels/collective/RankContext.h"
#include "kernels/common/Kernel.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace weft::collective {

using KernelOrError = absl::StatusOr<std::unique_ptr<Kernel>>;

template <typename... Parts> absl::Status invalidCall(const KernelCall &call, const Parts &...parts) {
  return absl::InvalidArgumentError(absl::StrCat("kernel ", call.name, ": ", parts...));
}

/// The numbers of operands and results, and shapes that are shapes: sizes from 1, at most 2^48 elements.
absl::Status expectTensors(const KernelCall &call, size_t operands, size_t results);

/// `result` must be `operand` in all but the sizes of these dimensions.
absl::Status expectSameButFor(const KernelCall &call, std::span<const size_t> dimensions);

/// An attribute that names a dimension of operand 0.
absl::StatusOr<size_t> readDimension(const KernelCall &call, const std::string &key);

/// The ranks that a call is over, as its rank sees them.
struct RankGroup {
  std::vector<uint32_t> axes;
  std::vector<int64_t> sizes; ///< of the axes; empty without a rank
  int64_t ranks = 1;
  int64_t index = 0; ///< this rank's

  DimensionPart part(int64_t size, int64_t member) const { return dimensionPart(size, sizes, member); }
  DimensionPart ownPart(int64_t size) const { return part(size, index); }
  /// Where the part of a member lies.
  std::vector<PartStretch> stretches(int64_t size, int64_t member, bool zigzag) const {
    return zigzag ? zigzagStretches(size, ranks, member) : stretchesOf(part(size, member));
  }
};

/// Reads the attribute `axes`; a context adds sizes and index, and must have the axes.
absl::StatusOr<RankGroup> readGroup(const KernelCall &call, const RankContext *context);

/// Whether the parts of a dimension are in zigzag: an attribute that is 0 (also when it is absent) or 1.
absl::StatusOr<bool> readZigzag(const KernelCall &call, const std::string &key);

/// The part of a dimension of `whole` elements must have `part` elements.
absl::Status expectPart(const KernelCall &call, const RankGroup &group, int64_t whole, int64_t part,
                        bool zigzag = false);

/// What the compiler's memory plan asks of a kernel.
struct KernelMemory {
  bool isInPlace = false; ///< result 0 may be the memory of operand 0
  int64_t workspaceBytes = 0;
};

/// The kernel of no rank: it does nothing.
std::unique_ptr<Kernel> makeKernelWithoutRank(KernelMemory memory = {});

/// A kernel that is one function, bound to all that its factory decided.
template <typename Body> class RankFunction final : public Kernel {
public:
  RankFunction(Body function, KernelMemory ofKernel) : body(std::move(function)), memory(ofKernel) {}
  void run(const KernelArguments &arguments, ThreadPool &threads) const override { body(arguments, threads); }
  int64_t workspaceBytes() const override { return memory.workspaceBytes; }
  bool mayAlias(int operand, int result) const override {
    return memory.isInPlace && operand == 0 && result == 0;
  }

private:
  Body body;
  KernelMemory memory;
};

template <typename Body> std::unique_ptr<Kernel> makeRankKernel(Body body, KernelMemory memory = {}) {
  return std::make_unique<RankFunction<Body>>(std::move(body), memory);
}

/// Product of the sizes in [begin, end).
int64_t sizeOfDimensions(const std::vector<int64_t> &shape, size_t begin, size_t end);

} // namespace weft::collective

/// Returns the error of a checking expression to the caller of a factory.
#define WEFT_CHECK_RANK_CALL(expression)                                                                     \
  if (absl::Status weftStatus = (expression); !weftStatus.ok())                                              \
  return weftStatus

#endif // WEFT_KERNELS_COLLECTIVE_CALLCHECKS_H
