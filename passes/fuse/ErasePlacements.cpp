#include "passes/fuse/ErasePlacements.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/FactorPlacement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/ValueBuilder.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/analysis/KernelCalls.h"
#include "passes/analysis/LocationText.h"
#include "passes/fuse/UnrollRings.h"

using namespace mlir;

namespace weft {
namespace {
using dist::Placement;

Type erased(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding() ? dist::withoutPlacement(tensor) : type;
}

std::vector<int64_t> axesOf(dist::MeshAttr mesh, ArrayAttr names) {
  std::vector<int64_t> axes;
  for (StringRef name : names.getAsValueRange<StringAttr>())
    axes.push_back(mesh.indexOf(name));
  return axes;
}

class BlockEraser {
public:
  BlockEraser(Block &block, bool isStaged) : block(block), isStaged(isStaged) {}

  LogicalResult run() {
    unrollRings(block, isStaged);
    // A wait goes with its start.
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      if (!isa<dist::WaitOp>(op) &&
          (isa<nn::ShardingRuleOpInterface>(op) || isa<dist::DistDialect>(op.getDialect())))
        ops.push_back(&op);
    for (Operation *op : ops) {
      if (isa<dist::ReshardOp>(op))
        return op->emitOpError() << "is of the global view; partition comes before fuse";
      if (auto shardable = dyn_cast<nn::ShardingRuleOpInterface>(op))
        knowPart(op, shardable.shardingRule());
      else if (failed(launch(op)))
        return failure();
    }
    for (Operation &op : block) {
      for (Value result : op.getResults())
        result.setType(erased(result.getType()));
      if (auto constant = dyn_cast<nn::ConstantOp>(op))
        constant.setValueAttr(
            cast<DenseElementsAttr>(constant.getValue()).reshape(nn::tensorType(constant.getResult())));
    }
    return success();
  }

private:
  /// What an op must know of the part that its rank has: indices become relative to it, and an op that takes
  /// valid elements alone is told their number where there are others.
  static void knowPart(Operation *op, const nn::ShardingRule &rule) {
    for (auto [factor, operand] : rule.indices)
      if (std::optional<nn::FactorPlacement> at = nn::factorPlacement(op, rule, factor))
        shiftIndices(op, operand, *at, llvm::is_contained(rule.takesValid, factor));
    if (std::optional<nn::FactorPlacement> at = nn::paddedFactor(op, rule)) {
      OpBuilder builder(op);
      op->insertOperands(op->getNumOperands(), partNumber(builder, op->getLoc(), "rank_valid", *at));
    }
  }

  /// Indices less the part's start reach what the rank has, and others are out of range: unless they would
  /// reach the padding behind the part, which `opKnowsPadding` says the op leaves out itself.
  static void shiftIndices(Operation *op, int operand, const nn::FactorPlacement &at, bool opKnowsPadding) {
    OpBuilder builder(op);
    nn::ValueBuilder b(builder, op->getLoc());
    Value indices = op->getOperand(operand);
    // Built without placements, like all that follows.
    auto plain = dist::withoutPlacement(nn::tensorType(indices));
    auto spread = [&](Value number) {
      Value repeated = b.broadcast(b.cast(number, plain.getElementType()), plain.getShape(), {});
      repeated.setType(indices.getType());
      return repeated;
    };
    Value shifted = b.sub(indices, spread(partNumber(builder, op->getLoc(), "rank_offset", at)));
    if (!opKnowsPadding && !at.isEven()) {
      Value valid = spread(partNumber(builder, op->getLoc(), "rank_valid", at));
      shifted = b.select(b.compare(nn::Comparison::lt, shifted, valid), shifted, b.splat(shifted, -1));
    }
    op->setOperand(operand, shifted);
  }

