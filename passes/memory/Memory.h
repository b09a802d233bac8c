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
/// The attribute that lists what is live at the peak: dictionaries {category, what, bytes}. Of a program: in
/// the region of the step; of the base that is the region of values in flight: of those.
inline constexpr llvm::StringLiteral kPeakAttribute = "sched.peak";
/// Beside it: the most bytes that are live at once, below which no offsets can go.
inline constexpr llvm::StringLiteral kLowerBoundAttribute = "sched.lower_bound";
/// Of a program: how far into `step` its values reach, and the action in which most is live.
inline constexpr llvm::StringLiteral kRegionBytesAttribute = "sched.region_bytes";
inline constexpr llvm::StringLiteral kPeakActionAttribute = "sched.peak_action";
/// A row of kPeakAttribute; categories are those of MemoryReport.
mlir::DictionaryAttr peakRow(mlir::Builder &builder, llvm::StringRef category, llvm::StringRef what,
                             int64_t bytes);
} // namespace weft

#endif // WEFT_PASSES_MEMORY_MEMORY_H
