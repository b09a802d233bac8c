#include "passes/memory/StepRegion.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/sched/InFlight.h"
#include "kernels/collective/Collective.h"
#include "passes/memory/Memory.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace weft {
namespace {
/// The runs of a program between which a slot is needed, both included.
struct SlotRuns {
  int64_t first = -1;       ///< the first that stores it
  int64_t last = -1;        ///< the last that names it, or the last of all if it stays behind
  bool staysBehind = false; ///< to the end: an output, or what a transfer may be under way with
  bool isWhole = false; ///< needed all the time: it is loaded before a run stores it, or by what never runs
};

class RegionPlanner {
public:
  RegionPlanner(sched::ProgramOp program, KernelCache &kernels, const HomeLookup &homeOf, StringRef base,
                int64_t start)
      : program(program), body(program.getBody().front()), kernels(kernels), homeOf(homeOf), base(base),
        start(start), builder(program.getContext()) {}

  FailureOr<int64_t> run() {
    readActions();
    followRuns();
    if (failed(planActions()))
      return failure();
    layOut();
    collect();
    OffsetPlan offsets = assignOffsets(lifetimes);
    setPlaces(offsets);
    record(offsets);
    return start + offsets.peakBytes;
  }

private:
  struct Action {
    sched::ActionOp op;
    llvm::MapVector<sched::SlotOp, bool> names; ///< slots of the region, and whether it stores them
    llvm::DenseSet<sched::SlotOp> loads;
    std::vector<int64_t> runs;
    std::unique_ptr<ActionPlan> plan;
    int64_t begin = 0, end = 0; ///< on the timeline, both included
  };

  void readActions() {
    for (auto slot : body.getOps<sched::SlotOp>())
      if (liesInRegion(slot)) {
        slots.push_back(slot);
        slotNamed[slot.getName()] = slot;
      }
    for (auto op : body.getOps<sched::ActionOp>()) {
      actionNamed[op.getName()] = actions.size();
      Action &action = actions.emplace_back();
      action.op = op;
      for (Operation &inner : op.getBody().front())
        if (auto slot = slotNamed.find(sched::slotNamedBy(&inner)); slot != slotNamed.end()) {
          action.names[slot->second] |= isa<sched::StoreOp>(inner);
          if (isa<sched::LoadOp>(inner))
            action.loads.insert(slot->second);
        }
      if (llvm::any_of(op.getBody().front().getOps<sched::LaunchOp>(), beginsTransfer))
        for (auto &[slot, isStored] : action.names)
          runsOf[slot].staysBehind = true;
    }
    for (sched::SlotOp slot : slots)
      runsOf[slot].staysBehind |= slot.getKind() == sched::SlotKind::output;
  }

  static bool beginsTransfer(sched::LaunchOp launch) {
    const std::optional<LineStep> step = lineStepOf(launch.getKernel().str());
    return step == LineStep::Send || step == LineStep::Receive;
  }

  void followRuns() {
    for (auto [number, run] : llvm::enumerate(body.getOps<sched::RunOp>())) {
      Action &action = actions[actionNamed.lookup(run.getAction())];
      action.runs.push_back(static_cast<int64_t>(number));
      runs.push_back(actionNamed.lookup(run.getAction()));
      for (auto &[slot, isStored] : action.names) {
        SlotRuns &life = runsOf[slot];
        if (life.first < 0 && isStored && !action.loads.contains(slot))
          life.first = static_cast<int64_t>(number);
        life.isWhole |= life.first < 0;
        life.last = static_cast<int64_t>(number);
      }
    }
    for (Action &action : actions)
      for (auto &[slot, isStored] : action.names)
        runsOf[slot].isWhole |= action.runs.empty();
    for (auto &[slot, life] : runsOf)
      if (life.staysBehind)
        life.last = static_cast<int64_t>(runs.size()) - 1;
  }

  /// The only run of an action while the slot is needed?
  static bool runsOnce(const Action &action, const SlotRuns &life) {
    auto [from, to] =
        std::pair(llvm::lower_bound(action.runs, life.first), llvm::upper_bound(action.runs, life.last));
    return to - from == 1;
  }

  LogicalResult planActions() {
    for (Action &action : actions) {
      auto endsHere = [&](sched::SlotOp slot) {
        const SlotRuns &life = runsOf[slot];
        return !life.isWhole && !life.staysBehind && !action.names.lookup(slot) &&
               action.runs.back() == life.last && runsOnce(action, life);
      };
      auto home = [&](Operation *op) {
        auto slot = slotNamed.find(sched::slotNamedBy(op));
        return slot == slotNamed.end() ? homeOf(op) : Home{{}, slot->second};
      };
      action.plan = std::make_unique<ActionPlan>(action.op, kernels, home, endsHere);
      if (failed(action.plan->run()))
        return failure();
    }
    return success();
  }

  /// The timeline: actions in the order in which they first run, those that never run behind.
  void layOut() {
    SmallVector<Action *> order;
    for (Action &action : actions)
      order.push_back(&action);
    // Actions lie in one array, in the order in which they stand in the program.
    auto firstRun = [](const Action *action) {
      return std::pair(action->runs.empty() ? INT64_MAX : action->runs.front(), action);
    };
    llvm::sort(order, [&](const Action *a, const Action *b) { return firstRun(a) < firstRun(b); });
    for (Action *action : order) {
      action->begin = end;
      end += action->plan->commands();
      action->end = end - 1;
    }
  }

  void collect() {
    for (sched::SlotOp slot : slots)
      lifetimes.push_back(lifeOf(slot));
    for (Action &action : actions)
      for (Lifetime piece : action.plan->pieces()) {
        owners.push_back(&action);
        lifetimes.push_back({piece.bytes, action.begin + piece.begin, action.begin + piece.end});
      }
  }