  /// A number of the rank's part, a scalar i64.
  static Value partNumber(OpBuilder &builder, Location location, const char *kernel,
                          const nn::FactorPlacement &at) {
    KernelCall call;
    call.name = kernel;
    call.results = {{DType::I64, {}}};
    call.setIntegers("axes", {at.split.axes.begin(), at.split.axes.end()});
    call.setInteger("size", at.size);
    return createLaunch(builder, location, call, {}).getResult(0);
  }

  LogicalResult launch(Operation *op) {
    if (auto term = dyn_cast<dist::TermOp>(op)) {
      term.replaceAllUsesWith(term.getOperand());
      term.erase();
      return success();
    }
    if (isa<dist::SendOp, dist::SendWaitOp, dist::ReceiveOp, dist::ReceiveWaitOp>(op))
      return launchMessage(op);
    KernelCall call;
    Placement placement = dist::placementOf(op->getOperand(0));
    dist::MeshAttr mesh = placement.mesh;
    auto kindOf = [](dist::PendingKind kind) { return dist::stringifyPendingKind(kind).str(); };
    auto setZigzag = [&](StringRef key, Type type, int64_t dimension) {
      if (dist::placementOf(type).splits[dimension].zigzag)
        call.setInteger(key.str(), 1);
    };
    if (auto gather = dyn_cast<dist::AllGatherStartOp>(op)) {
      call.name = "all_gather";
      call.setIntegers("axes", axesOf(mesh, gather.getAxes()));
      call.setInteger("dimension", static_cast<int64_t>(gather.getDimension()));
      setZigzag("zigzag", gather.getOperand().getType(), static_cast<int64_t>(gather.getDimension()));
    } else if (auto reduce = dyn_cast<dist::AllReduceStartOp>(op)) {
      call.name = "all_reduce";
      call.setIntegers("axes", axesOf(mesh, reduce.getAxes()));
      call.setText("kind", kindOf(reduce.getKind()));
    } else if (auto scatter = dyn_cast<dist::ReduceScatterStartOp>(op)) {
      call.name = "reduce_scatter";
      call.setIntegers("axes", axesOf(mesh, scatter.getAxes()));
      call.setInteger("dimension", static_cast<int64_t>(scatter.getDimension()));
      setZigzag("zigzag", scatter.getToken().getType().getTensor(),
                static_cast<int64_t>(scatter.getDimension()));
      call.setText("kind", kindOf(scatter.getKind()));
    } else if (auto exchange = dyn_cast<dist::AllToAllStartOp>(op)) {
      call.name = "all_to_all";
      call.setIntegers("axes", axesOf(mesh, exchange.getAxes()));
      call.setInteger("split_dimension", static_cast<int64_t>(exchange.getTo()));
      call.setInteger("concat_dimension", static_cast<int64_t>(exchange.getFrom()));
      setZigzag("split_zigzag", exchange.getToken().getType().getTensor(),
                static_cast<int64_t>(exchange.getTo()));
      setZigzag("concat_zigzag", exchange.getOperand().getType(), static_cast<int64_t>(exchange.getFrom()));
    } else if (auto slice = dyn_cast<dist::SliceOp>(op)) {
      call.name = "rank_slice";
      call.setIntegers("axes", axesOf(mesh, slice.getAxes()));
      call.setInteger("dimension", static_cast<int64_t>(slice.getDimension()));
      setZigzag("zigzag", slice.getType(), static_cast<int64_t>(slice.getDimension()));
    } else if (auto first = dyn_cast<dist::KeepFirstOp>(op)) {
      call.name = "rank_first";
      call.setIntegers("axes", axesOf(mesh, first.getAxes()));
    } else if (auto mask = dyn_cast<dist::MaskOp>(op)) {
      auto dimension = static_cast<int64_t>(mask.getDimension());
      const dist::Axes &axes = placement.splits[dimension].axes;
      call.name = "rank_mask";
      call.setIntegers("axes", {axes.begin(), axes.end()});
      call.setInteger("dimension", dimension);
      call.setInteger("size", dist::wholeShape(nn::tensorType(mask.getResult()))[dimension]);
      call.setNumber("value", mask.getValue().convertToDouble());
    } else {
      return op->emitOpError() << "has no kernel";
    }
    if (isStaged && waits(op))
      call.setInteger("staged", ranksOver(mesh, call.attributes["axes"].integers));
    // Ranks that meet in different collectives are told which.
    if (std::string where = locationText(op->getLoc()); waits(op) && !where.empty())
      call.setText("location", where);
    replace(op, call);
    return success();
  }

