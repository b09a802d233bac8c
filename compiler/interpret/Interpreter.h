//===- Interpreter.h - The meaning of a program, op by op -------------------===//
//
// Runs functions and steps of nn IR on one device with the float64 reference: primitives by their reference
// function, composites by their decomposition. It is what every pass and every kernel is held against. A
// value is dropped after its last use. Errors are MLIR diagnostics at the op.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_INTERPRETER_H
#define WEFT_COMPILER_INTERPRET_INTERPRETER_H

#include "compiler/interpret/Decompositions.h"
#include "compiler/interpret/Variables.h"

#include "dialects/nn/NnDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>

namespace weft::interpret {

class Interpreter {
public:
  /// The IR must not change while the interpreter lives.
  explicit Interpreter(Types types) : types(types), decompositions(types) {}

  /// The results of a function; `arguments` have the types of its arguments. nn.read sees `variables`.
  mlir::FailureOr<std::vector<Tensor>> run(mlir::func::FuncOp function, std::vector<Tensor> arguments,
                                           const Variables &variables);

  /// One step: `inputs` in the order of its input names, with the types of prepare's arguments. Returns the
  /// values that update yields, in the order of their names. What the step writes replaces the entries of
  /// `variables` when all has succeeded, and `written`, if given, lists those symbols in program order.
  mlir::FailureOr<std::vector<Tensor>> run(nn::StepOp step, std::vector<Tensor> inputs, Variables &variables,
                                           std::vector<std::string> *written = nullptr);

private:
  using Shared = std::shared_ptr<const Tensor>;
  using Values = llvm::SmallVector<Shared>;
  struct Context;

  mlir::FailureOr<Values> enter(mlir::Operation *op, llvm::StringRef what, mlir::TypeRange types,
                                std::vector<Tensor> values) const;
  mlir::FailureOr<Values> runBlock(mlir::Block &block, llvm::ArrayRef<Shared> arguments, Context &context);
  mlir::FailureOr<Values> runOps(mlir::Block &block, llvm::ArrayRef<Shared> arguments,
                                 mlir::ValueRange results, Context &context);
  mlir::FailureOr<Values> evaluate(mlir::Operation *op, llvm::ArrayRef<Shared> operands, Context &context);
  mlir::FailureOr<Values> evaluateComposite(mlir::Operation *op, llvm::ArrayRef<Shared> operands,
                                            Context &context);
  mlir::FailureOr<Values> evaluateCall(mlir::func::CallOp call, llvm::ArrayRef<Shared> operands,
                                       Context &context);
  mlir::FailureOr<Shared> readVariable(nn::ReadOp op, const Context &context) const;
  mlir::FailureOr<Values> runMicrobatches(nn::StepOp step, const Values &inputs, const Values &prepared,
                                          Context &context);
  mlir::FailureOr<Values> combine(nn::CarryOp carry, Values total, const Values &part) const;

  Types types;
  Decompositions decompositions;
};

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_INTERPRETER_H
