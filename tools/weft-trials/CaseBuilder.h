//===- CaseBuilder.h - One op, its attributes, its operands -----------------===//
//
// A case is one op with values for its operands, drawn from a Random. A generator (Cases.h) builds the op,
// and whatever its operands must be consistent with (a backward op needs its forward's residuals), in a
// function; the case keeps the op alone, and its operands as the interpreter computes them.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_CASEBUILDER_H
#define WEFT_TOOLS_WEFT_TRIALS_CASEBUILDER_H

#include "compiler/interpret/Interpreter.h"
#include "dialects/nn/ValueBuilder.h"
#include "tools/weft-trials/Random.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace weft::trials {

using reference::Tensor;

/// What cases are drawn for.
struct Style {
  DType element = DType::F64; ///< of the float operands
  bool smooth = true;         ///< no value within 0.04 of a kink of the op, or of another value that it meets
  bool integers = false;      ///< ops that take any element type are also drawn with i32 and i64
  bool large = false;         ///< odd sizes around vector widths; otherwise sizes up to 4
  bool extreme = false;       ///< some tensors hold zeros, denormal or huge values
};

/// How the values of a float tensor are drawn.
enum class Fill {
  Normal,
  Positive, ///< in [0.2, 2]
  Inner,    ///< in (-0.9, 0.9)
  Spaced,   ///< like normal, but all values of the case are 0.1 apart and 0.05 from any multiple of 0.1
};

struct Case {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< func.func @main: the op's operands to its results
  mlir::Operation *op = nullptr;            ///< null for a whole function
  std::vector<Tensor> operands;
  llvm::SmallVector<unsigned> constantOperands; ///< float operands that have no derivative by definition
  llvm::SmallVector<unsigned> residuals;        ///< results through which no cotangent passes by definition

  mlir::func::FuncOp function() const;
  std::string text() const;
};

class CaseBuilder {
public:
  CaseBuilder(mlir::MLIRContext *context, Random random, Style style);

  Random random;
  const Style style;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
  nn::ValueBuilder b;

  mlir::Type element() { return type(style.element); }
  /// The float type, or now and then an integer type where the style allows them.
  mlir::Type anyElement();
  mlir::Type type(DType dtype);
  int64_t size();
  llvm::SmallVector<int64_t> shape(int64_t lowestRank, int64_t highestRank);
  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape, mlir::Type elementType) {
    return mlir::RankedTensorType::get(shape, elementType);
  }

  // New arguments of the function, with values.
  mlir::Value floats(llvm::ArrayRef<int64_t> shape, Fill fill = Fill::Normal, mlir::Type elementType = {});
  mlir::Value integers(llvm::ArrayRef<int64_t> shape, mlir::Type elementType, int64_t low, int64_t high);
  mlir::Value given(Tensor value);
  /// Floats by `fill`, or small integers, or booleans.
  mlir::Value any(llvm::ArrayRef<int64_t> shape, mlir::Type elementType, Fill fill = Fill::Normal);

  /// Names the op of the case, which the builder has just created.
  void subject(mlir::Operation *op) { chosen = op; }
  /// Instead: the case is all that was built, and has these results.
  void whole(llvm::ArrayRef<mlir::Value> results) { wholeResults.assign(results.begin(), results.end()); }
  void constantOperand(unsigned index) { constantOperands.push_back(index); }
  void residual(unsigned index) { residuals.push_back(index); }

  /// The case. Fails, with a diagnostic, when no op was named, or when it does not verify or evaluate.
  mlir::FailureOr<Case> finish();

private:
  double draw(Fill fill);
  mlir::FailureOr<Case> finishWhole();

  mlir::func::FuncOp function;
  mlir::Operation *chosen = nullptr;
  llvm::SmallVector<mlir::Value> wholeResults;
  std::vector<Tensor> arguments;
  llvm::SmallVector<unsigned> constantOperands, residuals;
  llvm::SmallVector<int64_t> spaced; ///< values taken by Fill::Spaced, in units of 0.1
};

/// func.func @main in a new module, with these argument types and an empty block.
mlir::func::FuncOp makeFunction(mlir::ModuleOp module, mlir::TypeRange arguments);
/// Ends the function's block with a return of these values and sets the function's type.
void finishFunction(mlir::func::FuncOp function, mlir::ValueRange results);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_CASEBUILDER_H
