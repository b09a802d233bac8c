//===- LocationText.h - A location, as people read it -----------------------------===//
#ifndef WEFT_PASSES_ANALYSIS_LOCATIONTEXT_H
#define WEFT_PASSES_ANALYSIS_LOCATIONTEXT_H

#include "mlir/IR/Location.h"

#include <string>

namespace weft {
/// The most specific names in a location: the scope of the model that an op came from, or file and line.
std::string locationText(mlir::Location location);
} // namespace weft

#endif // WEFT_PASSES_ANALYSIS_LOCATIONTEXT_H
