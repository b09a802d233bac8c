//===- Fuse.cpp - Phase 11: kernels -------------------------------------------===//
//
// Per action: loss heads are merged, composites become kernels or their decomposition, element-wise regions
// one launch each, and every other op a launch of its own. Identities (boundaries, reshapes) become nothing,
// or views.
//
//===----------------------------------------------------------------------===//
#include "passes/fuse/Fuse.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/nn/ValueBuilder.h"
#include "dialects/sched/SchedDialect.h"
#include "kernels/collective/Collective.h"
#include "kernels/cpu/Cpu.h"
#include "passes/analysis/KernelCalls.h"
#include "passes/fuse/ErasePlacements.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_FUSE
#include "passes/fuse/Passes.h.inc"

namespace {
/// What became of the composites: name -> kernels, decompositions.
using CompositeCounts = std::map<std::string, std::pair<int64_t, int64_t>>;

class ActionFuser {
public:
  ActionFuser(sched::ActionOp action, bool regions, bool generated, CompositeCounts &counts,
              ApartCounts &apart)
      : block(action.getBody().front()), regions(regions), generated(generated), counts(counts),
        apart(apart) {}

  LogicalResult run() {
    moveStoresToEnd();
    castGatheredRows();
    llvm::DenseSet<Operation *> before; // collectives
    for (auto launch : block.getOps<sched::LaunchOp>())
      before.insert(launch);
    launchLossHeads(block);
    for (auto launch : block.getOps<sched::LaunchOp>())
      if (!before.contains(launch))
        ++counts[launch.getKernel().str()].first;
    decomposeComposites();
    roundConstants();
    removeIdentities();
    eraseUnused();
    groupElementwise(block, regions, apart);
    eraseUnused();
    return launchRest();
  }

private:
  /// Stores happen when the action ends: there they stand, in order, so that no launch comes after one.
  void moveStoresToEnd() {
    SmallVector<Operation *> stores;
    for (Operation &op : block)
      if (isa<sched::StoreOp, nn::WriteOp>(op))
        stores.push_back(&op);
    for (Operation *store : stores)
      store->moveBefore(&block, block.end());
  }

  /// Rows of a table that was cast are rows of the table, which are cast: fewer of them.
  void castGatheredRows() {
    for (auto gather : llvm::make_early_inc_range(block.getOps<nn::GatherOp>())) {
      auto cast = gather.getTable().getDefiningOp<nn::CastOp>();
      if (!cast)
        continue;
      OpBuilder builder(gather);
      nn::ValueBuilder b(builder, gather.getLoc());
      auto type = nn::tensorType(gather.getResult()), table = nn::tensorType(cast.getOperand());
      auto rows = nn::GatherOp::create(builder, gather.getLoc(), type.clone(table.getElementType()),
                                       cast.getOperand(), gather.getIndices());
      gather.replaceAllUsesWith(b.cast(rows, type.getElementType()));
      gather.erase();
    }
  }

  /// A decomposition may hold composites itself; the walk restarts at the first op that it added.
  void decomposeComposites() {
    for (Operation *op = block.empty() ? nullptr : &block.front(); op;) {
      Operation *next = op->getNextNode();
      if (auto composite = dyn_cast<nn::DecomposableOpInterface>(op)) {
        auto &[kernels, decompositions] = counts[op->getName().stripDialect().str()];
        std::optional<KernelCall> call = kernelCallFor(op);
        const bool isRegion = isNormRegion(op);
        if (call && cpu::takesCall(*call) && !isRegion) {
          ++kernels;
        } else {
          ++decompositions;
          OpBuilder builder(op);
          Operation *before = op->getPrevNode();
          const bool isAlone = isRegion && llvm::any_of(op->getResults().drop_front(), [](Value statistic) {
                                 return !statistic.use_empty();
                               });
          op->replaceAllUsesWith(composite.decompose(builder));
          next = before ? before->getNextNode() : &block.front();
          if (isAlone)
            setApart(next, op);
          op->erase();
        }
      }
      op = next;
    }
  }

  /// A norm that is generated is no slower than its kernel, and has its bits.
  bool isNormRegion(Operation *op) const {
    return regions && generated && isa<nn::RmsNormOp, nn::LayerNormOp>(op) &&
           reasonNoRows(nn::tensorType(op->getOperand(0)).getShape()).empty();
  }

  /// Ops from `first` to `end` become a region of their own: a norm whose statistics the backward reads may
  /// be computed again then, which needs its input, and would need more with other ops in its region.
  void setApart(Operation *first, Operation *end) {
    auto number = IntegerAttr::get(IntegerType::get(end->getContext(), 64), ++lastRegion);
    for (Operation *op = first; op != end; op = op->getNextNode())
      op->setAttr(kRegionAttribute, number);
  }

