//===- ActionPlan.cpp - Places inside one action ------------------------------===//
//
// Every value has a buffer: the slot that it was loaded from, the slot that it will be stored to, or one of
// scratch. Three decisions, in this order: which stored values are computed in their slot, which results take
// over an operand's buffer, and where in scratch the rest lies.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/ActionPlan.h"

#include "dialects/nn/NnDialect.h"
#include "kernels/collective/Collective.h"
#include "kernels/cpu/Cpu.h"
#include "passes/analysis/KernelCalls.h"
#include "passes/memory/Memory.h"
#include "passes/memory/OffsetAssignment.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <limits>

using namespace mlir;

namespace weft {
namespace {
struct Buffer {
  int64_t bytes = 0;
  int64_t begin = 0, end = 0; ///< commands of the action; `end` is the last that reads it
  sched::PlaceAttr fixed;     ///< a slot's or constant's place; null for scratch
  Value owner;
};

class ActionPlanner {
public:
  ActionPlanner(sched::ActionOp action, KernelCache &kernels, PlaceLookup placeOf)
      : action(action), block(action.getBody().front()), kernels(kernels), placeOf(placeOf),
        builder(action.getContext()) {}

  FailureOr<ActionUse> run() {
    for (Operation &op : block)
      if (!isa<sched::ConstantOp, sched::LaunchOp, sched::LoadOp, sched::ReleaseOp, sched::StoreOp,
               sched::ViewOp, nn::ReadOp, nn::WriteOp>(op))
        return op.emitOpError()
               << "has no place in memory: the memory phase takes launches, views, constants, "
                  "loads, stores and releases";
    copyLoadedValues();
    number();
    if (failed(createBuffers()))
      return failure();
    placeStores();
    if (failed(checkTransfers()))
      return failure();
    reuseOperands();
    assignScratch();
    setPlaces();
    return use;
  }

private:
  bool isStore(Operation *op) { return isa<sched::StoreOp, nn::WriteOp>(op); }
  Value storedValue(Operation *op) {
    if (auto store = dyn_cast<sched::StoreOp>(op))
      return store.getValue();
    return cast<nn::WriteOp>(op).getValue();
  }

  /// A store of what was loaded or of a constant, or a second store of one value, stores a copy: then every
  /// stored value is a launch's, and no slot is read after it was written.
  void copyLoadedValues() {
    llvm::DenseSet<Value> stored;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isStore(&op))
        continue;
      Value value = storedValue(&op), root = rootOf(value);
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

  static Value rootOf(Value value) {
    while (auto view = value.getDefiningOp<sched::ViewOp>())
      value = view.getOperand();
    return value;
  }

  void number() {
    int64_t next = 0;
    for (Operation &op : block)
      commands[&op] = next++;
    end = next;
  }

  LogicalResult createBuffers() {
    for (Operation &op : block) {
      if (auto launch = dyn_cast<sched::LaunchOp>(op)) {
        const Kernel *kernel = kernels.lookup(launch);
        if (!kernel)
          return failure();
        kernelOf[launch] = kernel;
        use.workspaceBytes = std::max(use.workspaceBytes, alignPlace(kernel->workspaceBytes()));
      }
      for (Value result : op.getResults())
        if (rootOf(result) == result)
          addBuffer(&op, result);
      for (Value operand : op.getOperands()) {
        // A stored value must keep until the action ends, when it becomes the slot's.
        Buffer &buffer = bufferOf(operand);
        buffer.end = std::max(buffer.end, isStore(&op) ? end : commands[&op]);
      }
    }
    return success();
  }

  void addBuffer(Operation *op, Value result) {
    Buffer buffer;
    buffer.bytes = alignPlace(nn::byteSize(nn::tensorType(result)));
    buffer.begin = buffer.end = commands[op];
    buffer.owner = result;
    if (auto constant = dyn_cast<sched::ConstantOp>(op))
      buffer.fixed = *constant.getPlace();
    else if (!isa<sched::LaunchOp>(op))
      buffer.fixed = placeOf(op);
    index[result] = buffers.size();
    buffers.push_back(buffer);
  }

