//===- Programs.h - Functions, steps and scheduled programs, seen alike -----===//
//
// A program has named inputs and outputs, whatever its level; its inputs come in one order at every level.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_PROGRAMS_H
#define WEFT_COMPILER_INTERPRET_PROGRAMS_H

#include "compiler/interpret/Interpreter.h"

namespace weft::interpret {

struct ProgramInput {
  std::string name;
  mlir::Type type;
  int64_t stacked = 0; ///< microbatches along a first dimension that the type does not have; 0: none
  llvm::SmallVector<mlir::Value> values; ///< that stand for it in the program

  /// Of the whole input; nothing if the type cannot be evaluated.
  std::optional<TensorType> wholeType() const;
};

/// Every func.func with a body, nn.step and sched.program of the module, in order. Of a pipeline, the program
/// of the first rank that has one of this name stands for those of all.
std::vector<mlir::Operation *> programsOf(mlir::ModuleOp module);
std::string programName(mlir::Operation *program);
/// Arguments of a function by their `nn.name`, else arg0, arg1, ...
std::vector<ProgramInput> inputsOf(mlir::Operation *program);
/// Results of a function by their `nn.name`, else result0, result1, ...
std::vector<std::string> outputNames(mlir::Operation *program);

/// Runs any of them; see Interpreter::run.
mlir::FailureOr<std::vector<Tensor>> runProgram(Interpreter &interpreter, mlir::Operation *program,
                                                std::vector<Tensor> inputs, Variables &variables,
                                                std::vector<std::string> *written = nullptr);

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_PROGRAMS_H
