//===- Program.h - A parsed module and its diagnostics, for tests ----------===//
//
// Parses a program, runs a function or step of it, and keeps the diagnostics as `severity: message` lines.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_INTERPRET_PROGRAM_H
#define WEFT_TESTS_UNIT_INTERPRET_PROGRAM_H

#include "compiler/interpret/Interpreter.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace weft::interpret {

class Program {
public:
  /// Without `isVerified` no op's verifier sees it.
  explicit Program(const std::string &text, bool isVerified = true)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; }) {
    context.loadDialect<nn::NnDialect, sched::SchedDialect, dist::DistDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context, isVerified));
    EXPECT_TRUE(module) << messages;
  }

  /// The results of the function @main.
  mlir::FailureOr<std::vector<Tensor>> call(std::vector<Tensor> arguments = {}, Types types = Types::Exact) {
    Interpreter interpreter(types);
    return interpreter.run(module->lookupSymbol<mlir::func::FuncOp>("main"), std::move(arguments), variables);
  }
  /// The outputs of the step @train.
  mlir::FailureOr<std::vector<Tensor>> step(std::vector<Tensor> inputs, Types types = Types::Exact) {
    Interpreter interpreter(types);
    return interpreter.run(module->lookupSymbol<nn::StepOp>("train"), std::move(inputs), variables, &written);
  }

  mlir::MLIRContext context;
  std::string messages;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Variables variables;
  std::vector<std::string> written;
};

inline Tensor reals(std::vector<int64_t> shape, std::vector<double> values, DType dtype = DType::F32) {
  return {dtype, std::move(shape), std::move(values), {}};
}
inline Tensor integers(std::vector<int64_t> shape, std::vector<int64_t> values, DType dtype = DType::I32) {
  return {dtype, std::move(shape), {}, std::move(values)};
}

} // namespace weft::interpret

#endif // WEFT_TESTS_UNIT_INTERPRET_PROGRAM_H
