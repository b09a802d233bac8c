//===- Place.h - Phase 5: where every value lives ------------------------------===//
#ifndef WEFT_PASSES_PLACE_PLACE_H
#define WEFT_PASSES_PLACE_PLACE_H

#include "mlir/Pass/Pass.h"

namespace weft {
#define GEN_PASS_DECL
#include "passes/place/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/place/Passes.h.inc"

// Names of attributes: the seeds, and what a plan says of the whole program.
inline constexpr llvm::StringLiteral kZeroAttribute = "dist.zero";       ///< module: i64, the ZeRO level
inline constexpr llvm::StringLiteral kUseAttribute = "dist.use";         ///< parameter: at its reads
inline constexpr llvm::StringLiteral kStorageAttribute = "dist.storage"; ///< parameter, state: between steps
inline constexpr llvm::StringLiteral kInputsAttribute = "dist.inputs";   ///< step: of microbatch's inputs
inline constexpr llvm::StringLiteral kAtAttribute = "dist.at";           ///< boundary, function argument
inline constexpr llvm::StringLiteral kReasonAttribute =
    "dist.reason"; ///< with `explain`: why an op is split so
} // namespace weft

#endif // WEFT_PASSES_PLACE_PLACE_H
