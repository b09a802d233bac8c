//===- Pipeline.h - The ordered list of phases ---------------------------------===//
#ifndef WEFT_COMPILER_PIPELINE_H
#define WEFT_COMPILER_PIPELINE_H

#include "runtime/config/Config.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <functional>
#include <string>
#include <vector>

namespace weft {

/// The phases in order, by name: what --print-after accepts. `build` is the first, `memory` the last.
std::vector<std::string> phaseNames();

/// Runs every phase after `build` on the module, each followed by the verifier. After the phase `printAfter`
/// (if it is not empty) the module is printed to standard output. When a pass fails, a reproducer is written
/// to `reproducerPath` (if it is not empty): `weft-opt --run-reproducer FILE` repeats the failure.
/// After the phase `stopAfter` (if it is not empty) no more are run. `observe`, if given, sees the module
/// after each phase; then `place` says at each op what decided its placement.
mlir::LogicalResult runPhases(mlir::ModuleOp module, const Config &config, const std::string &printAfter,
                              const std::string &reproducerPath, const std::string &stopAfter = {},
                              const std::function<void(llvm::StringRef, mlir::ModuleOp)> &observe = {});

} // namespace weft

#endif // WEFT_COMPILER_PIPELINE_H
