//===- TestSupport.h - Running single kernels in tests --------------------===//
//
// Tensors with elements of any type read and written as doubles, and a way to run a kernel call on 1, 2 and 3
// threads that fails when the bits differ. The instruction set is WEFT_TEST_INSTRUCTION_SET's, or this
// machine's highest.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_KERNELS_TESTSUPPORT_H
#define WEFT_TESTS_UNIT_KERNELS_TESTSUPPORT_H

#include "kernels/cpu/Cpu.h"

#include "gtest/gtest.h"

#include <random>
#include <vector>

namespace weft::testing {

/// The nearest value of a type, as a double (integers: exact up to 2^53).
double roundTo(DType type, double value);
/// Distance from 1 to the next value of a floating-point type.
double epsilonOf(DType type);

/// A 64-byte aligned dense tensor.
class Tensor {
public:
  explicit Tensor(TensorType type);
  Tensor(DType dtype, std::vector<int64_t> shape) : Tensor(TensorType{dtype, std::move(shape)}) {}
  Tensor(DType dtype, std::vector<int64_t> shape, const std::vector<double> &values);

  double at(int64_t index) const;
  void set(int64_t index, double value);
  int64_t elements() const { return type.elements(); }
  void *data() { return lines.data(); }
  const void *data() const { return lines.data(); }
  std::vector<double> values() const;

  TensorType type;

private:
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  std::vector<Line> lines;
};

/// Uniform in [low, high), rounded to the type.
Tensor randomTensor(DType dtype, std::vector<int64_t> shape, uint64_t seed, double low = -1, double high = 1);

/// Fills the call's operand types from the tensors and runs it on `threads` threads.
std::vector<Tensor> runKernel(KernelCall call, const std::vector<Tensor> &operands, int threads = 1);
/// Runs on 1, 2 and 3 threads, expects the same bits, returns the results.
std::vector<Tensor> runOnThreads(const KernelCall &call, const std::vector<Tensor> &operands);
/// Runs with the bytes of `operand` moved to where `result` goes; returns that result.
Tensor runInPlace(KernelCall call, std::vector<Tensor> operands, int operand, int result);

/// The message of the InvalidArgument that creating the kernel gives.
std::string refusal(const KernelCall &call);

/// |result - expected| <= tolerance * max(1, |expected|) element by element; equal where both are NaN or
/// infinite.
void expectNear(const Tensor &result, const std::vector<double> &expected, double tolerance);

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_KERNELS_TESTSUPPORT_H
