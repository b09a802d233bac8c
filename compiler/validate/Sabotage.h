//===- Sabotage.h - Passes that are broken on purpose -----------------------===//
//
// Each changes the program after one phase as that phase with a mistake would have written it. They show that
// checkPhases sees such mistakes; types are not verified afterwards, so what types would catch is left to
// values.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_VALIDATE_SABOTAGE_H
#define WEFT_COMPILER_VALIDATE_SABOTAGE_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace weft {

struct Sabotage {
  std::string name, phase;
  std::string summary;
  /// False when the program has nothing that can be broken so.
  bool (*apply)(mlir::ModuleOp module);
};

/// Null if there is none of this name.
const Sabotage *findSabotage(const std::string &name);
/// All of them, separated by commas.
std::string sabotageNames();

} // namespace weft

#endif // WEFT_COMPILER_VALIDATE_SABOTAGE_H
