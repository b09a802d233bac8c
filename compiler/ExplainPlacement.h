//===- ExplainPlacement.h - What --explain placement prints ----------------------===//
#ifndef WEFT_COMPILER_EXPLAINPLACEMENT_H
#define WEFT_COMPILER_EXPLAINPLACEMENT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace weft {

/// The table of a module after `place` with its option `explain`.
std::string explainPlacement(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAINPLACEMENT_H
