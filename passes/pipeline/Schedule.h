//===- Schedule.h - Phase 9: programs of scheduled actions -------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULE_H
#define WEFT_PASSES_PIPELINE_SCHEDULE_H

#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/pipeline/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/pipeline/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_PIPELINE_SCHEDULE_H
