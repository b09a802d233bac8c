//===- InFlight.cpp - Places of values in flight ------------------------------===//
//
// The order of runs is known, so the life of each value is: from the first run that names its slot for its
// microbatch to the last. Blocks are found by comparing lives, and get their places like any buffers with
// lifetimes, in runs instead of commands.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/InFlight.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/sched/InFlight.h"
#include "passes/memory/OffsetAssignment.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;

namespace weft {
namespace {
/// Runs of the program, both included.
struct Life {
  int64_t begin = -1, end = -1;
  auto operator<=>(const Life &) const = default;
};
using Lives = std::vector<Life>; ///< by microbatch

class Planner {
public:
  explicit Planner(sched::ProgramOp program) : program(program), body(program.getBody().front()) {}

  FailureOr<InFlightPlan> run() {
    for (auto slot : body.getOps<sched::SlotOp>())
      if (slot.getKind() == sched::SlotKind::in_flight) {
        slotIndex[slot.getName()] = slots.size();
        slots.push_back(slot);
      }
    if (slots.empty())
      return std::move(plan);
    readActions();
    if (failed(countRuns()))
      return failure();
    followRuns();
    makeBlocks();
    assignPlaces();
    return std::move(plan);
  }

private:
  void readActions() {
    for (auto action : body.getOps<sched::ActionOp>()) {
      llvm::SetVector<size_t> &named = slotsOf[action.getName()];
      for (Operation &op : action.getBody().front()) {
        if (auto slot = slotIndex.find(sched::slotNamedBy(&op)); slot != slotIndex.end())
          named.insert(slot->second);
      }
    }
  }

  /// A value has a place for each microbatch, so each must run.
  LogicalResult countRuns() {
    llvm::StringMap<uint64_t> runs;
    for (auto run : body.getOps<sched::RunOp>())
      ++runs[run.getAction()];
    for (auto action : body.getOps<sched::ActionOp>())
      if (!slotsOf[action.getName()].empty() && runs.lookup(action.getName()) != program.getMicrobatches())
        return action.emitOpError() << "\"" << action.getName() << "\" has values in flight and runs for "
                                    << runs.lookup(action.getName()) << " of " << program.getMicrobatches()
                                    << " microbatches; memory expects a run for each";
    return success();
  }

  void followRuns() {
    lives.assign(slots.size(), Lives(program.getMicrobatches()));
    for (auto [number, run] : llvm::enumerate(body.getOps<sched::RunOp>())) {
      auto index = static_cast<int64_t>(number);
      runs.push_back(run.getAction());
      for (size_t slot : slotsOf[run.getAction()]) {
        Life &life = lives[slot][*run.getMicrobatch()];
        life.begin = life.begin < 0 ? index : life.begin;
        life.end = index;
      }
    }
  }

  void makeBlocks() {
    std::map<Lives, size_t> known;
    llvm::StringSet<> names;
    for (auto [index, slot] : llvm::enumerate(slots)) {
      auto [found, isNew] = known.try_emplace(lives[index], plan.blocks.size());
      if (isNew) {
        StringRef first = runs[lives[index].front().begin], last = runs[lives[index].front().end];
        std::string base = (program.getName() + "/in_flight/" + first + "-" + last).str();
        std::string unique = base;
        for (int copy = 2; !names.insert(unique).second; ++copy)
          unique = base + "#" + std::to_string(copy);
        InFlightBlock &block = plan.blocks.emplace_back();
        block.base = unique;
        block.what = ("from " + first + " to " + last).str();
        livesOf.push_back(lives[index]);
      }
      InFlightBlock &block = plan.blocks[found->second];
      block.slots.push_back(slot);
      slot.setPlaceAttr(sched::PlaceAttr::get(slot.getContext(),
                                              StringAttr::get(slot.getContext(), block.base), block.bytes));
      block.bytes += alignPlace(nn::byteSize(cast<RankedTensorType>(slot.getType())));
    }
  }

  void assignPlaces() {
    SmallVector<Lifetime> lifetimes;
    for (auto [block, life] : llvm::zip_equal(plan.blocks, livesOf))
      for (const Life &microbatch : life)
        lifetimes.push_back({block.bytes, microbatch.begin, microbatch.end});
    OffsetPlan offsets = assignOffsets(lifetimes);
    plan.bytes = offsets.peakBytes;
    plan.lowerBound = offsets.lowerBound;
    size_t next = 0;
    for (InFlightBlock &block : plan.blocks) {
      int64_t live = 0;
      for (uint64_t microbatch = 0; microbatch < program.getMicrobatches(); ++microbatch, ++next) {
        block.offsets.push_back(offsets.offsets[next]);
        live += lifetimes[next].begin <= offsets.peakCommand && offsets.peakCommand <= lifetimes[next].end;
      }
      if (live > 0)
        plan.peak.push_back({(program.getName() + ": " + Twine(live) +
                              (live == 1 ? " microbatch " : " microbatches ") + block.what + ", each of " +
                              Twine(block.slots.size()) + (block.slots.size() == 1 ? " value" : " values"))
                                 .str(),
                             live * block.bytes});
    }
    llvm::sort(plan.peak, [](const auto &a, const auto &b) {
      return std::tie(b.second, a.first) < std::tie(a.second, b.first);
    });
  }

  sched::ProgramOp program;
  Block &body;
  InFlightPlan plan;
  SmallVector<sched::SlotOp> slots;
  llvm::StringMap<size_t> slotIndex;
  llvm::StringMap<llvm::SetVector<size_t>> slotsOf; ///< by action
  SmallVector<StringRef> runs;                      ///< their actions
  std::vector<Lives> lives;                         ///< by slot
  std::vector<Lives> livesOf;                       ///< by block
};
} // namespace

FailureOr<InFlightPlan> planInFlight(sched::ProgramOp program) { return Planner(program).run(); }

} // namespace weft
