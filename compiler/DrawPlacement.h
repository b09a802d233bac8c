//===- DrawPlacement.h - Which rank holds what, as a picture ----------------------===//
#ifndef WEFT_COMPILER_DRAWPLACEMENT_H
#define WEFT_COMPILER_DRAWPLACEMENT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace weft {

/// An SVG file: for each parameter and layer boundary of a placed module whose name matches one of the shell
/// patterns, where it is stored, where it is used, and its gradient as microbatches leave it. Equal parts
/// have equal colors; a pending sum is drawn pale, with a plus sign.
std::string drawPlacement(mlir::ModuleOp module, const std::vector<std::string> &patterns);

} // namespace weft

#endif // WEFT_COMPILER_DRAWPLACEMENT_H
