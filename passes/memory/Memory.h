//===- Memory.h - Phase 12: every value gets a place -------------------------===//
#ifndef WEFT_PASSES_MEMORY_MEMORY_H
#define WEFT_PASSES_MEMORY_MEMORY_H

#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/memory/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/memory/Passes.h.inc"

/// The attribute of a variable that holds its place.
inline constexpr llvm::StringLiteral kPlaceAttribute = "sched.place";
/// The attribute that lists what is live at the peak: dictionaries {what, bytes}. Of an action: in scratch;
/// of the base that is the region of values in flight: of those.
inline constexpr llvm::StringLiteral kPeakAttribute = "sched.peak";
/// Beside it: the most bytes that are live at once, below which no plan can go.
inline constexpr llvm::StringLiteral kLowerBoundAttribute = "sched.lower_bound";
/// A row of kPeakAttribute.
mlir::DictionaryAttr peakRow(mlir::Builder &builder, llvm::StringRef what, int64_t bytes);
} // namespace weft

#endif // WEFT_PASSES_MEMORY_MEMORY_H