  Buffer &bufferOf(Value value) { return buffers[index.lookup(rootOf(value))]; }

  /// May the launch that defines `value` write it where the buffer `old` is? Only if `old` is read no later,
  /// and by that launch itself only where the kernel allows aliasing.
  bool mayReplace(const Buffer &old, Value value) {
    auto launch = value.getDefiningOp<sched::LaunchOp>();
    if (!launch || old.end > commands[launch])
      return false;
    if (old.end < commands[launch])
      return true;
    auto result = static_cast<int>(cast<OpResult>(value).getResultNumber());
    for (auto [position, operand] : llvm::enumerate(launch.getInputs()))
      if (&bufferOf(operand) == &old &&
          (nn::byteSize(nn::tensorType(operand)) != nn::byteSize(nn::tensorType(value)) ||
           !kernelOf[launch]->mayAlias(static_cast<int>(position), result)))
        return false;
    return true;
  }

  void placeStores() {
    llvm::DenseMap<mlir::Attribute, SmallVector<size_t>> holders; // buffers by their place
    for (auto [number, buffer] : llvm::enumerate(buffers))
      if (buffer.fixed)
        holders[buffer.fixed].push_back(number);
    for (Operation &op : block) {
      if (!isStore(&op))
        continue;
      sched::PlaceAttr place = placeOf(&op);
      Value value = rootOf(storedValue(&op));
      SmallVector<size_t> &here = holders[place];
      if (llvm::all_of(here, [&](size_t holder) { return mayReplace(buffers[holder], value); })) {
        bufferOf(value).fixed = place;
        here.push_back(index.lookup(value));
      } else {
        copies.push_back({&op, place});
      }
    }
  }

  /// A transfer that `send` or `receive` begins is not over when the action ends: what is sent lies in memory
  /// that outlives it, and what is received is written where its slot is, and read by nothing here.
  LogicalResult checkTransfers() {
    for (auto launch : block.getOps<sched::LaunchOp>()) {
      const std::optional<LineStep> step = lineStepOf(launch.getKernel().str());
      if (step == LineStep::Send)
        for (Value operand : launch.getInputs())
          if (!bufferOf(operand).fixed)
            return launch.emitOpError() << "sends a value that ends with this action, before the transfer "
                                           "does: store it to a slot, and send what is loaded from there";
      if (step != LineStep::Receive)
        continue;
      for (Value result : launch.getOutputs()) {
        if (Operation *reader = readerOf(result))
          return reader->emitOpError() << "reads what is only begun to be received: store it to a slot, and "
                                          "load it behind the receive_wait";
        if (!bufferOf(result).fixed)
          return launch.emitOpError() << "receives a value that has no slot of its own in this action: store "
                                         "it to one that is not loaded here";
      }
    }
    return success();
  }

