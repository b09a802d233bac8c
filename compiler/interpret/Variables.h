//===- Variables.h - Parameters, states and caches of a program ------------===//
//
// The values behind nn.parameter, nn.state and nn.cache symbols, and where they come from when nobody gives
// them.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_VARIABLES_H
#define WEFT_COMPILER_INTERPRET_VARIABLES_H

#include "compiler/interpret/Values.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>

namespace weft::interpret {

/// By symbol name.
using Variables = std::map<std::string, Tensor>;

/// The value that every variable of the module, or of its pipeline ranks, starts with,
/// rounded to its type: a function of (seed, symbol name, linear index). Fails, with a diagnostic, on a type
/// that has no tensor, and on a variable that starts otherwise on another pipeline rank.
mlir::FailureOr<Variables> initialVariables(mlir::ModuleOp module, uint64_t seed);

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_VARIABLES_H
