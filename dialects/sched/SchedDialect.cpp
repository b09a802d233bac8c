#include "dialects/sched/SchedDialect.h"

#include "dialects/nn/NnOps.h"
#include "dialects/sched/InFlight.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft::sched;
namespace nn = weft::nn;

#include "dialects/sched/SchedDialect.cpp.inc"
#include "dialects/sched/SchedEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/sched/SchedAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/sched/SchedOps.cpp.inc"

void SchedDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/sched/SchedAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/sched/SchedOps.cpp.inc"
      >();
}

namespace {
/// One store per slot: the slot's value after the action would else depend on their order.
LogicalResult verifyStores(ActionOp action) {
  llvm::StringSet<> stored;
  for (auto store : action.getBody().front().getOps<StoreOp>())
    if (!stored.insert(store.getSlot()).second)
      return store.emitOpError() << "stores to slot \"" << store.getSlot()
                                 << "\" a second time in this action";
  return success();
}
} // namespace

namespace {
LogicalResult verifySlot(Operation *op, SlotOp slot, StringRef name, Type type) {
  if (!slot)
    return op->emitOpError() << "names slot \"" << name << "\", which this program does not have";
  if (slot.getType() != type)
    return op->emitOpError() << "expects type " << slot.getType() << " of slot \"" << name << "\", got "
                             << type;
  return success();
}

LogicalResult verifyLoad(LoadOp load, SlotOp slot, uint64_t microbatches) {
  if (failed(verifySlot(load, slot, load.getSlot(), load.getResult().getType())))
    return failure();
  auto action = load->getParentOfType<ActionOp>();
  bool names = slot.getPerMicrobatch() && action && !action.getPerMicrobatch();
  if (names != load.getMicrobatch().has_value())
    return load.emitOpError()
           << "expects a microbatch exactly if the slot is per microbatch and the action is not";
  if (names && *load.getMicrobatch() >= microbatches)
    return load.emitOpError() << "expects a microbatch below " << microbatches << ", got "
                              << static_cast<int64_t>(*load.getMicrobatch());
  return success();
}

LogicalResult verifyStore(StoreOp store, SlotOp slot) {
  if (slot && slot.getKind() == SlotKind::input)
    return store.emitOpError() << "cannot write input \"" << store.getSlot() << "\"";
  return verifySlot(store, slot, store.getSlot(), store.getValue().getType());
}

LogicalResult verifyRelease(ReleaseOp release, SlotOp slot) {
  if (!slot)
    return release.emitOpError() << "names slot \"" << release.getSlot()
                                 << "\", which this program does not have";
  if (slot.getKind() != SlotKind::in_flight)
    return release.emitOpError() << "releases what is in flight, slot \"" << release.getSlot() << "\" is not";
  return success();
}

/// Every load, store and release of the program against the slot that it names.
LogicalResult verifySlotUses(ProgramOp program, const llvm::StringMap<SlotOp> &slots) {
  WalkResult walked = program.walk([&](Operation *op) {
    LogicalResult fits = success();
    if (auto load = dyn_cast<LoadOp>(op))
      fits = verifyLoad(load, slots.lookup(load.getSlot()), program.getMicrobatches());
    else if (auto store = dyn_cast<StoreOp>(op))
      fits = verifyStore(store, slots.lookup(store.getSlot()));
    else if (auto release = dyn_cast<ReleaseOp>(op))
      fits = verifyRelease(release, slots.lookup(release.getSlot()));
    return failed(fits) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}
} // namespace

LogicalResult ProgramOp::verifyRegions() {
  if (static_cast<int64_t>(getMicrobatches()) < 1)
    return emitOpError() << "expects at least one microbatch, got "
                         << static_cast<int64_t>(getMicrobatches());
  if (getBody().getNumArguments() != 0)
    return emitOpError() << "has no block arguments: inputs are slots";
  llvm::StringMap<ActionOp> actions;
  llvm::StringMap<SlotOp> slots;
  for (Operation &op : getBody().front()) {
    if (auto action = dyn_cast<ActionOp>(op)) {
      if (!actions.insert({action.getName(), action}).second)
        return action.emitOpError() << "is the second of this name";
      if (action.getBody().getNumArguments() != 0)
        return action.emitOpError() << "has no block arguments: values come from slots";
      if (failed(verifyStores(action)) || failed(nn::verifyWritesOnce(action.getBody().front())))
        return failure();
    } else if (auto slot = dyn_cast<SlotOp>(op)) {
      if (!slots.insert({slot.getName(), slot}).second)
        return slot.emitOpError() << "is the second of this name";
    } else if (!isa<RunOp>(op)) {
      return op.emitOpError() << "may not stand in a program: it holds slots, actions and runs";
    }
  }
  if (failed(verifySlotUses(*this, slots)))
    return failure();
  llvm::StringMap<uint64_t> nextMicrobatch;
  for (auto run : getBody().front().getOps<RunOp>()) {
    ActionOp action = actions.lookup(run.getAction());
    if (!action)
      return run.emitOpError() << "names no action of this program";
    if (action.getPerMicrobatch() != run.getMicrobatch().has_value())
      return run.emitOpError() << "expects a microbatch exactly if the action is per microbatch";
    if (run.getMicrobatch() && *run.getMicrobatch() >= getMicrobatches())
      return run.emitOpError() << "expects a microbatch below " << getMicrobatches() << ", got "
                               << static_cast<int64_t>(*run.getMicrobatch());
    if (run.getMicrobatch() && *run.getMicrobatch() != nextMicrobatch[run.getAction()]++)
      return run.emitOpError() << "takes microbatches in ascending order, each once: got "
                               << static_cast<int64_t>(*run.getMicrobatch());
  }
  return verifyInFlight(*this);
}

LogicalResult SlotOp::verify() {
  auto tensor = dyn_cast<RankedTensorType>(getType());
  if (!tensor || !nn::isAddressable(tensor))
    return emitOpError()
           << "expects a static ranked tensor of i1, i32, i64, bf16, f16, f32 or f64, at most 16 "
              "dimensions and 2^48 bytes, got "
           << getType();
  if (getKind() == SlotKind::in_flight && !getPerMicrobatch())
    return emitOpError() << "is in flight, and so per microbatch";
  if (getPerMicrobatch() && getKind() != SlotKind::input && getKind() != SlotKind::in_flight)
    return emitOpError() << "is per microbatch, but only inputs and what is in flight are";
  return success();
}

// Slots are looked up by the program, once for all: here is what a load or store knows without it.
static LogicalResult verifyInProgram(Operation *op, StringRef slot) {
  if (op->getParentOfType<ProgramOp>())
    return success();
  return op->emitOpError() << "names slot \"" << slot << "\", which this program does not have";
}
LogicalResult LoadOp::verify() { return verifyInProgram(*this, getSlot()); }
LogicalResult StoreOp::verify() { return verifyInProgram(*this, getSlot()); }
LogicalResult ReleaseOp::verify() { return verifyInProgram(*this, getSlot()); }

LogicalResult ViewOp::verify() {
  auto from = cast<RankedTensorType>(getOperand().getType()),
       to = cast<RankedTensorType>(getResult().getType());
  if (from.getElementType() != to.getElementType() || from.getNumElements() != to.getNumElements())
    return emitOpError() << "expects one element type and one number of elements, got " << from << " -> "
                         << to;
  return success();
}

LogicalResult LaunchOp::verify() {
  for (NamedAttribute setting : getSettings())
    if (!isa<StringAttr, DenseI64ArrayAttr, DenseF64ArrayAttr>(setting.getValue()))
      return emitOpError() << "expects setting " << setting.getName()
                           << " to be a string, an array<i64> or an array<f64>, got " << setting.getValue();
  if (getPlaces() && getPlaces()->size() != getOutputs().size())
    return emitOpError() << "expects one place per result, got " << getPlaces()->size();
  return success();
}

LogicalResult BaseOp::verify() {
  auto bytes = static_cast<int64_t>(getBytes()), slots = static_cast<int64_t>(getSlots());
  if (bytes < 0 || bytes % 64 != 0 || slots < 1)
    return emitOpError() << "expects at least one slot of a multiple of 64 bytes, got " << slots << " of "
                         << bytes;
  if (llvm::SaturatingMultiply(getBytes(), getSlots()) > uint64_t(1) << 48)
    return emitOpError() << "expects at most 2^48 bytes, got " << slots << " slots of " << bytes;
  if (getWithin().has_value() != getOffsets().has_value() ||
      (getOffsets() && static_cast<int64_t>(getOffsets()->size()) != slots))
    return emitOpError() << "expects an offset per slot exactly if it lies within another base, got "
                         << (getOffsets() ? getOffsets()->size() : 0) << " for " << slots << " slots";
  for (int64_t offset : getOffsets().value_or(ArrayRef<int64_t>()))
    if (offset < 0 || offset % 64 != 0)
      return emitOpError() << "expects offsets that are multiples of 64, got " << offset;
  return success();
}
