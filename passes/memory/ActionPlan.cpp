//===- ActionPlan.cpp - Buffers of one action ---------------------------------===//
//
// Every value has a buffer: the place that it was loaded from, the one that it will be stored to, or one of
// its own. Two decisions, in this order: which stored values are computed where they are stored, and which
// results take over an operand's buffer. Where the rest lies, StepRegion says for all actions at once.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/ActionPlan.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/sched/Views.h"
#include "kernels/collective/Collective.h"
#include "passes/analysis/KernelCalls.h"

using namespace mlir;

namespace weft {
namespace {
bool isStore(Operation *op) { return isa<sched::StoreOp, nn::WriteOp>(op); }

Value storedValue(Operation *op) {
  if (auto store = dyn_cast<sched::StoreOp>(op))
    return store.getValue();
  return cast<nn::WriteOp>(op).getValue();
}

/// The same for two homes exactly if they are one.
const void *keyOf(const Home &home) {
  return home.place ? home.place.getAsOpaquePointer() : home.slot.getAsOpaquePointer();
}
} // namespace

ActionPlan::ActionPlan(sched::ActionOp action, KernelCache &kernels, HomeLookup homeOf, EndsHere endsHere)
    : action(action), block(action.getBody().front()), kernels(kernels), homeOf(std::move(homeOf)),
      endsHere(std::move(endsHere)), builder(action.getContext()) {}

LogicalResult ActionPlan::run() {
  for (Operation &op : block)
    if (!isa<sched::ConstantOp, sched::LaunchOp, sched::LoadOp, sched::ReleaseOp, sched::StoreOp,
             sched::ViewOp, nn::ReadOp, nn::WriteOp>(op))
      return op.emitOpError() << "has no place in memory: the memory phase takes launches, views, constants, "
                                 "loads, stores and releases";
  copyLoadedValues();
  for (Operation &op : block)
    commandOf[&op] = end++;
  if (failed(createBuffers()))
    return failure();
  placeStores();
  if (failed(checkTransfers()))
    return failure();
  reuseOperands();
  listPieces();
  listSlots();
  return success();
}

/// A store of what was loaded or of a constant, or a second store of one value, stores a copy: then every
/// stored value is a launch's, and no slot is read after it was written.
void ActionPlan::copyLoadedValues() {
  llvm::DenseSet<Value> stored;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isStore(&op))
      continue;
    Value value = storedValue(&op), root = sched::rootOf(value);
    if (root.getDefiningOp<sched::LaunchOp>() && stored.insert(root).second)
      continue;
    KernelCall call;
    call.name = "copy";
    call.operands = call.results = {toTensorType(nn::tensorType(value))};
    builder.setInsertionPoint(&op);
    Value copy = createLaunch(builder, op.getLoc(), call, value).getResult(0);
    op.replaceUsesOfWith(value, copy);
    stored.insert(copy);
  }
}

LogicalResult ActionPlan::createBuffers() {
  for (Operation &op : block) {
    if (auto launch = dyn_cast<sched::LaunchOp>(op)) {
      const Kernel *kernel = kernels.lookup(launch);
      if (!kernel)
        return failure();
      kernelOf[launch] = kernel;
    }
    for (Value result : op.getResults())
      if (sched::rootOf(result) == result)
        addBuffer(&op, result);
    for (Value operand : op.getOperands()) {
      // A stored value must keep until the action ends, when it becomes the slot's.
      Buffer &buffer = bufferOf(operand);
      buffer.end = std::max(buffer.end, isStore(&op) ? end : commandOf[&op]);
    }
  }
  return success();
}

void ActionPlan::addBuffer(Operation *op, Value result) {
  Buffer buffer;
  buffer.bytes = alignPlace(nn::byteSize(nn::tensorType(result)));
  buffer.begin = buffer.end = commandOf[op];
  buffer.owner = result;
  if (auto constant = dyn_cast<sched::ConstantOp>(op))
    buffer.home.place = *constant.getPlace();
  else if (!isa<sched::LaunchOp>(op))
    buffer.home = homeOf(op);
  if (buffer.home)
    holders[keyOf(buffer.home)].push_back(buffers.size());
  index[result] = buffers.size();
  buffers.push_back(buffer);
}

