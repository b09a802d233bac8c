//===- PhaseCheck.h - Which phase changed what a program computes -----------===//
//
// Translation validation: the program is run after every phase up to `schedule`, exactly (float64, casts are
// the identity), on the same inputs and variables, on virtual ranks once it is in the local view, as programs
// side by side once it is cut into pipeline ranks. Every output, written variable and carried value is
// compared with what the phase before gave. Last, the executable itself is run, in the types of the program:
// its outputs and written variables may differ by as much as rounding to those types explains.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_VALIDATE_PHASECHECK_H
#define WEFT_COMPILER_VALIDATE_PHASECHECK_H

#include "runtime/config/Config.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The largest error of a tensor against the phase before: ||a - b|| / max(||b||, 1e-6 x largest norm).
inline constexpr double kPhaseBound = 1e-11;

/// Of the executable: at least this, and at most twice what the scheduled program differs by when every op is
/// rounded to its type.
inline constexpr double kExecutableBound = 1e-5;
/// The last row: what `fuse`, `memory` and `emit` made of the scheduled program.
inline constexpr const char *kExecutablePhase = "executable";

/// One program after one phase.
struct PhaseRow {
  std::string phase, program;
  size_t compared = 0; ///< values that the phase before had too
  size_t added = 0;    ///< values that are new
  double worst = 0;    ///< the largest error
  std::string worstName;
};

/// The first phase after which something was different.
struct PhaseChange {
  std::string phase, program;
  std::vector<std::string> values; ///< `NAME: error 0.25`, or what kept the program from running
  std::string firstOp; ///< the first op whose value the phase before did not have; empty if none was found
};

struct PhaseReport {
  std::vector<PhaseRow> rows;
  std::optional<PhaseChange> change;
};

/// Runs the phases on `module`. `sabotage`, if not empty, is the name of a broken pass (Sabotage.h). Fails,
/// with diagnostics, when a phase fails, when the built program cannot be run, and when there is nothing to
/// sabotage.
mlir::FailureOr<PhaseReport> checkPhases(mlir::ModuleOp module, const Config &config, uint64_t seed,
                                         const std::string &sabotage);

/// The table, and what changed if anything did.
std::string explain(const PhaseReport &report);

} // namespace weft

#endif // WEFT_COMPILER_VALIDATE_PHASECHECK_H
