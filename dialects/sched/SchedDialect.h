//===- SchedDialect.h - The dialect of actions, commands and places ---------===//
#ifndef WEFT_DIALECTS_SCHED_SCHEDDIALECT_H
#define WEFT_DIALECTS_SCHED_SCHEDDIALECT_H

#include "dialects/nn/NnSupport.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/sched/SchedDialect.h.inc"
#include "dialects/sched/SchedEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/sched/SchedAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/sched/SchedOps.h.inc"

namespace weft::sched {
/// The attribute of a pipeline rank's module: its place along the pipeline.
inline constexpr llvm::StringLiteral kPipelineRankAttribute = "sched.pipeline_rank";
/// Of the job's module: the schedule of the step that trains, as people write it, and the times of F, B, W
/// and of a message that it was made with (floating-point operations, where nobody gave others).
inline constexpr llvm::StringLiteral kScheduleAttribute = "sched.schedule";
inline constexpr llvm::StringLiteral kTimesAttribute = "sched.times";
} // namespace weft::sched

#endif // WEFT_DIALECTS_SCHED_SCHEDDIALECT_H
