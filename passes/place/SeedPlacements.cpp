//===- SeedPlacements.cpp - A parallelism plan as a few placements -------------===//
#include "passes/place/Place.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/PlacementRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_SEEDPLACEMENTS
#include "passes/place/Passes.h.inc"

namespace {
using dist::Placement;

class Seeder {
public:
  Seeder(ModuleOp module, dist::MeshAttr mesh, int64_t zero, bool sequence, StringRef context)
      : module(module), symbols(module), mesh(mesh), zero(zero), sequence(sequence), context(context) {}

  LogicalResult run() {
    for (auto parameter : module.getOps<nn::ParameterOp>())
      seedParameter(parameter);
    for (auto state : module.getOps<nn::StateOp>())
      seedState(state);
    for (auto cache : module.getOps<nn::CacheOp>())
      cache->setAttr(kStorageAttribute, dist::attributeOf(tensorPlacement(cache, typeOf(cache))));
    for (auto step : module.getOps<nn::StepOp>())
      seedInputs(step);
    for (auto function : module.getOps<func::FuncOp>())
      for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
        if (auto tensor = dyn_cast<RankedTensorType>(type))
          function.setArgAttr(index, kAtAttribute, dist::attributeOf(batchPlacement(tensor)));
    module.walk([&](nn::BoundaryOp boundary) { seedBoundary(boundary); });
    if (context == "gather" || mesh.axesOf("context").empty())
      return success();
    return failure(module
                       .walk([&](Operation *op) {
                         bool isAttention = isa<nn::AttentionOp, nn::AttentionBackwardOp>(op);
                         if (isAttention && context == "ring" && hasKeyPerQuery(op))
                           op->setAttr("ring", UnitAttr::get(op->getContext()));
                         else if (isAttention && context == "all_to_all" && failed(seedAttention(op)))
                           return WalkResult::interrupt();
                         return WalkResult::advance();
                       })
                       .wasInterrupted());
  }

private:
  static RankedTensorType typeOf(Operation *variable) {
    return cast<RankedTensorType>(variable->getAttrOfType<TypeAttr>("type").getValue());
  }

  /// Split over the tensor axes along the dimension that the variable names for that, as far as that goes.
  Placement tensorPlacement(Operation *variable, RankedTensorType type) {
    Placement placement = dist::replicated(mesh, type.getRank());
    auto dimension = variable->getAttrOfType<IntegerAttr>("nn.tensor_dimension");
    if (!dimension || dimension.getInt() < 0 || dimension.getInt() >= type.getRank())
      return placement;
    dist::Split &split = placement.splits[dimension.getInt()];
    int64_t size = type.getDimSize(dimension.getInt());
    bool wholeParts = variable->hasAttr("nn.whole_parts");
    for (int64_t axis : mesh.axesOf("tensor")) {
      split.axes.push_back(axis);
      int64_t parts = mesh.sizeOf(split.axes);
      if (wholeParts ? size % parts != 0 : size < parts) {
        split.axes.pop_back();
        break;
      }
    }
    return placement;
  }

  void seedParameter(nn::ParameterOp parameter) {
    RankedTensorType type = typeOf(parameter);
    Placement use = tensorPlacement(parameter, type);
    parameter->setAttr(kUseAttribute, dist::attributeOf(use));
    parameter->setAttr(kStorageAttribute, dist::attributeOf(storageOf(parameter, type, use)));
  }

  /// The use, and with ZeRO one dimension split further over data_shard and context: that of
  /// `nn.row_dimension`, else the first that divides evenly, else the one of the largest parts.
  Placement storageOf(nn::ParameterOp parameter, RankedTensorType type, const Placement &use) {
    dist::Axes axes(mesh.axesOf("data_shard"));
    llvm::append_range(axes, mesh.axesOf("context"));
    if (zero < 1 || axes.empty() || type.getRank() == 0)
      return use;
    Placement storage = use;
    if (auto rows = parameter->getAttrOfType<IntegerAttr>(nn::kRowDimension);
        rows && rows.getInt() >= 0 && rows.getInt() < type.getRank()) {
      llvm::append_range(storage.splits[rows.getInt()].axes, axes);
      return storage;
    }
    int64_t parts = mesh.sizeOf(axes), best = -1, bestSize = 0;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      int64_t size = dist::partSize(mesh, type.getDimSize(dimension), use.splits[dimension]);
      bool even = size > 0 && type.getDimSize(dimension) % mesh.sizeOf(use.splits[dimension].axes) == 0 &&
                  size % parts == 0;
      if (even) {
        best = dimension;
        break;
      }
      if (size > bestSize)
        best = dimension, bestSize = size;
    }
    if (best >= 0)
      llvm::append_range(storage.splits[best].axes, axes);
    return storage;
  }

  /// Optimizer state, optimizer.KIND.PARAMETER, lives where its parameter lives.
  void seedState(nn::StateOp state) {
    RankedTensorType type = typeOf(state);
    mlir::Attribute storage = dist::attributeOf(dist::replicated(mesh, type.getRank()));
    auto [prefix, rest] = state.getSymName().split('.');
    auto owner = symbols.lookup<nn::ParameterOp>(rest.split('.').second);
    if (prefix == "optimizer" && owner && typeOf(owner).getShape() == type.getShape())
      storage = owner->getAttr(kStorageAttribute);
    state->setAttr(kStorageAttribute, storage);
  }

