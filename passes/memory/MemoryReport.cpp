#include "passes/memory/MemoryReport.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/memory/Memory.h"
#include "passes/memory/OffsetAssignment.h"

#include <algorithm>

using namespace mlir;

namespace weft {
namespace {
int64_t placedBytes(Type type) { return alignPlace(nn::byteSize(cast<RankedTensorType>(type))); }

/// What lives through a step: gradients, what prepare passes on, and the rest, from the program that has most
/// of it. Caches of generation lie where those values are, and have a row for what they are larger.
void addStepRows(ModuleOp module, int64_t stepBytes, MemoryReport &report) {
  int64_t gradients = 0, levels = 0, prepared = 0;
  for (auto program : module.getOps<sched::ProgramOp>()) {
    int64_t ownGradients = 0, ownLevels = 0, ownPrepared = 0;
    for (auto slot : program.getBody().front().getOps<sched::SlotOp>()) {
      if (slot.getName().starts_with("carried/gradient/"))
        (slot.getKind() == sched::SlotKind::level ? ownLevels : ownGradients) += placedBytes(slot.getType());
      else if (slot.getKind() == sched::SlotKind::prepared)
        ownPrepared += placedBytes(slot.getType());
    }
    if (ownGradients + ownLevels + ownPrepared > gradients + levels + prepared)
      gradients = ownGradients, levels = ownLevels, prepared = ownPrepared;
  }
  if (gradients > 0)
    report.rows.push_back({"gradients", "accumulated over microbatches", gradients});
  if (levels > 0)
    report.rows.push_back({"gradients", "subtrees of the canonical sum", levels});
  report.levelBytes = levels;
  if (prepared > 0)
    report.rows.push_back({"prepared", "made once a step: gathered parameters, tables, counts", prepared});
  int64_t rest = stepBytes - (gradients + levels + prepared);
  if (int64_t beyond = std::min(rest, report.cacheBytes - (stepBytes - rest)); beyond > 0) {
    report.rows.push_back({"cache", "keys and values of generation, beyond what a step has there", beyond});
    rest -= beyond;
  }
  if (rest > 0)
    report.rows.push_back({"other", "values of one step", rest});
}

std::vector<std::pair<std::string, int64_t>> holdersOf(ArrayAttr rows) {
  std::vector<std::pair<std::string, int64_t>> holders;
  for (auto row : rows.getAsRange<DictionaryAttr>())
    holders.push_back(
        {row.getAs<StringAttr>("what").getValue().str(), row.getAs<IntegerAttr>("bytes").getInt()});
  return holders;
}

/// The region's bytes: what is in flight at its peak, and what lies between.
void addInFlightRows(sched::BaseOp region, int64_t bytes, MemoryReport &report) {
  report.inFlightBytes = bytes;
  auto holders = region->getAttrOfType<ArrayAttr>(kPeakAttribute);
  auto bound = region->getAttrOfType<IntegerAttr>(kLowerBoundAttribute);
  if (holders && bound) {
    report.inFlightHolders = holdersOf(holders);
    report.inFlightLowerBound = bound.getInt();
  }
  int64_t between = bytes;
  for (const auto &[what, held] : report.inFlightHolders) {
    report.rows.push_back({"activations", "in flight, " + what, held});
    between -= held;
  }
  if (between > 0)
    report.rows.push_back({"activations", "in flight, between the places of these", between});
}

void addPeak(ModuleOp module, MemoryReport &report) {
  int64_t most = -1;
  module.walk([&](sched::ActionOp action) {
    auto holders = action->getAttrOfType<ArrayAttr>(kPeakAttribute);
    auto bound = action->getAttrOfType<IntegerAttr>(kLowerBoundAttribute);
    if (!holders || !bound || bound.getInt() <= most)
      return;
    most = report.scratchLowerBound = bound.getInt();
    report.peakAction =
        (cast<sched::ProgramOp>(action->getParentOp()).getName() + "/" + action.getName()).str();
    report.peakHolders = holdersOf(holders);
  });
}
} // namespace

int64_t MemoryReport::categoryBytes(const std::string &category) const {
  int64_t total = 0;
  for (const MemoryReportRow &row : rows)
    if (row.category == category)
      total += row.bytes;
  return total;
}

MemoryReport reportMemory(ModuleOp module) {
  MemoryReport report;
  int64_t parameters = 0, states = 0;
  for (auto parameter : module.getOps<nn::ParameterOp>())
    parameters += placedBytes(parameter.getType());
  for (auto state : module.getOps<nn::StateOp>())
    states += placedBytes(state.getType());
  for (auto cache : module.getOps<nn::CacheOp>())
    report.cacheBytes += placedBytes(cache.getType());
  if (parameters > 0)
    report.rows.push_back({"parameters", "all", parameters});
  if (states > 0)
    report.rows.push_back({"optimizer", "all state", states});
  for (auto base : module.getOps<sched::BaseOp>()) {
    if (base.getWithin())
      continue; // its bytes are its region's
    auto bytes = static_cast<int64_t>(base.getBytes() * base.getSlots());
    report.peakBytes += bytes;
    switch (base.getKind()) {
    case sched::BaseKind::constants:
      report.rows.push_back({"constants", base.getName().str(), bytes});
      break;
    case sched::BaseKind::inputs:
      report.rows.push_back({"inputs", base.getName().str(), bytes});
      break;
    case sched::BaseKind::step:
      addStepRows(module, bytes, report);
      break;
    case sched::BaseKind::scratch:
      report.rows.push_back({"activations", "scratch of one action", bytes});
      break;
    case sched::BaseKind::workspace:
      report.rows.push_back({"workspaces", "largest of one kernel", bytes});
      break;
    case sched::BaseKind::slots:
      addInFlightRows(base, bytes, report);
      break;
    case sched::BaseKind::parameters:
      break;
    }
  }
  addPeak(module, report);
  return report;
}

} // namespace weft
