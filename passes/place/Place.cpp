//===- Place.cpp - Phase 5: where every value lives -----------------------------===//
//
// Regions of the step one after another: what crosses from one to the next keeps the placement that it has
// there. Microbatch spreads from parameters as they are used, update from variables as they are stored, so
// storage never decides how a layer computes.
//
//===----------------------------------------------------------------------===//
#include "passes/place/Place.h"

#include "passes/place/Assign.h"
#include "passes/place/ExpandMergeable.h"
#include "passes/place/PrepareParameters.h"
#include "passes/place/Propagate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_PLACE
#include "passes/place/Passes.h.inc"

namespace {
using dist::Placement;

Placement placementOf(mlir::Attribute attribute) {
  auto at = dyn_cast_or_null<dist::PlacementAttr>(attribute);
  return at ? dist::placementOf(at) : Placement();
}

class Placer {
public:
  Placer(ModuleOp module, dist::MeshAttr mesh, int64_t zero, bool explain)
      : module(module), symbols(module), mesh(mesh), zero(zero), explain(explain) {}

  LogicalResult run() {
    for (Operation &op : *module.getBody())
      if (nn::isVariable(&op) && failed(placeVariable(&op)))
        return failure();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      if (auto step = dyn_cast<nn::StepOp>(op); step && failed(placeStep(step)))
        return failure();
      if (auto function = dyn_cast<func::FuncOp>(op);
          function && !function.isExternal() && failed(placeFunction(function)))
        return failure();
    }
    return success();
  }

private:
  /// A seed, checked against the type that it is for; replicated where there is none.
  FailureOr<Placement> seedOf(Operation *op, mlir::Attribute attribute, RankedTensorType type,
                              StringRef what) {
    if (!attribute)
      return dist::replicated(mesh, type.getRank());
    Placement placement = placementOf(attribute);
    if (!placement || placement.mesh != mesh || placement.isPending() ||
        static_cast<int64_t>(placement.splits.size()) != type.getRank())
      return op->emitOpError() << "has " << what << " " << attribute
                               << ", which is no placement on the mesh for " << type
                               << ": one list of axes per dimension, nothing pending";
    if (failed(
            cast<dist::PlacementAttr>(attribute).verifyEncoding(type.getShape(), type.getElementType(), [&] {
              return op->emitOpError() << "has " << what << " of " << type << ": ";
            })))
      return failure();
    return placement;
  }

  LogicalResult placeVariable(Operation *op) {
    auto type = cast<RankedTensorType>(op->getAttrOfType<TypeAttr>("type").getValue());
    FailureOr<Placement> storage = seedOf(op, op->getAttr(kStorageAttribute), type, kStorageAttribute),
                         use = seedOf(op, op->getAttr(kUseAttribute), type, kUseAttribute);
    if (failed(storage) || failed(use))
      return failure();
    for (const Placement *placement : {&*storage, &*use})
      if (llvm::any_of(placement->splits, [](const dist::Split &split) { return split.zigzag; }))
        return op->emitOpError() << "is placed at " << dist::describe(*placement)
                                 << "; zigzag is for activations, the parts of variables are contiguous";
    uses[SymbolTable::getSymbolName(op)] = isa<nn::ParameterOp>(op) ? *use : *storage;
    storages[SymbolTable::getSymbolName(op)] = *storage;
    op->setAttr("type", TypeAttr::get(dist::globalType(type.getShape(), type.getElementType(), *storage)));
    return success();
  }

  LogicalResult setPlacement(Operation *op, Value value, const Placement &placement) {
    auto type = cast<RankedTensorType>(value.getType());
    if (static_cast<int64_t>(placement.splits.size()) != type.getRank())
      return op->emitOpError() << "cannot place " << type << " at " << dist::describe(placement);
    value.setType(dist::globalType(type.getShape(), type.getElementType(), placement));
    return success();
  }

  /// Seeds what a forward (and backward) block holds: parameters where they are read, boundaries.
  LogicalResult seedBlock(Block &block, Propagator &propagator) {
    for (Operation &op : block) {
      if (auto read = dyn_cast<nn::ReadOp>(op))
        propagator.seed(SeedLevel::Parameter, read.getResult(), uses[read.getVariable()],
                        ("the use of " + read.getVariable()).str());
      if (isa<nn::AttentionOp, nn::AttentionBackwardOp>(op) && failed(fixAttention(&op, propagator)))
        return failure();
      auto boundary = dyn_cast<nn::BoundaryOp>(op);
      if (!boundary || !boundary->hasAttr(kAtAttribute))
        continue;
      FailureOr<Placement> placement = seedOf(boundary, boundary->getAttr(kAtAttribute),
                                              nn::tensorType(boundary.getResult()), kAtAttribute);
      if (failed(placement))
        return failure();
      propagator.seed(SeedLevel::Boundary, boundary.getResult(), *placement,
                      "boundary " + std::to_string(boundary.getLayer()));
    }
    for (BlockArgument argument : block.getArguments())
      if (Placement placement = dist::placementOf(argument); placement && !placement.isPending())
        propagator.seed(SeedLevel::Input, argument, placement, nameOf(argument));
    return success();
  }