ActionPlan::Buffer &ActionPlan::bufferOf(Value value) { return buffers[index.lookup(sched::rootOf(value))]; }

/// May the launch that defines `value` write it where the buffer `old` is? Only if `old` is read no later,
/// and by that launch itself only where the kernel allows aliasing.
bool ActionPlan::mayReplace(const Buffer &old, Value value) {
  auto launch = value.getDefiningOp<sched::LaunchOp>();
  if (!launch || old.end > commandOf[launch])
    return false;
  if (old.end < commandOf[launch])
    return true;
  auto result = static_cast<int>(cast<OpResult>(value).getResultNumber());
  for (auto [position, operand] : llvm::enumerate(launch.getInputs()))
    if (&bufferOf(operand) == &old &&
        (nn::byteSize(nn::tensorType(operand)) != nn::byteSize(nn::tensorType(value)) ||
         !kernelOf[launch]->mayAlias(static_cast<int>(position), result)))
      return false;
  return true;
}

void ActionPlan::placeStores() {
  for (Operation &op : block) {
    if (!isStore(&op))
      continue;
    Home home = homeOf(&op);
    Value value = sched::rootOf(storedValue(&op));
    SmallVector<size_t> &here = holders[keyOf(home)];
    if (llvm::all_of(here, [&](size_t holder) { return mayReplace(buffers[holder], value); })) {
      bufferOf(value).home = home;
      here.push_back(index.lookup(value));
    } else {
      copies.push_back({&op, home});
    }
  }
}

/// A transfer that `send` or `receive` begins is not over when the action ends: what is sent lies in memory
/// that outlives it, and what is received is written where its slot is, and read by nothing here.
LogicalResult ActionPlan::checkTransfers() {
  for (auto launch : block.getOps<sched::LaunchOp>()) {
    const std::optional<LineStep> step = lineStepOf(launch.getKernel().str());
    if (step == LineStep::Send)
      for (Value operand : launch.getInputs())
        if (!bufferOf(operand).home)
          return launch.emitOpError() << "sends a value that ends with this action, before the transfer "
                                         "does: store it to a slot, and send what is loaded from there";
    if (step != LineStep::Receive)
      continue;
    for (Value result : launch.getOutputs()) {
      if (Operation *reader = readerOf(result))
        return reader->emitOpError() << "reads what is only begun to be received: store it to a slot, and "
                                        "load it behind the receive_wait";
      if (!bufferOf(result).home)
        return launch.emitOpError() << "receives a value that has no slot of its own in this action: store "
                                       "it to one that is not loaded here";
    }
  }
  return success();
}

/// An op that reads the value; stores in place and views do not.
Operation *ActionPlan::readerOf(Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto view = dyn_cast<sched::ViewOp>(user)) {
      if (Operation *reader = readerOf(view.getResult()))
        return reader;
    } else if (!isStore(user)) {
      return user;
    }
  }
  return nullptr;
}

/// A result takes over the buffer of an operand that nothing reads afterwards.
void ActionPlan::reuseOperands() {
  for (auto launch : block.getOps<sched::LaunchOp>()) {
    llvm::DenseSet<size_t> taken;
    for (Value result : launch.getOutputs()) {
      const size_t own = index.lookup(result);
      for (Value operand : launch.getInputs()) {
        const size_t other = index.lookup(sched::rootOf(operand));
        Buffer &old = buffers[other];
        if (taken.contains(other) || old.end != commandOf[launch] || !mayTakeOver(buffers[own], old) ||
            !mayReplace(old, result))
          continue;
        taken.insert(other);
        old.end = buffers[own].end;
        if (buffers[own].home) {
          old.home = buffers[own].home;
          holders[keyOf(old.home)] = {other};
        }
        index[result] = other;
        break;
      }
    }
  }
}

