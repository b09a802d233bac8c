#include "passes/memory/MemoryReport.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/memory/Memory.h"
#include "passes/memory/OffsetAssignment.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using namespace mlir;

namespace weft {
namespace {
int64_t placedBytes(Type type) { return alignPlace(nn::byteSize(cast<RankedTensorType>(type))); }

/// Of the program that has most of them.
void countGradients(ModuleOp module, MemoryReport &report) {
  for (auto program : module.getOps<sched::ProgramOp>()) {
    int64_t gradients = 0, levels = 0;
    for (auto slot : program.getBody().front().getOps<sched::SlotOp>())
      if (slot.getName().starts_with("carried/gradient/")) {
        gradients += placedBytes(slot.getType());
        levels += slot.getKind() == sched::SlotKind::level ? placedBytes(slot.getType()) : 0;
      }
    report.gradientBytes = std::max(report.gradientBytes, gradients);
    report.levelBytes = std::max(report.levelBytes, levels);
  }
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
  report.lowerBound += report.inFlightLowerBound;
  for (const auto &[what, held] : report.inFlightHolders) {
    report.rows.push_back({"activations", "in flight, " + what, held});
    between -= held;
  }
  if (between > 0)
    report.rows.push_back({"activations", "in flight, between the places of these", between});
}

/// What a row of a category says of the region of a step.
StringRef rowName(StringRef category) {
  return llvm::StringSwitch<StringRef>(category)
      .Case("gradients", "at the peak")
      .Case("prepared", "made once a step: gathered parameters, tables, counts")
      .Case("cache", "keys and values of generation")
      .Case("activations", "values of one action, at the peak")
      .Case("workspaces", "of one kernel, at the peak")
      .Default("values of one step");
}

/// The region's bytes: what is live where the program that needs most of it needs most, and what lies
/// between. Caches of generation are larger than all of it, or not there at that time: that is a row too.
void addStepRows(ModuleOp module, int64_t stepBytes, MemoryReport &report) {
  sched::ProgramOp largest;
  int64_t regionBytes = 0, lowerBound = report.cacheBytes;
  for (auto program : module.getOps<sched::ProgramOp>()) {
    auto bytes = program->getAttrOfType<IntegerAttr>(kRegionBytesAttribute);
    auto bound = program->getAttrOfType<IntegerAttr>(kLowerBoundAttribute);
    if (!bytes || !bound || !program->hasAttrOfType<ArrayAttr>(kPeakAttribute))
      continue;
    lowerBound = std::max(lowerBound, bound.getInt());
    if (!largest || bytes.getInt() > regionBytes)
      largest = program, regionBytes = bytes.getInt();
  }
  report.lowerBound += lowerBound;
  if (int64_t beyond = stepBytes - regionBytes; beyond > 0)
    report.rows.push_back({"cache", "keys and values of generation, beyond what a step has there", beyond});
  if (!largest)
    return;
  auto rows = largest->getAttrOfType<ArrayAttr>(kPeakAttribute);
  report.peakHolders = holdersOf(rows);
  if (auto action = largest->getAttrOfType<StringAttr>(kPeakActionAttribute))
    report.peakAction = (largest.getName() + "/" + action.getValue()).str();
  llvm::StringMap<int64_t> live;
  int64_t between = regionBytes;
  for (auto row : rows.getAsRange<DictionaryAttr>()) {
    const int64_t bytes = row.getAs<IntegerAttr>("bytes").getInt();
    live[row.getAs<StringAttr>("category").getValue()] += bytes;
    between -= bytes;
  }
  for (StringRef category : {"cache", "gradients", "prepared", "other", "activations", "workspaces"})
    if (int64_t bytes = live.lookup(category))
      report.rows.push_back({category.str(), rowName(category).str(), bytes});
  if (between > 0)
    report.rows.push_back({"activations", "between the places of these", between});
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
    case sched::BaseKind::slots:
      addInFlightRows(base, bytes, report);
      break;
    case sched::BaseKind::parameters:
      break;
    }
    if (base.getKind() != sched::BaseKind::step && base.getKind() != sched::BaseKind::slots)
      report.lowerBound += bytes;
  }
  countGradients(module, report);
  return report;
}

} // namespace weft
