//===- Precision.h - Phase 2: the recipe, on the global program ------------===//
#ifndef WEFT_PASSES_PRECISION_PRECISION_H
#define WEFT_PASSES_PRECISION_PRECISION_H

#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/precision/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/precision/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_PRECISION_PRECISION_H