/// Of two buffers without homes, always. A stored result may where its slot holds nothing else in this
/// action: then the slot begins where the operand did. A slot that ends here is an operand like any other.
bool ActionPlan::mayTakeOver(const Buffer &own, const Buffer &old) {
  auto isAlone = [&](const Home &home) { return home.slot && holders[keyOf(home)].size() == 1; };
  if (own.bytes != old.bytes || (own.home && old.home))
    return false;
  return (!own.home || isAlone(own.home)) && (!old.home || (isAlone(old.home) && endsHere(old.home.slot)));
}

void ActionPlan::listPieces() {
  llvm::DenseSet<size_t> listed;
  for (auto launch : block.getOps<sched::LaunchOp>())
    for (Value result : launch.getOutputs()) {
      const size_t number = index.lookup(result);
      Buffer &buffer = buffers[number];
      if (buffer.home || !listed.insert(number).second)
        continue;
      buffer.piece = lifetimes.size();
      pieceBuffers.push_back(number);
      lifetimes.push_back({buffer.bytes, buffer.begin, buffer.end});
    }
  for (auto launch : block.getOps<sched::LaunchOp>())
    if (int64_t bytes = alignPlace(kernelOf[launch]->workspaceBytes())) {
      workspaceOwners.push_back(launch);
      lifetimes.push_back({bytes, commandOf[launch], commandOf[launch]});
    }
}

void ActionPlan::listSlots() {
  for (const Buffer &buffer : buffers) {
    if (!buffer.home.slot || &bufferOf(buffer.owner) != &buffer)
      continue; // or its value is in another
    SlotUse &use = slotUses[buffer.home.slot];
    if (buffer.owner.getDefiningOp<sched::LaunchOp>())
      use.written = buffer.begin;
    else
      use.read = std::max(use.read.value_or(0), buffer.end);
  }
  for (const auto &[store, home] : copies)
    if (home.slot)
      slotUses[home.slot].written = end;
}

std::string ActionPlan::describe(size_t piece) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (isWorkspace(piece)) {
    sched::LaunchOp launch = workspaceOwners[piece - pieceBuffers.size()];
    stream << "workspace of " << launch.getKernel() << " at " << launch.getLoc();
    return text;
  }
  Value owner = buffers[pieceBuffers[piece]].owner;
  auto launch = owner.getDefiningOp<sched::LaunchOp>();
  stream << launch.getKernel() << " " << owner.getType() << " at " << launch.getLoc();
  return text;
}

sched::PlaceAttr ActionPlan::placeOf(Home home) { return home.slot ? *home.slot.getPlace() : home.place; }

sched::PlaceAttr ActionPlan::placeOf(const Buffer &buffer, ArrayRef<int64_t> offsets, StringAttr base) {
  if (buffer.home)
    return placeOf(buffer.home);
  return sched::PlaceAttr::get(builder.getContext(), base, offsets[buffer.piece]);
}

void ActionPlan::setPlaces(ArrayRef<int64_t> offsets, StringRef baseName) {
  StringAttr base = builder.getStringAttr(baseName);
  for (auto launch : block.getOps<sched::LaunchOp>()) {
    SmallVector<mlir::Attribute> places;
    for (Value result : launch.getOutputs())
      places.push_back(placeOf(bufferOf(result), offsets, base));
    launch.setPlacesAttr(builder.getArrayAttr(places));
    launch.setWorkspaceBytes(static_cast<uint64_t>(kernelOf[launch]->workspaceBytes()));
  }
  for (auto [launch, offset] : llvm::zip_equal(workspaceOwners, offsets.drop_front(pieceBuffers.size())))
    launch.setWorkspaceAttr(sched::PlaceAttr::get(builder.getContext(), base, offset));
  builder.setInsertionPointToEnd(&block);
  for (auto [store, home] : copies)
    sched::CopyOp::create(builder, store->getLoc(), storedValue(store), placeOf(home));
}

} // namespace weft
