//===- Memory.h - Phase 12: every value gets a place -------------------------===//
#ifndef WEFT_PASSES_MEMORY_MEMORY_H
#define WEFT_PASSES_MEMORY_MEMORY_H

#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/memory/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/memory/Passes.h.inc"

/// The attribute of a variable that holds its place.
inline constexpr llvm::StringLiteral kPlaceAttribute = "sched.place";
/// The attribute of an action that lists what is live in scratch at its peak: dictionaries {what, bytes}.
inline constexpr llvm::StringLiteral kPeakAttribute = "sched.peak";
} // namespace weft

#endif // WEFT_PASSES_MEMORY_MEMORY_H
