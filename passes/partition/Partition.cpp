//===- Partition.cpp - Phase 6: one rank's part --------------------------------===//
//
// Sharding rules say that an op on parts computes the part of its result, or a term of it, so ops stay as
// they are and their types change; all communication comes from reshards.
//
//===----------------------------------------------------------------------===//
#include "passes/partition/Partition.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/PlacementRules.h"
#include "passes/analysis/ReshardPath.h"
#include "passes/partition/WriteRing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_PARTITION
#include "passes/partition/Passes.h.inc"

namespace {
using dist::Placement;

Type toLocal(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Placement placement = dist::placementOf(type);
  if (!placement || dist::isLocal(type))
    return type;
  return dist::localType(tensor.getShape(), tensor.getElementType(), placement);
}

class BlockPartitioner {
public:
  BlockPartitioner(Block &block, ReshardPaths &paths) : block(block), paths(paths) {}

  LogicalResult run() {
    for (BlockArgument argument : block.getArguments())
      argument.setType(toLocal(argument.getType()));
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto reshard = dyn_cast<dist::ReshardOp>(op)) {
        lower(reshard);
        continue;
      }
      if (goesAround(&op)) {
        if (failed(writeRing(&op)))
          return failure();
        continue;
      }
      if (auto shardable = dyn_cast<nn::ShardingRuleOpInterface>(op))
        maskOperands(&op, shardable.shardingRule());
      for (Value result : op.getResults())
        result.setType(toLocal(result.getType()));
      if (auto constant = dyn_cast<nn::ConstantOp>(op))
        shrink(constant);
    }
    return success();
  }

private:
  /// Only a splat is split; any other constant is whole everywhere.
  void shrink(nn::ConstantOp constant) {
    auto value = cast<DenseElementsAttr>(constant.getValue());
    RankedTensorType type = nn::tensorType(constant.getResult());
    constant.setValueAttr(value.isSplat() ? value.resizeSplat(type) : value.reshape(type));
  }

  void lower(dist::ReshardOp reshard) {
    auto to = cast<RankedTensorType>(reshard.getType());
    Value value = reshard.getOperand();
    auto type = cast<RankedTensorType>(value.getType());
    OpBuilder builder(reshard);
    for (const ReshardStep &step : paths.find(type, dist::placementOf(to)))
      value = build(builder, reshard.getLoc(), step, value, to);
    reshard.replaceAllUsesWith(value);
    reshard.erase();
  }

  Value build(OpBuilder &builder, Location location, const ReshardStep &step, Value value,
              RankedTensorType whole) {
    RankedTensorType type = dist::localType(whole.getShape(), whole.getElementType(), step.after);
    SmallVector<mlir::Attribute> names;
    for (int64_t axis : step.axes)
      names.push_back(step.after.mesh.getNames()[axis]);
    ArrayAttr axes = builder.getArrayAttr(names);
    auto token = dist::TokenType::get(builder.getContext(), type);
    switch (step.kind) {
    case ReshardKind::Slice:
      return dist::SliceOp::create(builder, location, type, value, axes, step.dimension);
    case ReshardKind::KeepFirst:
      return dist::KeepFirstOp::create(builder, location, type, value, axes);
    case ReshardKind::AllGather:
      return wait(builder, location, type,
                  dist::AllGatherStartOp::create(builder, location, token, value, axes, step.dimension));
    case ReshardKind::AllReduce:
      return wait(builder, location, type,
                  dist::AllReduceStartOp::create(builder, location, token, step.pending, value, axes));
    case ReshardKind::ReduceScatter:
      return wait(builder, location, type,
                  dist::ReduceScatterStartOp::create(builder, location, token, step.pending, value, axes,
                                                     step.dimension));
    case ReshardKind::AllToAll:
      return wait(
          builder, location, type,
          dist::AllToAllStartOp::create(builder, location, token, value, axes, step.dimension, step.target));
    }
    llvm_unreachable("all kinds are listed");
  }

  static Value wait(OpBuilder &builder, Location location, RankedTensorType type, Value token) {
    return dist::WaitOp::create(builder, location, type, token);
  }

  /// Masks what an op would reduce over a dimension with padded parts.
  void maskOperands(Operation *op, const nn::ShardingRule &rule) {
    for (auto [index, dimensions] : llvm::enumerate(rule.operands)) {
      Value operand = op->getOperand(index);
      Placement placement = dist::placementOf(operand);
      if (!placement)
        continue;
      for (auto [dimension, factors] : llvm::enumerate(dimensions)) {
        ArrayRef<int64_t> whole = dist::wholeShape(nn::tensorType(operand));
        if (factors.size() != 1 ||
            dist::dividesEvenly(placement.mesh, whole[dimension], placement.splits[dimension]))
          continue;
        std::optional<double> neutral = nn::neutralElement(rule, factors[0], placement.splits[dimension]);
        if (!neutral)
          continue;
        OpBuilder builder(op);
        operand =
            dist::MaskOp::create(builder, op->getLoc(), operand, static_cast<int64_t>(dimension), *neutral);
        op->setOperand(index, operand);
      }
    }
  }

  Block &block;
  ReshardPaths &paths;
};

class PartitionPass : public impl::PartitionBase<PartitionPass> {
public:
  void runOnOperation() override {
    ReshardPaths paths;
    for (Operation &op : *getOperation().getBody()) {
      if (nn::isVariable(&op))
        op.setAttr("type", TypeAttr::get(toLocal(op.getAttrOfType<TypeAttr>("type").getValue())));
      for (Region &region : op.getRegions())
        for (Block &block : region)
          if (failed(BlockPartitioner(block, paths).run()))
            return signalPassFailure();
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        auto local = [](TypeRange types) { return llvm::map_to_vector(types, toLocal); };
        function.setType(FunctionType::get(&getContext(), local(function.getArgumentTypes()),
                                           local(function.getResultTypes())));
      }
    }
  }
};
} // namespace
} // namespace weft
