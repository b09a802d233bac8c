//===- Place.h - Phase 5: where every value lives ------------------------------===//
#ifndef WEFT_PASSES_PLACE_PLACE_H
#define WEFT_PASSES_PLACE_PLACE_H

#include "dialects/dist/Placement.h"

#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/place/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/place/Passes.h.inc"

using dist::kAtAttribute;
using dist::kInputsAttribute;
using dist::kReasonAttribute;
using dist::kStorageAttribute;
using dist::kUseAttribute;
using dist::kZeroAttribute;
} // namespace weft

#endif // WEFT_PASSES_PLACE_PLACE_H