  /// An attention may say how its first operand is split there, whatever is around it.
  LogicalResult fixAttention(Operation *op, Propagator &propagator) {
    mlir::Attribute seed = op->getAttr(kAtAttribute);
    if (!seed)
      return success();
    FailureOr<Placement> placement = seedOf(op, seed, nn::tensorType(op->getOperand(0)), kAtAttribute);
    if (failed(placement))
      return failure();
    if (!propagator.fix(op, *placement, "the attention's own placement"))
      return op->emitOpError() << "cannot be at " << dist::describe(*placement)
                               << ": heads are split in whole groups, then within groups; queries where they "
                                  "know their positions";
    return success();
  }

  /// Spreads the seeds; with `explain`, says at each op which of them decided.
  void spread(Block &block, Propagator &propagator) {
    propagator.run();
    if (!explain)
      return;
    for (Operation &op : block)
      if (isa<nn::ShardingRuleOpInterface>(op))
        if (std::string reason = propagator.reason(&op); !reason.empty())
          op.setAttr(kReasonAttribute, StringAttr::get(module.getContext(), reason));
  }

  /// An argument as people know it.
  static std::string nameOf(BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    if (auto step = dyn_cast<nn::StepOp>(argument.getOwner()->getParentOp())) {
      size_t inputs = step.getInputNames().size();
      return number < inputs ? ("input " + cast<StringAttr>(step.getInputNames()[number]).getValue()).str()
                             : "prepared value " + std::to_string(number - inputs);
    }
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto name = function.getArgAttrOfType<StringAttr>(number, "nn.name");
    return name ? ("input " + name.getValue()).str() : "argument " + std::to_string(number);
  }

  LogicalResult placeInputs(nn::StepOp step) {
    auto seeds = step->getAttrOfType<ArrayAttr>(kInputsAttribute);
    size_t inputs = step.getInputNames().size();
    if (seeds && seeds.size() != inputs)
      return step.emitOpError() << "has " << seeds.size() << " placements in " << kInputsAttribute << " for "
                                << inputs << " inputs";
    for (size_t index = 0; index < inputs; ++index) {
      BlockArgument part = step.getMicrobatch().getArgument(index),
                    whole = step.getPrepare().getArgument(index);
      bool stacked = whole.getType() != part.getType();
      FailureOr<Placement> placement =
          seedOf(step, seeds ? seeds[index] : mlir::Attribute(), nn::tensorType(part), kInputsAttribute);
      if (failed(placement) || failed(setPlacement(step, part, *placement)))
        return failure();
      if (stacked)
        placement->splits.insert(placement->splits.begin(), dist::Split());
      if (failed(setPlacement(step, whole, *placement)))
        return failure();
    }
    return success();
  }

  LogicalResult placeStep(nn::StepOp step) {
    if (failed(placeInputs(step)) || failed(placePrepare(step)) || failed(placeMicrobatch(step)))
      return failure();
    return placeUpdate(step);
  }

  LogicalResult placePrepare(nn::StepOp step) {
    Block &block = step.getPrepare().front();
    Propagator propagator(block, mesh, paths);
    if (failed(seedBlock(block, propagator)))
      return failure();
    spread(block, propagator);
    BlockAssigner assigner(block, symbols, propagator, mesh, paths, false);
    if (failed(assigner.run()))
      return failure();
    // What every microbatch may read is reduced once.
    auto yield = cast<nn::YieldOp>(block.getTerminator());
    size_t inputs = step.getInputNames().size();
    size_t carried = cast<nn::CarryOp>(step.getMicrobatch().front().getTerminator()).getValues().size();
    for (OpOperand &operand : yield->getOpOperands()) {
      Placement placement = dist::placementOf(operand.get());
      placement.clearPending();
      operand.set(assigner.at(operand.get(), placement, yield));
      step.getMicrobatch().getArgument(inputs + operand.getOperandNumber()).setType(operand.get().getType());
      step.getUpdate().getArgument(carried + operand.getOperandNumber()).setType(operand.get().getType());
    }
    return success();
  }

  /// Where a parameter splits a reduction that is no sum, the reduction becomes one that it can split.
  void expand(Block &block) {
    expandMergeableReductions(block, [&](StringRef parameter) { return uses.lookup(parameter); });
  }

