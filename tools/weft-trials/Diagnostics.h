//===- Diagnostics.h - MLIR diagnostics as text -----------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_DIAGNOSTICS_H
#define WEFT_TOOLS_WEFT_TRIALS_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

namespace weft::trials {

/// Gathers what is said while it lives.
class DiagnosticText {
public:
  explicit DiagnosticText(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          llvm::raw_string_ostream(gathered) << diagnostic << "\n";
          return mlir::success();
        }) {}

  const std::string &text() const { return gathered; }

private:
  std::string gathered;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_DIAGNOSTICS_H
