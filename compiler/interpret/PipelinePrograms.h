//===- PipelinePrograms.h - One program, written down rank by rank ----------===//
//
// Behind the cut a module holds one module per pipeline rank, and each of them what its rank runs of every
// program. The programs of one name are one program: whoever has one of them has them all, in the order of
// the ranks. Without a pipeline there is one, and it is its own.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_PIPELINEPROGRAMS_H
#define WEFT_COMPILER_INTERPRET_PIPELINEPROGRAMS_H

#include "compiler/interpret/Values.h"
#include "dialects/sched/SchedDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace weft::interpret {

/// The pipeline rank that the module around is of; nothing where it is of none.
std::optional<int64_t> pipelineRankOf(mlir::Operation *op);

/// The programs that are one with `program`, in the order of their ranks.
std::vector<sched::ProgramOp> rankPrograms(sched::ProgramOp program);

/// The slots of this kind, each name once: in the order of ranks, and there of the program.
std::vector<sched::SlotOp> slotsOf(llvm::ArrayRef<sched::ProgramOp> programs, sched::SlotKind kind);

/// Fails, with a diagnostic, unless there is one program per pipeline rank of the mesh, all with as many
/// microbatches, and slots that come in or go out are of one type wherever they are.
mlir::LogicalResult verifyRankPrograms(llvm::ArrayRef<sched::ProgramOp> programs);

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_PIPELINEPROGRAMS_H
