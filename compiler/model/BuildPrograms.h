//===- BuildPrograms.h - Phase 1: config -> the programs of a job ------------===//
//
// A job has four programs over one set of parameters: the step (nn.step @step), evaluate, prefill and decode
// (functions). A file replaces the family, if it holds the function of a model (ModelFunction.h), or all that
// build makes, if it holds nn.step @step.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_BUILDPROGRAMS_H
#define WEFT_COMPILER_MODEL_BUILDPROGRAMS_H

#include "runtime/config/Config.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace weft {

/// Builds the module of a job, around the function of `model.program` if it holds one, or parses that file.
/// Null, with a diagnostic, when it holds neither a job nor a model of `leastVocabulary` ids.
///
/// step:     inputs tokens, targets and, where data.packing keeps documents apart, segments, positions i32
///           [micro_batch, sequence], sample_ids i64 [micro_batch], each per microbatch; step i64. Objective:
///           the sum over target tokens of loss and z_loss. Outputs: loss, the cross-entropy per target token
///           of the global batch; z_loss where it is wanted; target_tokens.
/// evaluate: tokens, targets, segments, positions as in step -> loss_sum f64, target_tokens i64.
/// prefill:  tokens i32 [1, sequence], position i64 -> logits f32 [vocabulary] of the token after `position`.
///           Keys and values of all positions are left in caches.
/// decode:   token i32 [1, 1], position i64 -> logits of the token after it. Its key and value are written to
///           the caches, and those up to it are read there. Not of a function from a file, which has no
///           caches.
mlir::OwningOpRef<mlir::ModuleOp> buildPrograms(mlir::MLIRContext *context, const Config &config,
                                                int64_t leastVocabulary = 0);

/// The function of a family's model, as a file may hold it: for the samples of a microbatch.
mlir::OwningOpRef<mlir::ModuleOp> buildModelFunction(mlir::MLIRContext *context, const Config &config);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_BUILDPROGRAMS_H
