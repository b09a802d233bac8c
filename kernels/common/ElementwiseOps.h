//===- ElementwiseOps.h - Programs of element-wise instructions -----------===//
//
// The instruction set of the `elementwise` kernel and the one reader of its attributes: each device gets a
// program whose registers, types, strides and outputs have been checked, and then only runs it. The numbers
// of the opcodes are part of the executable format: append, never renumber.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_ELEMENTWISEOPS_H
#define WEFT_KERNELS_COMMON_ELEMENTWISEOPS_H

#include "kernels/common/KernelCall.h"

#include "absl/status/statusor.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weft {

/// Floating point follows IEEE 754; bf16 and f16 are computed in float32 and rounded to nearest even after
/// each instruction. Integers wrap around. Integer division truncates; a division by zero, and its remainder,
/// give 0.
enum class ElementwiseOp : int32_t {
  // Of numbers, except where said.
  Negate = 0,
  Abs = 1,
  Exp = 2,       ///< floats
  Log = 3,       ///< floats
  Sqrt = 4,      ///< floats
  Rsqrt = 5,     ///< floats: 1 / sqrt(x), two roundings
  Tanh = 6,      ///< floats
  Sigmoid = 7,   ///< floats: 1 / (1 + exp(-x))
  Sin = 8,       ///< floats
  Cos = 9,       ///< floats
  Erf = 10,      ///< floats
  Floor = 11,    ///< floats
  Sign = 12,     ///< -1, 0 or 1; NaN stays NaN
  IsFinite = 13, ///< float -> i1
  Not = 14,      ///< i1: logical; integers: bitwise
  Add = 15,
  Subtract = 16,
  Multiply = 17,
  Divide = 18,
  Maximum = 19,   ///< NaN if either is NaN
  Minimum = 20,   ///< NaN if either is NaN
  Power = 21,     ///< floats
  And = 22,       ///< i1 and integers
  Or = 23,        ///< i1 and integers
  Remainder = 24, ///< sign of the dividend, as C's fmod and %
  Equal = 25,     ///< comparisons: any common type -> i1; unordered ones are false, NotEqual true
  NotEqual = 26,
  Less = 27,
  LessEqual = 28,
  Greater = 29,
  GreaterEqual = 30,
  Select = 31,  ///< (i1, then, else)
  Cast = 32,    ///< any to any
  Bitcast = 33, ///< between i32 and f32, and between i64 and f64
  // Over the innermost dimension: one value for each row. In the order of the `reduce` kernel, see below.
  ReduceSum = 34,     ///< floats to any float, or an integer type to itself
  ReduceMaximum = 35, ///< NaN if any is NaN
  ReduceMinimum = 36,
};
inline constexpr int kElementwiseOps = 37;

/// A row is reduced in this many lanes (or in as many as it has elements): lane i meets elements i, i + 64,
/// ... in this order, then the upper half of the lanes is combined with the lower one until one is left.
inline constexpr int64_t kReductionLanes = 64;

/// The IR's spelling, for messages: negate, add, less_equal, ...
std::string_view name(ElementwiseOp op);
/// How many sources an instruction of this kind has: 1, 2 or 3.
int sourceCount(ElementwiseOp op);
inline bool isReduction(ElementwiseOp op) { return op >= ElementwiseOp::ReduceSum; }
/// The type in which values of `type` are reduced into `result`: float32 or float64, or that of the integers.
DType accumulationType(DType type, DType result);

struct ElementwiseConstant {
  double value = 0;
  DType type = DType::F32;
};

struct ElementwiseInstruction {
  ElementwiseOp op = ElementwiseOp::Add;
  DType type = DType::F32;
  std::array<int32_t, 3> sources = {-1, -1, -1}; ///< registers; -1 where there is none
};

/// A checked program. Registers are the operands, then the constants, then the instructions' results.
struct ElementwiseProgram {
  std::vector<int64_t> shape;
  std::vector<std::vector<int64_t>> operandStrides; ///< elements, one per dimension of the shape
  std::vector<ElementwiseConstant> constants;
  std::vector<ElementwiseInstruction> instructions;
  std::vector<int32_t> outputs;
  std::vector<DType> registerTypes;
  std::vector<bool> outputIsRow; ///< a result with one element for each row: the shape without its last size

  int32_t firstInstruction() const { return static_cast<int32_t>(operandStrides.size() + constants.size()); }
  bool hasReductions() const;
};

/// Reads and checks the attributes of an `elementwise` call. InvalidArgument, naming the instruction, when a
/// register, a type, a stride (negative, or beyond the operand) or a result does not fit. A program with
/// reductions has rows: its shape has a dimension, and no size of it is 0.
absl::StatusOr<ElementwiseProgram> parseElementwise(const KernelCall &call);

/// Writers use this: appends the five integers of an instruction to the `program` attribute's list.
void appendInstruction(std::vector<int64_t> &program, const ElementwiseInstruction &instruction);

} // namespace weft

#endif // WEFT_KERNELS_COMMON_ELEMENTWISEOPS_H