  LogicalResult placeMicrobatch(nn::StepOp step) {
    Block &block = step.getMicrobatch().front();
    expand(block);
    auto carry = cast<nn::CarryOp>(block.getTerminator());
    Propagator propagator(block, mesh, paths);
    if (failed(seedBlock(block, propagator)))
      return failure();
    // A gradient is computed where its parameter is used, if that can be.
    for (auto [nameAttribute, value] : llvm::zip_equal(carry.getNames(), carry.getValues()))
      if (StringRef name = cast<StringAttr>(nameAttribute).getValue(); name.consume_front("gradient/"))
        propagator.seed(SeedLevel::Parameter, value, uses.lookup(name.rsplit('/').first),
                        ("the gradient of " + name.rsplit('/').first).str());
    spread(block, propagator);
    BlockAssigner assigner(block, symbols, propagator, mesh, paths, zero == 3);
    if (failed(assigner.run()))
      return failure();
    for (OpOperand &operand : carry->getOpOperands()) {
      StringRef name = cast<StringAttr>(carry.getNames()[operand.getOperandNumber()]).getValue(),
                combiner = cast<StringAttr>(carry.getCombiners()[operand.getOperandNumber()]).getValue();
      Placement placement = dist::placementOf(operand.get());
      if (combiner != "sum")
        placement.sum.clear();
      if (combiner != "max")
        placement.max.clear();
      if (combiner != "tree")
        placement.tree.clear();
      placement.lse.clear();
      // The leaves of a tree stay where they are: those of one microbatch are no neighbors in it.
      if (zero >= 2 && combiner != "tree" && name.consume_front("gradient/"))
        placement = scattered(placement, storages.lookup(name.rsplit('/').first));
      operand.set(assigner.at(operand.get(), placement, carry));
      step.getUpdate().getArgument(operand.getOperandNumber()).setType(operand.get().getType());
    }
    if (zero < 3)
      prepareParameters(step);
    return success();
  }

  /// Where a gradient accumulates if it is sharded: its sums over the axes that split the storage are taken,
  /// all others wait for update.
  static Placement scattered(const Placement &gradient, Placement storage) {
    for (int64_t axis : gradient.sum)
      if (!llvm::any_of(storage.splits,
                        [&](const dist::Split &split) { return llvm::is_contained(split.axes, axis); }))
        storage.sum.push_back(axis);
    return storage;
  }

  LogicalResult placeUpdate(nn::StepOp step) {
    Block &block = step.getUpdate().front();
    Propagator propagator(block, mesh, paths);
    for (Operation &op : block) {
      if (auto read = dyn_cast<nn::ReadOp>(op))
        propagator.seed(SeedLevel::Parameter, read.getResult(), storages[read.getVariable()],
                        ("the storage of " + read.getVariable()).str());
      if (auto write = dyn_cast<nn::WriteOp>(op))
        propagator.seed(SeedLevel::Parameter, write.getValue(), storages[write.getVariable()],
                        ("the storage of " + write.getVariable()).str());
    }
    spread(block, propagator);
    BlockAssigner assigner(block, symbols, propagator, mesh, paths, false);
    return failed(assigner.run()) ? failure() : placeOutputs(block, assigner);
  }

  /// What leaves the program is whole on every rank.
  LogicalResult placeOutputs(Block &block, BlockAssigner &assigner) {
    Operation *terminator = block.getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      operand.set(assigner.at(operand.get(), dist::replicated(mesh, nn::tensorType(operand.get()).getRank()),
                              terminator));
    return success();
  }

  LogicalResult placeFunction(func::FuncOp function) {
    if (!function.getBody().hasOneBlock())
      return function.emitOpError() << "has several blocks; a program on a mesh is made of one";
    Block &block = function.getBody().front();
    for (auto [index, argument] : llvm::enumerate(block.getArguments())) {
      FailureOr<Placement> placement = seedOf(function, function.getArgAttr(index, kAtAttribute),
                                              cast<RankedTensorType>(argument.getType()), kAtAttribute);
      if (failed(placement) || failed(setPlacement(function, argument, *placement)))
        return failure();
      function.removeArgAttr(index, kAtAttribute);
    }
    expand(block);
    Propagator propagator(block, mesh, paths);
    if (failed(seedBlock(block, propagator)))
      return failure();
    spread(block, propagator);
    BlockAssigner assigner(block, symbols, propagator, mesh, paths, false);
    if (failed(assigner.run()) || failed(placeOutputs(block, assigner)))
      return failure();
    function.setType(FunctionType::get(module.getContext(), block.getArgumentTypes(),
                                       block.getTerminator()->getOperandTypes()));
    return success();
  }

  ModuleOp module;
  SymbolTable symbols;
  dist::MeshAttr mesh;
  int64_t zero;
  bool explain;
  llvm::StringMap<Placement> uses, storages;
  ReshardPaths paths;
};

class PlacePass : public impl::PlaceBase<PlacePass> {
public:
  using PlaceBase::PlaceBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto mesh = module->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute);
    if (!mesh)
      return;
    auto zero = module->getAttrOfType<IntegerAttr>(kZeroAttribute);
    if (failed(Placer(module, mesh, zero ? zero.getInt() : 0, explain).run()))
      signalPassFailure();
  }
};
} // namespace
} // namespace weft
