//===- Update.h - Phase 4: norm, clipping, optimizer, schedule --------------===//
#ifndef WEFT_PASSES_UPDATE_UPDATE_H
#define WEFT_PASSES_UPDATE_UPDATE_H

#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/update/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/update/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_UPDATE_UPDATE_H
