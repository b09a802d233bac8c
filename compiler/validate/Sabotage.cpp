#include "compiler/validate/Sabotage.h"

#include "compiler/interpret/PipelinePrograms.h"
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/ValueBuilder.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/analysis/PipelineModules.h"

#include <vector>

using namespace mlir;

namespace weft {
namespace {

/// Applies `change` to the ops of one kind, in order, until it says that it did something.
template <typename OpTy, typename Change> bool changeFirst(ModuleOp module, Change change) {
  return module.walk([&](OpTy op) { return change(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

Value waited(Operation *start) { return (*start->user_begin())->getResult(0); }

bool bypass(Operation *op) {
  op->getResult(0).replaceAllUsesWith(op->getOperand(0));
  return true;
}

bool dropReduction(ModuleOp module) {
  return changeFirst<dist::AllReduceStartOp>(module, [](dist::AllReduceStartOp reduce) {
    waited(reduce).replaceAllUsesWith(reduce.getOperand());
    return true;
  });
}

bool doubleReduction(ModuleOp module) {
  return changeFirst<dist::AllReduceStartOp>(module, [](dist::AllReduceStartOp reduce) {
    if (reduce.getKind() != dist::PendingKind::sum)
      return false;
    Value once = waited(reduce);
    OpBuilder builder(reduce.getContext());
    builder.setInsertionPointAfterValue(once);
    Value start = dist::AllReduceStartOp::create(builder, reduce.getLoc(), reduce.getToken().getType(),
                                                 reduce.getKind(), once, reduce.getAxes());
    Value twice = dist::WaitOp::create(builder, reduce.getLoc(), once.getType(), start);
    once.replaceAllUsesExcept(twice, start.getDefiningOp());
    return true;
  });
}

bool swapAxis(ModuleOp module) {
  return changeFirst<dist::AllReduceStartOp>(module, [](dist::AllReduceStartOp reduce) {
    dist::MeshAttr mesh = dist::placementOf(reduce.getOperand()).mesh;
    for (StringAttr name : mesh.getNames())
      if (!llvm::is_contained(reduce.getAxes(), name)) {
        reduce.setAxesAttr(ArrayAttr::get(reduce.getContext(), {name}));
        return true;
      }
    return false;
  });
}

bool wrongDimension(ModuleOp module) {
  return changeFirst<dist::AllGatherStartOp>(module, [](dist::AllGatherStartOp gather) {
    auto rank = static_cast<uint64_t>(cast<RankedTensorType>(gather.getOperand().getType()).getRank());
    if (rank < 2)
      return false;
    gather.setDimension((gather.getDimension() + 1) % rank);
    return true;
  });
}

bool wrongNeutral(ModuleOp module) {
  bool isChanged = false;
  module.walk([&](dist::MaskOp mask) {
    mask.setValue(APFloat(1.0));
    isChanged = true;
  });
  return isChanged;
}

bool missingMask(ModuleOp module) {
  return changeFirst<dist::MaskOp>(module, [](dist::MaskOp mask) { return bypass(mask); });
}

bool skipKeepFirst(ModuleOp module) {
  return changeFirst<dist::KeepFirstOp>(module, [](dist::KeepFirstOp first) { return bypass(first); });
}

/// The table loses the split that says where its part begins.
bool unshiftedIndices(ModuleOp module) {
  return changeFirst<nn::GatherOp>(module, [](nn::GatherOp gather) {
    auto type = cast<RankedTensorType>(gather.getTable().getType());
    dist::Placement placement = dist::placementOf(type);
    if (!placement || placement.splits[0].axes.empty())
      return false;
    OpBuilder builder(gather);
    RankedTensorType whole = dist::localType(type.getShape(), type.getElementType(),
                                             dist::replicated(placement.mesh, type.getRank()));
    gather->setOperand(0, nn::ReshapeOp::create(builder, gather.getLoc(), whole, gather.getTable()));
    return true;
  });
}

/// Of all blocks that a ring meets, the last one counts.
bool lastBlockAlone(ModuleOp module) {
  return changeFirst<nn::AttentionMergeOp>(module, [](nn::AttentionMergeOp merge) {
    merge->replaceAllUsesWith(ValueRange{merge.getOtherOutput(), merge.getOtherLse()});
    return true;
  });
}

/// The block of a ring is masked as if it were another: its positions stay where they are.
bool positionsStayBehind(ModuleOp module) {
  return changeFirst<dist::RingOp>(module, [](dist::RingOp ring) {
    Block &next = ring.getNext().front();
    for (auto attention : next.getOps<nn::AttentionOp>()) {
      attention->setOperand(attention->getNumOperands() - 1, attention.getQueryPositions());
      return true;
    }
    return false;
  });
}

bool lostActivation(ModuleOp module) {
  return changeFirst<nn::ActivationOp>(module, [](nn::ActivationOp op) { return bypass(op); });
}

bool lostAddend(ModuleOp module) {
  return changeFirst<nn::AddOp>(module, [](nn::AddOp add) { return bypass(add); });
}

bool swappedOperands(ModuleOp module) {
  return changeFirst<nn::DivideOp>(module, [](nn::DivideOp divide) {
    Value left = divide->getOperand(0), right = divide->getOperand(1);
    divide->setOperands({right, left});
    return left != right;
  });
}

bool wrongCombiner(ModuleOp module) {
  return changeFirst<nn::StepOp>(module, [](nn::StepOp step) {
    auto carry = cast<nn::CarryOp>(step.getMicrobatch().front().getTerminator());
    SmallVector<mlir::Attribute> combiners(carry.getCombiners().getValue());
    if (combiners.empty() || step.getMicrobatches() < 2)
      return false;
    combiners[0] = StringAttr::get(step.getContext(), "max");
    carry.setCombinersAttr(ArrayAttr::get(step.getContext(), combiners));
    return true;
  });
}

sched::ActionOp actionOf(sched::RunOp run) {
  for (auto action : run->getParentOfType<sched::ProgramOp>().getBody().front().getOps<sched::ActionOp>())
    if (action.getName() == run.getAction())
      return action;
  return {};
}

bool lostMicrobatch(ModuleOp module) {
  return changeFirst<sched::RunOp>(module, [](sched::RunOp run) {
    if (run.getMicrobatch().value_or(0) == 0)
      return false;
    run.erase();
    return true;
  });
}

/// A sum over microbatches keeps the last of them.
bool overwrittenSum(ModuleOp module) {
  return changeFirst<sched::StoreOp>(module, [](sched::StoreOp store) {
    auto add = store.getValue().getDefiningOp<nn::AddOp>();
    if (!add || !add->getOperand(0).getDefiningOp<sched::LoadOp>())
      return false;
    store.getValueMutable().assign(add->getOperand(1));
    return true;
  });
}

bool lostWrite(ModuleOp module) {
  return changeFirst<nn::WriteOp>(module, [](nn::WriteOp write) {
    if (!write->getParentOfType<sched::ProgramOp>())
      return false;
    write.erase();
    return true;
  });
}

bool lostMask(ModuleOp module) {
  return changeFirst<sched::LaunchOp>(module, [](sched::LaunchOp launch) {
    NamedAttrList settings(launch.getSettings());
    if (launch.getKernel() != "attention" || !settings.get("causal"))
      return false;
    settings.set("causal", OpBuilder(launch).getDenseI64ArrayAttr({0}));
    launch.setSettingsAttr(settings.getDictionary(launch.getContext()));
    return true;
  });
}

/// Of an action that adds to what it left before, one microbatch counts twice and the next not at all.
bool doubledMicrobatch(ModuleOp module) {
  return changeFirst<sched::RunOp>(module, [](sched::RunOp run) {
    sched::ActionOp action = actionOf(run);
    bool accumulates =
        llvm::any_of(action.getBody().front().getOps<sched::StoreOp>(), [&](sched::StoreOp store) {
          return llvm::any_of(action.getBody().front().getOps<sched::LoadOp>(),
                              [&](sched::LoadOp load) { return load.getSlot() == store.getSlot(); });
        });
    if (!accumulates || run.getMicrobatch().value_or(0) != 1)
      return false;
    run.setMicrobatch(0);
    return true;
  });
}

bool zeroMessage(ModuleOp module) {
  return changeFirst<dist::SendOp>(module, [](dist::SendOp send) {
    OpBuilder builder(send);
    send.getOperandMutable().assign(nn::ValueBuilder(builder, send.getLoc()).splat(send.getOperand(), 0.0));
    return true;
  });
}

/// The first run of the module's program whose action holds an op that `isOne`.
template <typename OpTy, typename IsOne>
sched::RunOp firstRunOf(ModuleOp module, StringRef program, IsOne isOne) {
  for (auto one : module.getOps<sched::ProgramOp>())
    for (auto run : one.getBody().front().getOps<sched::RunOp>())
      if (one.getName() == program && llvm::any_of(actionOf(run).getBody().front().getOps<OpTy>(), isOne))
        return run;
  return {};
}

/// One message is neither sent nor received.
bool lostMessage(ModuleOp module) {
  return changeFirst<sched::RunOp>(module, [&](sched::RunOp run) {
    auto sends = actionOf(run).getBody().front().getOps<dist::SendOp>();
    if (sends.empty())
      return false;
    StringRef program = run->getParentOfType<sched::ProgramOp>().getName();
    auto own = run->getParentOfType<ModuleOp>();
    auto rank = static_cast<uint64_t>(*interpret::pipelineRankOf(run));
    uint64_t peer = (*sends.begin()).getTo();
    ModuleOp other = pipelineModules(module)[peer];
    sched::RunOp lost[] = {
        run,
        firstRunOf<dist::SendWaitOp>(own, program, [&](dist::SendWaitOp op) { return op.getTo() == peer; }),
        firstRunOf<dist::ReceiveOp>(other, program, [&](dist::ReceiveOp op) { return op.getFrom() == rank; }),
        firstRunOf<dist::ReceiveWaitOp>(other, program,
                                        [&](dist::ReceiveWaitOp op) { return op.getFrom() == rank; })};
    if (!llvm::all_of(lost, [](sched::RunOp one) { return static_cast<bool>(one); }))
      return false;
    for (sched::RunOp one : lost)
      one.erase();
    return true;
  });
}

bool dependsOnLoad(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isa<sched::LoadOp>(op) || llvm::any_of(op->getOperands(), dependsOnLoad));
}

/// What one pipeline rank has of a sum over all of them does not count.
bool lostTerm(ModuleOp module) {
  return changeFirst<dist::TermOp>(module, [](dist::TermOp term) {
    if (!dependsOnLoad(term.getOperand()))
      return false;
    OpBuilder builder(term);
    term.getOperandMutable().assign(nn::ValueBuilder(builder, term.getLoc()).splat(term.getOperand(), 0.0));
    return true;
  });
}

const std::vector<Sabotage> &sabotages() {
  static const std::vector<Sabotage> list = {
      {"lost_activation", "precision", "an activation becomes the identity", lostActivation},
      {"lost_addend", "place", "a sum keeps its first operand alone", lostAddend},
      {"swapped_operands", "place", "a division the wrong way round", swappedOperands},
      {"wrong_combiner", "place", "a sum over microbatches becomes a maximum", wrongCombiner},
      {"drop_reduction", "partition", "a pending value is used as if it were reduced", dropReduction},
      {"double_reduction", "partition", "a sum is taken twice", doubleReduction},
      {"swap_axis", "partition", "a reduction over another axis of the mesh", swapAxis},
      {"wrong_dimension", "partition", "a gather along another dimension", wrongDimension},
      {"wrong_neutral", "partition", "padding is masked with one instead of the neutral element",
       wrongNeutral},
      {"missing_mask", "partition", "padding enters a reduction", missingMask},
      {"skip_keep_first", "partition", "every rank adds a replicated value to a pending sum", skipKeepFirst},
      {"unshifted_indices", "partition", "a rank looks up whole indices in its part of a table",
       unshiftedIndices},
      {"last_block_alone", "partition", "a ring keeps the last block that it meets", lastBlockAlone},
      {"positions_stay_behind", "partition", "the keys of a ring travel without their positions",
       positionsStayBehind},
      {"lost_microbatch", "schedule", "one microbatch is not run", lostMicrobatch},
      {"doubled_microbatch", "schedule", "one microbatch is added twice, another not at all",
       doubledMicrobatch},
      {"lost_message", "schedule", "a message of a pipeline is neither sent nor received", lostMessage},
      {"zero_message", "schedule", "ranks of a pipeline send zeros", zeroMessage},
      {"lost_term", "schedule", "a sum over a pipeline lacks the term of one rank", lostTerm},
      {"overwritten_sum", "schedule", "a sum over microbatches is the last of them", overwrittenSum},
      {"lost_mask", "fuse", "an attention sees what comes after", lostMask},
      {"lost_write", "schedule", "a variable keeps its old value", lostWrite},
  };
  return list;
}

} // namespace

const Sabotage *findSabotage(const std::string &name) {
  for (const Sabotage &sabotage : sabotages())
    if (sabotage.name == name)
      return &sabotage;
  return nullptr;
}

std::string sabotageNames() {
  std::string names;
  for (const Sabotage &sabotage : sabotages())
    names += (names.empty() ? "" : ", ") + sabotage.name;
  return names;
}

} // namespace weft
