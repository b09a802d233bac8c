//===- Schedule.cpp - Phase 9: programs of scheduled actions -----------------===//
//
// The trivial schedule of one device. What crosses between regions of a step (inputs, prepared and carried
// values, outputs) becomes slots; the regions become actions that load and store them.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/Schedule.h"

#include "dialects/nn/NnDialect.h"
#include "passes/pipeline/StepSlots.h"
#include "passes/pipeline/TreeFolds.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_SCHEDULE
#include "passes/pipeline/Passes.h.inc"

using namespace weft::nn;

namespace {

class StepScheduler {
public:
  explicit StepScheduler(StepOp step)
      : step(step), microbatches(static_cast<int64_t>(step.getMicrobatches())),
        program(OpBuilder(step), step.getLoc(), step.getSymName(), microbatches),
        folds(program, microbatches) {}

  void run() {
    inputs = inputsOf(step);
    addSlots();
    schedulePrepare();
    scheduleMicrobatch();
    folds.addActions();
    scheduleUpdate();
    program.addRun("prepare");
    for (int64_t index = 0; index < microbatches; ++index) {
      program.addRun("forward_backward", index);
      folds.addRunAfter(index);
    }
    program.addRun("update");
    step.erase();
  }

private:
  struct Carried {
    std::string slot;
    StringRef combiner;
  };

  void addSlots() {
    Location location = step.getLoc();
    for (const StepInput &input : inputs)
      program.addSlot(location, input.slot(), sched::SlotKind::input, input.part, input.perMicrobatch);
    auto prepared = cast<YieldOp>(step.getPrepare().front().getTerminator());
    for (auto [index, value] : llvm::enumerate(prepared.getValues()))
      program.addSlot(value.getLoc(), "prepared/" + Twine(index), sched::SlotKind::prepared, value.getType());
    auto carry = cast<CarryOp>(step.getMicrobatch().front().getTerminator());
    for (auto [name, combiner, value] :
         llvm::zip_equal(carry.getNames().getAsValueRange<StringAttr>(),
                         carry.getCombiners().getAsValueRange<StringAttr>(), carry.getValues())) {
      carried.push_back({("carried/" + name).str(), combiner});
      program.addSlot(value.getLoc(), carried.back().slot, sched::SlotKind::carried, value.getType());
      if (combiner == "tree")
        folds.addValue(carried.back().slot, value);
    }
    auto outputs = cast<YieldOp>(step.getUpdate().front().getTerminator());
    for (auto [index, value] : llvm::enumerate(outputs.getValues()))
      program.addSlot(value.getLoc(), "output/" + outputName(outputs, index), sched::SlotKind::output,
                      value.getType());
  }

  static StringRef outputName(YieldOp outputs, size_t index) {
    return cast<StringAttr>((*outputs.getNames())[index]).getValue();
  }

  void schedulePrepare() {
    auto yield = cast<YieldOp>(step.getPrepare().front().getTerminator());
    auto carry = cast<CarryOp>(step.getMicrobatch().front().getTerminator());
    sched::ActionOp action = program.addAction("prepare", step.getPrepare(), false);
    Block &block = action.getBody().front();
    for (auto [index, input] : llvm::enumerate(inputs)) {
      BlockArgument argument = block.getArgument(index);
      program.builder.setInsertionPointToStart(&block);
      if (!argument.use_empty())
        argument.replaceAllUsesWith(loadWhole(program.builder, argument.getLoc(), input, microbatches));
    }
    block.eraseArguments(0, block.getNumArguments());
    for (auto [index, value] : llvm::enumerate(yield.getValues()))
      program.store(block, value.getLoc(), "prepared/" + Twine(index), value);
    yield.erase();
    for (auto [entry, value] : llvm::zip_equal(carried, carry.getValues())) {
      if (!accumulates(entry))
        continue;
      program.builder.setInsertionPointToEnd(&block);
      ValueBuilder b(program.builder, value.getLoc());
      program.store(block, value.getLoc(), entry.slot, neutralElement(b, entry.combiner, tensorType(value)));
    }
  }

  bool accumulates(const Carried &entry) const { return weft::accumulates(entry.combiner, microbatches); }

