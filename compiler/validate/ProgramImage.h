//===- ProgramImage.h - What one run of a program gave ----------------------===//
//
// The values that leave a program (outputs, written variables, carried totals) whole, and of every op's
// result a fingerprint with the op's place in the source.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_VALIDATE_PROGRAMIMAGE_H
#define WEFT_COMPILER_VALIDATE_PROGRAMIMAGE_H

#include "compiler/interpret/Interpreter.h"
#include "compiler/validate/Fingerprint.h"

#include <map>
#include <string>
#include <vector>

namespace weft {

/// One result of one execution of an op.
struct TracedValue {
  mlir::Location location;
  std::string op; ///< its name, and which result if it has several
  bool isMove;    ///< by dist: the value is that of the operand, at another placement
  Fingerprint print;
  std::string problem; ///< why the value is wrong by itself (parts that make no whole, ...); else empty
};

struct ProgramImage {
  std::map<std::string, interpret::Tensor> values; ///< `loss`, `@w`, `carried gradient/w/0`
  std::vector<TracedValue> trace;                  ///< in the order of execution
  double largest = 0;                              ///< norm
  std::string failure;                             ///< diagnostics of a run that failed; empty if it did not
};

/// Interprets a function, step or scheduled program. `variables` are not changed.
ProgramImage runForImage(mlir::Operation *program, std::vector<interpret::Tensor> inputs,
                         interpret::Variables variables, interpret::Types types = interpret::Types::Exact);
/// Compiles and runs a program of a fused module; its image has no trace.
ProgramImage executeForImage(mlir::Operation *program, std::vector<interpret::Tensor> inputs,
                             interpret::Variables variables);

/// The first traced value of `now` that is wrong by itself, or differs from all that the same op at the same
/// place in the source gave in `before`; as people read it. Empty if there is none.
std::string firstDifferentOp(const ProgramImage &before, const ProgramImage &now);

} // namespace weft

#endif // WEFT_COMPILER_VALIDATE_PROGRAMIMAGE_H
