//===- Partition.h - Phase 6: one rank's part ----------------------------------===//
#ifndef WEFT_PASSES_PARTITION_PARTITION_H
#define WEFT_PASSES_PARTITION_PARTITION_H

#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/partition/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/partition/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_PARTITION_PARTITION_H
