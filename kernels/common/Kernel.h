//===- Kernel.h - A kernel, ready to run ----------------------------------===//
//
// A device turns a KernelCall into a Kernel once, at load; the executor then runs it with pointers and
// nothing else. The contract of run(): no allocation by our code, no lookup, no formatting; the bits of the
// results are a function of the call, the operands and the instruction set, never of the number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_KERNEL_H
#define WEFT_KERNELS_COMMON_KERNEL_H

#include "kernels/common/KernelCall.h"

#include <span>

namespace weft {

class ThreadPool;

/// Pointers of one launch, in the order of the call. Each is 64-byte aligned. The caller owns all of them.
struct KernelArguments {
  std::span<const void *const> operands;
  std::span<void *const> results;
  void *workspace = nullptr; ///< workspaceBytes() of scratch, contents unspecified before and after
};

class Kernel {
public:
  virtual ~Kernel() = default;

  virtual void run(const KernelArguments &arguments, ThreadPool &threads) const = 0;

  /// Scratch bytes that run() uses: a function of the call and the instruction set, and never of the threads.
  virtual int64_t workspaceBytes() const { return 0; }

  /// True when result `result` may share the memory of operand `operand` (same bytes, element by element).
  virtual bool mayAlias(int operand, int result) const { return false; }
};

} // namespace weft

#endif // WEFT_KERNELS_COMMON_KERNEL_H
