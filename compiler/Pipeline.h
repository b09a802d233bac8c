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

struct PhaseOptions {
  std::string printAfter;     ///< the phase after which the module is printed to standard output
  std::string reproducerPath; ///< written when a pass fails: `weft-opt --run-reproducer FILE` repeats it
  std::string stopAfter;      ///< the last phase that is run; empty: all are
  bool explain = false;       ///< `place` says at each op what decided its placement
  /// Sees the module after each phase.
  std::function<void(llvm::StringRef, mlir::ModuleOp)> observe;
};

/// Runs every phase after `build` on the module, each followed by the verifier.
mlir::LogicalResult runPhases(mlir::ModuleOp module, const Config &config, const PhaseOptions &options);

} // namespace weft

#endif // WEFT_COMPILER_PIPELINE_H
