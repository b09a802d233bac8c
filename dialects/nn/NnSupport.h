//===- NnSupport.h - What the interfaces of nn ops speak in ----------------===//
//
// VjpContext: what an op may ask while it builds its vector-Jacobian product. ShardingRule: how an op may be
// split, in factors, as einsum speaks of letters.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_DIALECTS_NN_NNSUPPORT_H
#define WEFT_DIALECTS_NN_NNSUPPORT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace weft::nn {

/// What an op may ask while it builds its vector-Jacobian product.
class VjpContext {
public:
  VjpContext(mlir::OpBuilder &builder, mlir::Operation *forward, llvm::function_ref<bool(mlir::Value)> needs,
             llvm::function_ref<mlir::RankedTensorType(mlir::Value)> cotangentTypeOf)
      : builder(builder), forward(forward), needs(needs), cotangentTypeOf(cotangentTypeOf) {}

  /// True when somebody wants the cotangent of operand `index`.
  bool needsCotangent(unsigned index) const { return needs(forward->getOperand(index)); }
  /// The type in which the cotangent of operand `index` is wanted. It has the operand's shape; its element
  /// type is the gradient type where the operand is a cast of a parameter, so that no gradient is rounded on
  /// its way.
  mlir::RankedTensorType cotangentType(unsigned index) const {
    return cotangentTypeOf(forward->getOperand(index));
  }

  mlir::OpBuilder &builder;

private:
  mlir::Operation *forward;
  llvm::function_ref<bool(mlir::Value)> needs;
  llvm::function_ref<mlir::RankedTensorType(mlir::Value)> cotangentTypeOf;
};

/// Of a parameter, i64: the dimension whose rows the canonical norm sums, and which storage splits.
inline constexpr llvm::StringLiteral kRowDimension = "nn.row_dimension";

/// What happens when a mesh axis splits a factor.
enum class FactorKind : uint8_t {
  PassThrough, ///< each part computes its part of the results
  Sum,         ///< each part computes a term; the results without the factor are pending sums
  Max,         ///< likewise, pending maxima
  LogSumExp,   ///< likewise, pending log-sum-exps
  Replicated   ///< cannot be split: every part needs the whole dimension
};

struct Factor {
  int64_t size;
  FactorKind kind;
};

/// The factors of one dimension, major to minor (indices into ShardingRule::factors). Heads are query groups
/// times heads of a group; a dimension of size one may have none.
using DimensionFactors = llvm::SmallVector<int, 2>;

/// The sharding rule of one op, of the whole tensors' sizes in both views.
struct ShardingRule {
  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<llvm::SmallVector<DimensionFactors>> operands;
  llvm::SmallVector<llvm::SmallVector<DimensionFactors>> results;
  /// Whether the results are linear in each operand, the others held fixed: a pending sum may pass through.
  llvm::SmallVector<bool> linear;
  /// Operands in which the results are linear together (both of an addition): a pending sum passes if it is
  /// pending in all of them.
  llvm::SmallVector<int> jointlyLinear = {};
  /// Operands whose pending maxima pass if they are pending in all of them.
  llvm::SmallVector<int> jointlyMonotone = {};
  /// Operand `operand` holds indices into a factor: a part sees them less its start, and what is then out of
  /// range has no part in the result.
  struct Indices {
    int factor;
    int operand;
  };
  llvm::SmallVector<Indices> indices = {};
  /// Results that are log-sum-exps over a reduced factor, while others of the op are of the factor's own
  /// kind.
  llvm::SmallVector<int> logSumExps = {};
  /// Factors of which the op takes a part's valid elements alone, so that padding needs no neutral element:
  /// an op on a part with padding is given their number as one more operand, its last.
  llvm::SmallVector<int> takesValid = {};
  /// The pending sums of the operand are pending trees of the result (nn.leaf).
  bool makesLeaves = false;
  /// A pending tree passes if it is pending in all operands (nn.join).
  bool joinsSubtrees = false;

  /// In which way result `result` is pending over the axes of a factor that it lacks.
  FactorKind reducedKind(int factor, unsigned result) const;
};

/// The rule with one einsum-like term per operand and result ("bsh", "h"): letters that are in no result are
/// of `reduced` kind, those in `replicated` cannot be split. Upper-case letters stand for the leading
/// dimensions `...` that a composite accepts in any number: "A" expands to as many factors as `leading` says.
/// "(gr)" is one dimension of two factors; all but one of them are dimensions of their own elsewhere.
ShardingRule makeShardingRule(mlir::Operation *op, llvm::ArrayRef<llvm::StringRef> operandTerms,
                              llvm::ArrayRef<llvm::StringRef> resultTerms, int64_t leading,
                              llvm::StringRef replicated, llvm::ArrayRef<bool> linear,
                              FactorKind reduced = FactorKind::Sum);

/// The rule of an op whose operands and results all have one shape.
ShardingRule makeElementwiseRule(mlir::Operation *op, llvm::ArrayRef<bool> linear);

/// True when kernels know the element type (i1, i32, i64, bf16, f16, f32, f64).
bool isKernelElement(mlir::Type element);
/// True for such elements in a static shape of at most 16 dimensions and 2^48 bytes: sizes and offsets then
/// fit an int64_t.
bool isAddressable(mlir::RankedTensorType type);

/// Bytes of all operands and results, each once.
int64_t operandAndResultBytes(mlir::Operation *op);
int64_t byteSize(mlir::RankedTensorType type);
/// Number of elements of a value's type.
int64_t elementCount(mlir::Value value);

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace weft::nn

#endif // WEFT_DIALECTS_NN_NNSUPPORT_H
