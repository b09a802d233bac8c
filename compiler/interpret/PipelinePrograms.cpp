#include "compiler/interpret/PipelinePrograms.h"

#include "compiler/interpret/Ranks.h"
#include "passes/analysis/PipelineModules.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace weft::interpret {
namespace {

/// Of a name that comes in or goes out at several ranks.
LogicalResult verifySlots(ArrayRef<sched::ProgramOp> programs, sched::SlotKind kind) {
  llvm::StringMap<sched::SlotOp> known;
  for (sched::ProgramOp program : programs)
    for (auto slot : program.getBody().front().getOps<sched::SlotOp>()) {
      if (slot.getKind() != kind)
        continue;
      sched::SlotOp first = known.try_emplace(slot.getName(), slot).first->second;
      if (placedType(first) != placedType(slot) || first.getPerMicrobatch() != slot.getPerMicrobatch())
        return slot.emitOpError() << "is " << slot.getType() << ", on pipeline rank "
                                  << *pipelineRankOf(first) << " it is " << first.getType()
                                  << ": what all ranks see alike has one type";
    }
  return success();
}

} // namespace

std::optional<int64_t> pipelineRankOf(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto rank = module ? module->getAttrOfType<IntegerAttr>(sched::kPipelineRankAttribute) : IntegerAttr();
  return rank ? std::optional(rank.getInt()) : std::nullopt;
}

std::vector<sched::ProgramOp> rankPrograms(sched::ProgramOp program) {
  if (!pipelineRankOf(program))
    return {program};
  std::vector<sched::ProgramOp> programs;
  for (ModuleOp module : pipelineModules(jobModuleOf(program)))
    for (auto other : module.getOps<sched::ProgramOp>())
      if (other.getName() == program.getName())
        programs.push_back(other);
  return programs;
}

std::vector<sched::SlotOp> slotsOf(ArrayRef<sched::ProgramOp> programs, sched::SlotKind kind) {
  std::vector<sched::SlotOp> slots;
  llvm::StringSet<> known;
  for (sched::ProgramOp program : programs)
    for (auto slot : program.getBody().front().getOps<sched::SlotOp>())
      if (slot.getKind() == kind && known.insert(slot.getName()).second)
        slots.push_back(slot);
  return slots;
}

LogicalResult verifyRankPrograms(ArrayRef<sched::ProgramOp> programs) {
  sched::ProgramOp first = programs.front();
  std::optional<int64_t> rank = pipelineRankOf(first);
  if (!rank)
    return success();
  int64_t ranks = Ranks::of(first).pipelineRanks();
  for (int64_t expected = 0; expected < ranks; ++expected)
    if (expected >= static_cast<int64_t>(programs.size()) || pipelineRankOf(programs[expected]) != expected)
      return first.emitOpError()
             << "\"" << first.getName()
             << "\" expects one program per pipeline rank of the mesh, in order from 0 to " << ranks - 1
             << "; rank " << expected << " has none";
  if (static_cast<int64_t>(programs.size()) > ranks)
    return first.emitOpError() << "\"" << first.getName() << "\" is of " << programs.size()
                               << " pipeline ranks, the mesh has " << ranks;
  for (sched::ProgramOp program : programs)
    if (program.getMicrobatches() != first.getMicrobatches())
      return program.emitOpError() << "has " << program.getMicrobatches()
                                   << " microbatches, on pipeline rank 0 it has " << first.getMicrobatches();
  for (sched::SlotKind kind : {sched::SlotKind::input, sched::SlotKind::output})
    if (failed(verifySlots(programs, kind)))
      return failure();
  return success();
}

} // namespace weft::interpret