  /// The first dimension is the batch, split over `data` where it divides; the second the sequence, split
  /// over `context`.
  Placement batchPlacement(RankedTensorType type) {
    Placement placement = dist::replicated(mesh, type.getRank());
    ArrayRef<int64_t> axes = mesh.axesOf("data");
    if (type.getRank() > 0 && !axes.empty() && type.getDimSize(0) % mesh.sizeOf(axes) == 0)
      placement.splits[0].axes = dist::Axes(axes);
    if (type.getRank() > 1)
      placement.splits[1] = sequenceSplit(type.getDimSize(1), false);
    return placement;
  }

  /// How a sequence is split: over context, between layers further over tensor. In zigzag, which balances
  /// causal work, where attention is computed of parts, and both splits divide.
  dist::Split sequenceSplit(int64_t size, bool isBetweenLayers) {
    dist::Split split{dist::Axes(mesh.axesOf("context"))};
    dist::Axes finest = split.axes;
    if (sequence)
      llvm::append_range(finest, mesh.axesOf("tensor"));
    split.zigzag = !split.axes.empty() && context != "all_to_all" && size % (2 * mesh.sizeOf(finest)) == 0;
    if (isBetweenLayers)
      split.axes = finest;
    if (size < mesh.sizeOf(split.axes))
      split = {};
    return split;
  }

  void seedInputs(nn::StepOp step) {
    SmallVector<mlir::Attribute> placements;
    for (size_t index = 0; index < step.getInputNames().size(); ++index) {
      auto type = cast<RankedTensorType>(step.getMicrobatch().getArgument(index).getType());
      bool perMicrobatch = step.getPrepare().getArgument(index).getType() != type;
      placements.push_back(
          dist::attributeOf(perMicrobatch ? batchPlacement(type) : dist::replicated(mesh, type.getRank())));
    }
    step->setAttr(kInputsAttribute, ArrayAttr::get(module.getContext(), placements));
  }

  void seedBoundary(nn::BoundaryOp boundary) {
    RankedTensorType type = nn::tensorType(boundary.getResult());
    Placement placement = batchPlacement(type);
    if (type.getRank() > 1)
      placement.splits[1] = sequenceSplit(type.getDimSize(1), true);
    boundary->setAttr(kAtAttribute, dist::attributeOf(placement));
  }

  /// Of one sequence to itself, so that queries and keys are split alike; not of one new query to all keys.
  static bool hasKeyPerQuery(Operation *attention) {
    unsigned query = attention->getNumResults() == 2 ? 0 : 1; // behind the cotangent, in a backward
    return nn::tensorType(attention->getOperand(query)).getDimSize(1) ==
           nn::tensorType(attention->getOperand(query + 1)).getDimSize(1);
  }

  /// In an attention heads are split over context too, and the sequence is whole.
  LogicalResult seedAttention(Operation *op) {
    RankedTensorType type = nn::tensorType(op->getOperand(0));
    Placement placement = batchPlacement(type);
    placement.splits[1] = {};
    nn::ShardingRule rule = cast<nn::ShardingRuleOpInterface>(op).shardingRule();
    for (StringRef role : {"tensor", "context"})
      for (int64_t axis : mesh.axesOf(role)) {
        dist::Split finer = placement.splits[2];
        finer.axes.push_back(axis);
        if (nn::shareOut(rule, mesh, rule.operands[0][2], finer))
          placement.splits[2] = finer;
        else if (role == "context")
          return op->emitOpError()
                 << "has " << type.getDimSize(2) << " heads in "
                 << nn::tensorType(op->getOperand(op->getNumResults() == 2 ? 1 : 2)).getDimSize(2)
                 << " groups, split over " << dist::describe(mesh, placement.splits[2].axes)
                 << ": no whole number of groups, or of heads of one group, is left for "
                 << dist::describe(mesh, {axis})
                 << ". Keys and values can be gathered instead: context=gather";
      }
    op->setAttr(kAtAttribute, dist::attributeOf(placement));
    return success();
  }

  ModuleOp module;
  SymbolTable symbols;
  dist::MeshAttr mesh;
  int64_t zero;
  bool sequence;
  StringRef context; ///< how the positions of its ranks meet in attentions
};

class SeedPlacementsPass : public impl::SeedPlacementsBase<SeedPlacementsPass> {
public:
  using SeedPlacementsBase::SeedPlacementsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto mesh = module->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute);
    if (!mesh)
      return;
    if (zero < 0 || zero > 3) {
      module.emitError() << "zero is 0, 1, 2 or 3, got " << zero;
      return signalPassFailure();
    }
    if (context != "gather" && context != "all_to_all" && context != "ring") {
      module.emitError() << "context is gather, all_to_all or ring, got " << context;
      return signalPassFailure();
    }
    if (failed(Seeder(module, mesh, zero, sequence, context).run()))
      return signalPassFailure();
    module->setAttr(kZeroAttribute, IntegerAttr::get(IntegerType::get(&getContext(), 64), zero));
  }
};
} // namespace
} // namespace weft
