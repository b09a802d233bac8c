//===- Check.h - weft-run --check-phases --------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_RUN_CHECK_H
#define WEFT_TOOLS_WEFT_RUN_CHECK_H

#include "absl/status/status.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::run {

struct CheckOptions {
  std::string file;                   ///< a run file (.yaml), or a program
  std::vector<std::string> overrides; ///< of a run file
  uint64_t seed = 1;
  std::string sabotage; ///< the name of a broken pass; empty for none
};

/// Runs the program after every phase and prints the table of checkPhases. OK when no phase changed a value;
/// Internal when one did; Config, with diagnostics printed, when the program cannot be run or compiled.
absl::Status checkFile(mlir::MLIRContext &context, const CheckOptions &options);

} // namespace weft::run

#endif // WEFT_TOOLS_WEFT_RUN_CHECK_H
