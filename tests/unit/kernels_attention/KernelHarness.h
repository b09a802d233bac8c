//===- KernelHarness.h - Runs one kernel call on values given as doubles --===//
//
// Tensors are held in their stored type; tests see doubles. A run gives the kernel a workspace and results
// full of NaN bits with guard bytes behind each, so that reading what was not written, or writing past an
// end, is seen.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_KERNELS_ATTENTION_KERNELHARNESS_H
#define WEFT_TESTS_UNIT_KERNELS_ATTENTION_KERNELHARNESS_H

#include "kernels/common/KernelCall.h"

#include "absl/status/statusor.h"
#include "gtest/gtest.h"

#include <memory>
#include <random>
#include <vector>

namespace weft::cpu {

/// A dense tensor with 64-byte aligned storage and guard bytes behind it.
class Tensor {
public:
  explicit Tensor(TensorType type);
  Tensor(TensorType type, const std::vector<double> &values);
  const TensorType &type() const { return itsType; }
  void *data() const { return storage.get(); }
  std::vector<double> values() const;
  std::vector<unsigned char> bytes() const;
  bool guardIsIntact() const;

private:
  struct Free {
    void operator()(void *memory) const;
  };
  TensorType itsType;
  std::unique_ptr<unsigned char, Free> storage;
};

/// `count` normal values of standard deviation `spread`, rounded to `type`, a function of `seed`.
Tensor randomTensor(TensorType type, uint64_t seed, double spread = 1);

/// The results of `call` on `threads` threads, or why there is no such kernel. Fails the test when a guard is
/// broken.
absl::StatusOr<std::vector<Tensor>> runKernel(const KernelCall &call, const std::vector<Tensor> &operands,
                                              int threads = 2);

/// Half the distance from 1 to the next value: the largest relative error of one rounding to `type`.
double roundoff(DType type);

/// True when |actual - expected| <= roundoff(type) |expected| + slack for each element (both NaN, or equal
/// infinities, are fine); says where not.
testing::AssertionResult isNear(const std::vector<double> &actual, const std::vector<double> &expected,
                                DType type, double slack);

/// The same with a slack for each element.
testing::AssertionResult isNear(const std::vector<double> &actual, const std::vector<double> &expected,
                                DType type, const std::vector<double> &slack);

double largestMagnitude(const std::vector<double> &values);

} // namespace weft::cpu

#endif // WEFT_TESTS_UNIT_KERNELS_ATTENTION_KERNELHARNESS_H