  void scheduleMicrobatch() {
    auto carry = cast<CarryOp>(step.getMicrobatch().front().getTerminator());
    sched::ActionOp action = program.addAction("forward_backward", step.getMicrobatch(), true);
    Block &block = action.getBody().front();
    for (auto [index, input] : llvm::enumerate(inputs))
      program.loadArgument(block, index, input.slot());
    for (unsigned index = inputs.size(); index < block.getNumArguments(); ++index)
      program.loadArgument(block, index, "prepared/" + Twine(index - inputs.size()));
    block.eraseArguments(0, block.getNumArguments());
    for (auto [entry, value] : llvm::zip_equal(carried, carry.getValues())) {
      Value total = accumulates(entry) ? accumulate(carry, entry.slot, entry.combiner, value) : value;
      program.store(block, value.getLoc(), entry.slot, total);
    }
    carry.erase();
  }

  Value accumulate(CarryOp carry, StringRef slot, StringRef combiner, Value value) {
    OpBuilder &builder = program.builder;
    builder.setInsertionPoint(carry);
    Value before = sched::LoadOp::create(builder, value.getLoc(), value.getType(),
                                         builder.getStringAttr(slot), IntegerAttr());
    return combineCarried(builder, combiner, before, value);
  }

  void scheduleUpdate() {
    auto outputs = cast<YieldOp>(step.getUpdate().front().getTerminator());
    SmallVector<std::string> slots;
    for (const Carried &entry : carried)
      slots.push_back(entry.slot);
    for (auto slot : program.program.getBody().front().getOps<sched::SlotOp>())
      if (slot.getKind() == sched::SlotKind::prepared)
        slots.push_back(slot.getName().str());
    sched::ActionOp action = program.addAction("update", step.getUpdate(), false);
    Block &block = action.getBody().front();
    for (auto [index, slot] : llvm::enumerate(slots))
      program.loadArgument(block, index, slot);
    block.eraseArguments(0, block.getNumArguments());
    // A write takes effect when the step ends: it stands with the stores.
    for (auto write : llvm::to_vector(block.getOps<WriteOp>()))
      write->moveBefore(outputs);
    for (auto [index, value] : llvm::enumerate(outputs.getValues()))
      program.store(block, value.getLoc(), "output/" + outputName(outputs, index), value);
    outputs.erase();
  }

  StepOp step;
  int64_t microbatches;
  ProgramBuilder program;
  TreeFolds folds;
  SmallVector<StepInput> inputs;
  SmallVector<Carried> carried;
};

/// A function becomes a program of one action; its arguments and results are named by `nn.name`, else by
/// number.
LogicalResult scheduleFunction(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "has " << function.getBody().getBlocks().size()
                                  << " blocks; a program is made of one";
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (!isa<RankedTensorType>(type))
      return function.emitOpError() << "takes and returns tensors alone, got " << type;
  ProgramBuilder program(OpBuilder(function), function.getLoc(), function.getSymName(), 1);
  auto nameOf = [](DictionaryAttr attributes, size_t index) {
    if (attributes)
      if (auto name = attributes.getAs<StringAttr>("nn.name"))
        return name.getValue().str();
    return std::to_string(index);
  };
  SmallVector<std::string> inputs, outputs;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    inputs.push_back("input/" + nameOf(function.getArgAttrDict(index), index));
    program.addSlot(function.getLoc(), inputs.back(), sched::SlotKind::input, type);
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    outputs.push_back("output/" + nameOf(function.getResultAttrDict(index), index));
    program.addSlot(function.getLoc(), outputs.back(), sched::SlotKind::output, type);
  }
  sched::ActionOp action = program.addAction("run", function.getBody(), false);
  Block &block = action.getBody().front();
  for (auto [index, slot] : llvm::enumerate(inputs))
    program.loadArgument(block, index, slot);
  block.eraseArguments(0, block.getNumArguments());
  Operation *terminator = &block.back();
  for (auto [slot, value] : llvm::zip_equal(outputs, terminator->getOperands()))
    program.store(block, value.getLoc(), slot, value);
  terminator->erase();
  program.addRun("run");
  function.erase();
  return success();
}

class SchedulePass : public impl::ScheduleBase<SchedulePass> {
public:
  void runOnOperation() override {
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody())) {
      if (auto step = dyn_cast<StepOp>(op))
        StepScheduler(step).run();
      else if (auto function = dyn_cast<func::FuncOp>(op))
        if (failed(scheduleFunction(function)))
          return signalPassFailure();
    }
  }
};
} // namespace
} // namespace weft