  /// From the command that first computes it to the last that reads it, and all of each action that runs in
  /// between; an action that runs more often in that time is in between.
  Lifetime lifeOf(sched::SlotOp slot) {
    const int64_t bytes = alignPlace(nn::byteSize(cast<RankedTensorType>(slot.getType())));
    const SlotRuns &life = runsOf[slot];
    if (life.isWhole || life.first < 0)
      return {bytes, 0, std::max<int64_t>(end - 1, 0)};
    const Action &first = actions[runs[life.first]], &last = actions[runs[life.last]];
    auto [begins, ends] = between(life);
    if (const SlotUse &use = useOf(first, slot); begins == first.begin && runsOnce(first, life) && !use.read)
      begins += use.written.value_or(0);
    if (const SlotUse &use = useOf(last, slot); ends == last.end && runsOnce(last, life) && !use.written)
      ends = last.begin + use.read.value_or(0);
    return {bytes, begins, life.staysBehind ? end - 1 : ends};
  }

  static SlotUse useOf(const Action &action, sched::SlotOp slot) {
    auto found = action.plan->slots().find(slot);
    return found == action.plan->slots().end() ? SlotUse() : found->second;
  }

  /// The part of the timeline that holds all actions of the runs from first to last.
  std::pair<int64_t, int64_t> between(const SlotRuns &life) {
    auto [found, isNew] = spans.try_emplace({life.first, life.last}, end, 0);
    if (isNew)
      for (int64_t run = life.first; run <= life.last; ++run) {
        const Action &action = actions[runs[run]];
        found->second = {std::min(found->second.first, action.begin),
                         std::max(found->second.second, action.end)};
      }
    return found->second;
  }

  void setPlaces(const OffsetPlan &plan) {
    SmallVector<int64_t> offsets;
    for (int64_t offset : plan.offsets)
      offsets.push_back(start + offset);
    for (auto [slot, offset] : llvm::zip(slots, offsets))
      slot.setPlaceAttr(sched::PlaceAttr::get(builder.getContext(), builder.getStringAttr(base), offset));
    size_t next = slots.size();
    for (Action &action : actions) {
      const size_t count = action.plan->pieces().size();
      action.plan->setPlaces(ArrayRef(offsets).slice(next, count), base);
      next += count;
    }
  }

  /// What is live at the peak, largest first, for people who ask where the memory goes.
  void record(const OffsetPlan &plan) {
    SmallVector<std::pair<int64_t, size_t>> live;
    for (auto [number, life] : llvm::enumerate(lifetimes))
      if (life.bytes > 0 && life.begin <= plan.peakCommand && plan.peakCommand <= life.end)
        live.push_back({life.bytes, number});
    llvm::sort(live, [](const auto &a, const auto &b) {
      return std::pair(b.first, a.second) < std::pair(a.first, b.second);
    });
    SmallVector<mlir::Attribute> rows;
    if (start > 0)
      rows.push_back(peakRow(builder, "cache", "keys and values of generation", start));
    for (auto [bytes, number] : live)
      rows.push_back(number < slots.size() ? peakRow(builder, categoryOf(slots[number]),
                                                     ("slot " + slots[number].getName()).str(), bytes)
                                           : rowOfPiece(number, bytes));
    program->setAttr(kPeakAttribute, builder.getArrayAttr(rows));
    program->setAttr(kLowerBoundAttribute, builder.getI64IntegerAttr(start + plan.lowerBound));
    program->setAttr(kRegionBytesAttribute, builder.getI64IntegerAttr(start + plan.peakBytes));
    for (Action &action : actions)
      if (action.begin <= plan.peakCommand && plan.peakCommand <= action.end)
        program->setAttr(kPeakActionAttribute, action.op.getNameAttr());
  }

  static StringRef categoryOf(sched::SlotOp slot) {
    if (slot.getName().starts_with("carried/gradient/"))
      return "gradients";
    return slot.getKind() == sched::SlotKind::prepared ? "prepared" : "other";
  }

  DictionaryAttr rowOfPiece(size_t number, int64_t bytes) {
    const Action &action = *owners[number - slots.size()];
    size_t piece = number - slots.size();
    for (const Action &earlier : actions) {
      if (&earlier == &action)
        break;
      piece -= earlier.plan->pieces().size();
    }
    return peakRow(builder, action.plan->isWorkspace(piece) ? "workspaces" : "activations",
                   action.plan->describe(piece), bytes);
  }

  sched::ProgramOp program;
  Block &body;
  KernelCache &kernels;
  const HomeLookup &homeOf;
  StringRef base;
  int64_t start;
  OpBuilder builder;

  std::vector<Action> actions;
  llvm::StringMap<size_t> actionNamed;
  SmallVector<sched::SlotOp> slots;
  llvm::StringMap<sched::SlotOp> slotNamed;
  std::vector<size_t> runs; ///< their actions
  llvm::DenseMap<sched::SlotOp, SlotRuns> runsOf;
  llvm::DenseMap<std::pair<int64_t, int64_t>, std::pair<int64_t, int64_t>> spans;
  int64_t end = 0;
  SmallVector<Lifetime> lifetimes; ///< of the slots, then of the pieces of each action
  SmallVector<const Action *> owners;
};
} // namespace

bool liesInRegion(sched::SlotOp slot) {
  return slot.getKind() != sched::SlotKind::input && slot.getKind() != sched::SlotKind::in_flight;
}

FailureOr<int64_t> planStepRegion(sched::ProgramOp program, KernelCache &kernels, const HomeLookup &homeOf,
                                  StringRef base, int64_t start) {
  return RegionPlanner(program, kernels, homeOf, base, start).run();
}

} // namespace weft