  /// A cast of a float constant is a constant, too.
  void roundConstants() {
    for (auto cast : llvm::make_early_inc_range(block.getOps<nn::CastOp>())) {
      auto constant = cast.getOperand().getDefiningOp<nn::ConstantOp>();
      auto wanted = dyn_cast<FloatType>(nn::tensorType(cast.getResult()).getElementType());
      if (!constant || !wanted || !constant.getValue().isSplat())
        continue;
      auto number = dyn_cast<FloatAttr>(constant.getValue().getSplatValue<mlir::Attribute>());
      if (!number)
        continue;
      OpBuilder builder(cast);
      nn::ValueBuilder b(builder, cast.getLoc());
      cast.replaceAllUsesWith(b.constant(nn::tensorType(cast.getResult()), number.getValueAsDouble()));
      cast.erase();
    }
  }

  void removeIdentities() {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      bool repeatsNothing =
          isa<nn::BroadcastOp>(op) && op.getOperand(0).getType() == op.getResult(0).getType();
      if (repeatsNothing || isa<nn::BoundaryOp, nn::LeafOp, nn::StopGradientOp>(op)) {
        op.replaceAllUsesWith(op.getOperands());
        op.erase();
      } else if (auto reshape = dyn_cast<nn::ReshapeOp>(op)) {
        OpBuilder builder(reshape);
        reshape.replaceAllUsesWith(
            sched::ViewOp::create(builder, reshape.getLoc(), reshape.getType(), reshape.getOperand())
                .getResult());
        reshape.erase();
      }
    }
  }

  void eraseUnused() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      auto launch = dyn_cast<sched::LaunchOp>(op);
      if (launch && meetsOtherRanks(launch.getKernel().str()))
        continue;
      if (op.use_empty() && (isMemoryEffectFree(&op) || launch || isa<nn::ReadOp, sched::LoadOp>(op)))
        op.erase();
    }
  }

  LogicalResult launchRest() {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<sched::SchedDialect>(op.getDialect()) || isa<nn::ReadOp, nn::WriteOp>(op))
        continue;
      if (auto constant = dyn_cast<nn::ConstantOp>(op)) {
        launchConstant(constant);
        continue;
      }
      std::optional<KernelCall> call = kernelCallFor(&op);
      if (!call || !(cpu::hasKernel(*call) || isRankKernel(call->name)))
        return op.emitOpError() << "has neither a kernel on the CPU nor a decomposition";
      OpBuilder builder(&op);
      op.replaceAllUsesWith(createLaunch(builder, op.getLoc(), *call, op.getOperands()));
      op.erase();
    }
    return success();
  }

  /// A splat is written by a launch, any other constant is held by the executable.
  void launchConstant(nn::ConstantOp constant) {
    OpBuilder builder(constant);
    if (!constant.getValue().isSplat() || nn::elementCount(constant.getResult()) <= 16) {
      constant.replaceAllUsesWith(sched::ConstantOp::create(builder, constant.getLoc(), constant.getType(),
                                                            constant.getValue(), sched::PlaceAttr())
                                      .getResult());
      constant.erase();
      return;
    }
    auto scalarType = RankedTensorType::get({}, nn::tensorType(constant.getResult()).getElementType());
    auto scalar = sched::ConstantOp::create(
        builder, constant.getLoc(), scalarType,
        cast<ElementsAttr>(mlir::Attribute(DenseElementsAttr::get(
            scalarType, ArrayRef<mlir::Attribute>{constant.getValue().getSplatValue<mlir::Attribute>()}))),
        sched::PlaceAttr());
    KernelCall call;
    call.name = "broadcast";
    call.operands = {toTensorType(scalarType)};
    call.results = {toTensorType(nn::tensorType(constant.getResult()))};
    call.setIntegers("dimensions", {});
    constant.replaceAllUsesWith(
        createLaunch(builder, constant.getLoc(), call, scalar.getResult()).getResult(0));
    constant.erase();
  }

  Block &block;
  bool regions, generated;
  int64_t lastRegion = 0;
  CompositeCounts &counts;
  ApartCounts &apart;
};

class FusePass : public impl::FuseBase<FusePass> {
public:
  using FuseBase::FuseBase;
  void runOnOperation() override {
    if (failed(erasePlacements(getOperation(), staged)))
      return signalPassFailure();
    CompositeCounts counts;
    ApartCounts apart;
    auto result = getOperation().walk([&](sched::ActionOp action) {
      return failed(ActionFuser(action, regions, generated, counts, apart).run()) ? WalkResult::interrupt()
                                                                                  : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    Builder builder(&getContext());
    SmallVector<NamedAttribute> rows;
    for (const auto &[name, count] : counts)
      rows.push_back(builder.getNamedAttr(name, builder.getDenseI64ArrayAttr({count.first, count.second})));
    getOperation()->setAttr("weft.composites", builder.getDictionaryAttr(rows));
    rows.clear();
    for (const auto &[reason, count] : apart)
      rows.push_back(builder.getNamedAttr(reason, builder.getI64IntegerAttr(count)));
    if (!rows.empty())
      getOperation()->setAttr("weft.apart", builder.getDictionaryAttr(rows));
  }
};
} // namespace
} // namespace weft