  /// An op that reads the value; stores in place and views do not.
  Operation *readerOf(Value value) {
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
  void reuseOperands() {
    for (auto launch : block.getOps<sched::LaunchOp>()) {
      llvm::DenseSet<size_t> taken;
      for (Value result : launch.getOutputs()) {
        size_t own = index.lookup(result);
        if (buffers[own].fixed)
          continue;
        for (Value operand : launch.getInputs()) {
          size_t other = index.lookup(rootOf(operand));
          const Buffer &old = buffers[other];
          if (old.fixed || taken.contains(other) || old.bytes != buffers[own].bytes ||
              old.end != commands[launch] || !mayReplace(old, result))
            continue;
          taken.insert(other);
          buffers[other].end = buffers[own].end;
          index[result] = other;
          break;
        }
      }
    }
  }

  void assignScratch() {
    SmallVector<Lifetime> lifetimes;
    SmallVector<size_t> owners;
    llvm::DenseSet<size_t> used;
    for (auto launch : block.getOps<sched::LaunchOp>())
      for (Value result : launch.getOutputs())
        if (size_t buffer = index.lookup(result); !buffers[buffer].fixed && used.insert(buffer).second) {
          owners.push_back(buffer);
          lifetimes.push_back({buffers[buffer].bytes, buffers[buffer].begin, buffers[buffer].end});
        }
    OffsetPlan plan = assignOffsets(lifetimes, OffsetOrders::LargestFirst);
    for (auto [buffer, offset] : llvm::zip_equal(owners, plan.offsets))
      buffers[buffer].fixed =
          sched::PlaceAttr::get(builder.getContext(), builder.getStringAttr("scratch"), offset);
    use.scratchBytes = plan.peakBytes;
    recordPeak(lifetimes, owners, plan);
  }

  /// What is live at the peak, largest first, for people who ask where the memory goes.
  void recordPeak(ArrayRef<Lifetime> lifetimes, ArrayRef<size_t> owners, const OffsetPlan &plan) {
    SmallVector<std::pair<int64_t, size_t>> live;
    for (auto [position, lifetime] : llvm::enumerate(lifetimes))
      if (lifetime.begin <= plan.peakCommand && plan.peakCommand <= lifetime.end)
        live.push_back({lifetime.bytes, owners[position]});
    llvm::stable_sort(live, [](const auto &a, const auto &b) { return a.first > b.first; });
    SmallVector<mlir::Attribute> rows;
    for (auto [bytes, buffer] : live) {
      std::string what;
      llvm::raw_string_ostream stream(what);
      Operation *op = buffers[buffer].owner.getDefiningOp();
      stream << cast<sched::LaunchOp>(op).getKernel() << " " << buffers[buffer].owner.getType() << " at "
             << op->getLoc();
      rows.push_back(peakRow(builder, what, bytes));
    }
    action->setAttr(kPeakAttribute, builder.getArrayAttr(rows));
    action->setAttr(kLowerBoundAttribute, builder.getI64IntegerAttr(plan.lowerBound));
  }

  void setPlaces() {
    for (auto launch : block.getOps<sched::LaunchOp>()) {
      SmallVector<mlir::Attribute> places;
      for (Value result : launch.getOutputs())
        places.push_back(bufferOf(result).fixed);
      launch.setPlacesAttr(builder.getArrayAttr(places));
      int64_t workspaceBytes = kernelOf[launch]->workspaceBytes();
      launch.setWorkspaceBytes(static_cast<uint64_t>(workspaceBytes));
      if (workspaceBytes > 0)
        launch.setWorkspaceAttr(
            sched::PlaceAttr::get(builder.getContext(), builder.getStringAttr("workspace"), 0));
    }
    builder.setInsertionPointToEnd(&block);
    for (auto [store, place] : copies)
      sched::CopyOp::create(builder, store->getLoc(), storedValue(store), place);
  }

  sched::ActionOp action;
  Block &block;
  KernelCache &kernels;
  PlaceLookup placeOf;
  OpBuilder builder;
  ActionUse use;
  int64_t end = 0;
  llvm::DenseMap<Operation *, int64_t> commands;
  llvm::DenseMap<Operation *, const Kernel *> kernelOf;
  SmallVector<Buffer> buffers;
  llvm::DenseMap<Value, size_t> index;
  SmallVector<std::pair<Operation *, sched::PlaceAttr>> copies;
};
} // namespace

const Kernel *KernelCache::lookup(sched::LaunchOp launch) {
  auto [found, inserted] = kernels.try_emplace(identityOf(launch));
  if (!inserted)
    return found->second.get();
  KernelCall call = kernelCallOf(launch);
  absl::StatusOr<std::unique_ptr<Kernel>> kernel =
      isRankKernel(call.name) ? createRankKernel(call, nullptr) : cpu::createKernel(call);
  if (!kernel.ok()) {
    launch.emitOpError() << "cannot run on the CPU: " << std::string(kernel.status().message());
    return nullptr;
  }
  found->second = *std::move(kernel);
  return found->second.get();
}

FailureOr<ActionUse> planAction(sched::ActionOp action, KernelCache &kernels, PlaceLookup placeOf) {
  return ActionPlanner(action, kernels, placeOf).run();
}

} // namespace weft
