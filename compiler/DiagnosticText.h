//===- DiagnosticText.h - The compiler's diagnostics as a status --------------===//
#ifndef WEFT_COMPILER_DIAGNOSTICTEXT_H
#define WEFT_COMPILER_DIAGNOSTICTEXT_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <string>

namespace weft {

/// Gathers diagnostics as text while it lives: `location: severity: message`, one a line.
class DiagnosticText {
public:
  explicit DiagnosticText(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          llvm::raw_string_ostream stream(text);
          stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            stream << "  note: " << note << "\n";
          return mlir::success();
        }) {}

  absl::Status error(llvm::StringRef what) const {
    return absl::InvalidArgumentError(absl::StrCat(what.str(), "\n", text));
  }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace weft

#endif // WEFT_COMPILER_DIAGNOSTICTEXT_H
