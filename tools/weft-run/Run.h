//===- Run.h - One run of one program -------------------------------------===//
//
// Chooses the function, step or scheduled program of a module, gives each of its inputs and variables a value
// (from a file, else seeded), and interprets it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_RUN_RUN_H
#define WEFT_TOOLS_WEFT_RUN_RUN_H

#include "compiler/interpret/Interpreter.h"
#include "tools/weft-run/TensorFiles.h"

namespace weft::run {

struct Options {
  std::string function; ///< of a func.func, nn.step or sched.program; empty: the only one of the module
  std::vector<std::string> inputs;
  uint64_t seed = 1;
  int64_t integerBound = 16;             ///< of integer inputs that index no table
  std::optional<interpret::Types> types; ///< default: exact, and from `fuse` on declared, the only way there
};

struct NamedTensor {
  std::string name;
  Tensor value;
};

struct Outcome {
  interpret::Types types = interpret::Types::Exact; ///< that it ran in
  std::vector<NamedTensor>
      results; ///< what the function returns (result0, ...), the step yields or the program puts out
  std::vector<NamedTensor> variables; ///< what the step writes, by symbol name
};

/// A program before `fuse` is interpreted, one behind it is run by the executor on virtual ranks.
/// Fails with the exit code of weft-run. What the interpreter refuses has been printed as a diagnostic; the
/// status then has no message.
absl::StatusOr<Outcome> runModule(mlir::ModuleOp module, const Options &options);

} // namespace weft::run

#endif // WEFT_TOOLS_WEFT_RUN_RUN_H
