//===- RandomPrograms.h - Element-wise programs of every kind -------------===//
//
// Calls of the `elementwise` kernel that use every instruction and type, over odd shapes with operands that
// are dense, repeated, permuted or a single element, and operands whose values are ordinary or extreme.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_CODEGEN_RANDOMPROGRAMS_H
#define WEFT_TESTS_UNIT_CODEGEN_RANDOMPROGRAMS_H

#include "kernels/common/ElementwiseOps.h"

#include <cstddef>
#include <random>

namespace weft::testing {

class RandomPrograms {
public:
  explicit RandomPrograms(uint64_t seed) : engine(seed) {}

  /// A valid call with 1 to 6 operands and 1 to 24 instructions.
  KernelCall call();
  /// The same with reductions over its rows, of which some results have one element each.
  KernelCall callWithRows();
  /// Bytes of a tensor: infinities, NaN, zeros of both signs, denormals, the ends of the integers among them.
  std::vector<std::byte> values(const TensorType &type);

private:
  int64_t integer(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(engine); }
  double number();
  void addOperand(KernelCall &call, std::vector<int64_t> &strides);
  void addInstruction();
  int32_t ofType(DType type);
  KernelCall callOfShape();
  void storeRows(KernelCall &call);

  std::mt19937_64 engine;
  std::vector<int64_t> shape, program;
  std::vector<DType> registers;
  bool hasRows = false;
};

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_CODEGEN_RANDOMPROGRAMS_H
