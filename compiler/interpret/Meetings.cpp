#include "compiler/interpret/Meetings.h"

#include "compiler/interpret/Collectives.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

using namespace mlir;

namespace weft::interpret {
namespace {

/// The axes of what ranks do together; none of another op.
ArrayAttr groupOf(Operation *op) {
  return isa<dist::AllGatherStartOp, dist::AllReduceStartOp, dist::AllToAllStartOp,
             dist::ReduceScatterStartOp>(op)
             ? op->getAttrOfType<ArrayAttr>("axes")
             : ArrayAttr();
}

bool areAlike(Operation *left, Operation *right) {
  return left->getName() == right->getName() && left->getAttrDictionary() == right->getAttrDictionary() &&
         left->getOperandTypes() == right->getOperandTypes() &&
         left->getResultTypes() == right->getResultTypes();
}

} // namespace

bool isMeeting(Operation *op, const Ranks &ranks) {
  ArrayAttr axes = groupOf(op);
  return axes && llvm::any_of(axes.getAsValueRange<StringAttr>(),
                              [&](StringRef name) { return ranks.isPipelineAxis(name); });
}

FailureOr<std::shared_ptr<Meeting>> Meetings::come(Operation *start, int64_t own, const MeshValue &operand,
                                                   Types types) {
  for (uint32_t axis : ranks.mesh().axesOf("pipeline")) {
    auto names = groupOf(start).getAsValueRange<StringAttr>();
    if (StringRef name = ranks.mesh().axes[axis].name; !llvm::is_contained(names, name))
      return start->emitOpError() << "goes over pipeline axes, but not over " << name
                                  << ": a sum over the pipeline is one over all of it";
  }
  size_t number = attended[own]++;
  if (number == meetings.size()) {
    meetings.push_back(std::make_shared<Meeting>());
    meetings.back()->operand.resize(ranks.count());
  }
  std::shared_ptr<Meeting> meeting = meetings[number];
  for (auto [other, known] : meeting->starts)
    if (!areAlike(start, known)) {
      InFlightDiagnostic error = start->emitOpError();
      error << "on pipeline rank " << own << " meets " << known->getName() << " of pipeline rank " << other
            << ": collective " << number << " over the pipeline axes must be the same on all of them";
      error.attachNote(known->getLoc()) << "that of pipeline rank " << other;
      return error;
    }
  meeting->starts[own] = start;
  for (int64_t rank = 0; rank < ranks.count(); ++rank)
    if (ranks.pipelineRankOf(rank) == own)
      meeting->operand[rank] = operand[rank];
  if (static_cast<int64_t>(meeting->starts.size()) < ranks.pipelineRanks())
    return meeting;
  absl::StatusOr<MeshValue> result = *evaluateDist(start, ranks, meeting->operand, types);
  if (!result.ok())
    return start->emitOpError() << std::string(result.status().message());
  meeting->result = *std::move(result);
  return meeting;
}

std::string Meetings::absent(const Meeting &meeting) const {
  std::vector<int64_t> missing;
  for (int64_t rank = 0; rank < ranks.pipelineRanks(); ++rank)
    if (!meeting.starts.count(rank))
      missing.push_back(rank);
  return absl::StrCat(missing.size() == 1 ? "pipeline rank " : "pipeline ranks ",
                      absl::StrJoin(missing, ", "));
}

} // namespace weft::interpret
