//===- InFlight.cpp - Values that are in flight -----------------------------===//
//
// An action takes microbatches in ascending order, each once. So what has been stored of a slot, at any point
// of the order of runs, is every microbatch below a bound, and one number per slot says all.
//
//===----------------------------------------------------------------------===//
#include "dialects/sched/InFlight.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace weft::sched {

StringRef slotNamedBy(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getSlot();
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getSlot();
  if (auto release = dyn_cast<ReleaseOp>(op))
    return release.getSlot();
  return {};
}

namespace {
struct State {
  SlotOp slot;
  bool isStored = false;    ///< by some action
  uint64_t storedBelow = 0; ///< microbatches, by the runs so far
};

struct Use {
  Operation *op;
  State *state;
};
} // namespace

LogicalResult verifyInFlight(ProgramOp program) {
  Block &body = program.getBody().front();
  llvm::StringMap<State> states;
  for (auto slot : body.getOps<SlotOp>())
    if (slot.getKind() == SlotKind::in_flight)
      states[slot.getName()].slot = slot;
  if (states.empty())
    return success();
  llvm::StringMap<SmallVector<Use>> usesOf; // by action
  for (auto action : body.getOps<ActionOp>()) {
    WalkResult walked = action.walk([&](Operation *op) {
      auto state = states.find(slotNamedBy(op));
      if (state == states.end())
        return WalkResult::advance();
      if (!action.getPerMicrobatch()) {
        op->emitOpError() << "names slot \"" << state->first() << "\", which is in flight: action \""
                          << action.getName() << "\" would have to be per microbatch";
        return WalkResult::interrupt();
      }
      state->second.isStored |= isa<StoreOp>(op);
      usesOf[action.getName()].push_back({op, &state->second});
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
  }
  for (auto slot : body.getOps<SlotOp>())
    if (slot.getKind() == SlotKind::in_flight && !states[slot.getName()].isStored)
      return slot.emitOpError() << "\"" << slot.getName() << "\" is in flight, but no action stores to it";
  for (auto run : body.getOps<RunOp>()) {
    auto uses = usesOf.find(run.getAction());
    if (uses == usesOf.end())
      continue;
    uint64_t microbatch = *run.getMicrobatch();
    for (const auto &[op, state] : uses->second)
      if (!isa<StoreOp>(op) && microbatch >= state->storedBelow)
        return run.emitOpError().append("runs \"", run.getAction(), "\" for microbatch ", microbatch,
                                        ", which ", isa<LoadOp>(op) ? "loads" : "releases", " slot \"",
                                        state->slot.getName(), "\", before any run stored it");
    for (const auto &[op, state] : uses->second)
      if (isa<StoreOp>(op))
        state->storedBelow = std::max(state->storedBelow, microbatch + 1);
  }
  return success();
}

} // namespace weft::sched