  /// What one rank of the pipeline does on its line to another.
  LogicalResult launchMessage(Operation *op) {
    auto mesh = op->getParentOfType<ModuleOp>()->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute);
    if (!mesh)
      return op->emitOpError() << "expects a module with the attribute " << dist::kMeshAttribute;
    KernelCall call;
    call.name = op->getName().stripDialect().str();
    const bool sends = isa<dist::SendOp, dist::SendWaitOp>(op);
    auto names = op->getAttrOfType<ArrayAttr>("axes");
    for (StringRef name : names.getAsValueRange<StringAttr>())
      if (mesh.indexOf(name) < 0)
        return op->emitOpError() << "names the axis \"" << name << "\", which " << mesh << " does not have";
    call.setIntegers("axes", axesOf(mesh, names));
    call.setInteger("peer", op->getAttrOfType<IntegerAttr>(sends ? "to" : "from").getInt());
    // Both ends say where the value is from; a wait is for whatever is next.
    const bool begins = isa<dist::SendOp, dist::ReceiveOp>(op);
    if (std::string where = locationText(op->getLoc()); begins && !where.empty())
      call.setText("location", where);
    for (Value operand : op->getOperands())
      call.operands.push_back(toTensorType(nn::tensorType(operand)));
    for (Value result : op->getResults())
      call.results.push_back(toTensorType(nn::tensorType(result)));
    OpBuilder builder(op);
    op->replaceAllUsesWith(createLaunch(builder, op->getLoc(), call, op->getOperands()));
    op->erase();
    return success();
  }

  static int64_t ranksOver(dist::MeshAttr mesh, ArrayRef<int64_t> axes) {
    int64_t ranks = 1;
    for (int64_t axis : axes)
      ranks *= mesh.getSizes()[axis];
    return ranks;
  }

  static bool waits(Operation *op) { return isa<dist::TokenType>(op->getResult(0).getType()); }

  void replace(Operation *op, KernelCall &call) {
    Value result = op->getResult(0);
    Operation *waiting = nullptr;
    if (auto token = dyn_cast<dist::TokenType>(result.getType())) {
      waiting = *result.getUsers().begin();
      result = waiting->getResult(0);
    }
    call.operands = {toTensorType(nn::tensorType(op->getOperand(0)))};
    call.results = {toTensorType(nn::tensorType(result))};
    OpBuilder builder(op);
    Value launched = createLaunch(builder, op->getLoc(), call, op->getOperand(0)).getResult(0);
    launched.setType(result.getType()); // until all types are erased
    result.replaceAllUsesWith(launched);
    if (waiting)
      waiting->erase();
    op->erase();
  }

  Block &block;
  bool isStaged;
};
} // namespace

LogicalResult erasePlacements(ModuleOp module, bool isStaged) {
  auto eraseType = [](Operation *op) {
    auto type = cast<RankedTensorType>(op->getAttrOfType<TypeAttr>("type").getValue());
    if (!type.getEncoding())
      return;
    op->setAttr(dist::kPlacementAttribute, type.getEncoding());
    op->setAttr("type", TypeAttr::get(erased(type)));
  };
  auto result = module.walk([&](Operation *op) {
    if (nn::isVariable(op) || isa<sched::SlotOp>(op))
      eraseType(op);
    if (auto action = dyn_cast<sched::ActionOp>(op))
      if (failed(BlockEraser(action.getBody().front(), isStaged).run()))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace weft
