#include "passes/pipeline/UpdatePlan.h"

#include "dialects/dist/DistDialect.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

using namespace weft::nn;

UpdatePlan::UpdatePlan(StepOp step, ArrayRef<RankSet> given, HoldersOf holders, int ranks)
    : block(step.getUpdate().front()), all(ranks, true) {
  // Where a state is kept is known where it is written, behind its reads.
  visitAll(given, holders);
  visitAll(given, holders);
  // Exchanged values in the order of the block, however they were found.
  llvm::DenseMap<Value, int64_t> order;
  int64_t next = 0;
  for (BlockArgument argument : block.getArguments())
    order[argument] = next++;
  for (Operation &op : block)
    for (Value result : op.getResults())
      order[result] = next++;
  for (auto &values : exchanges)
    llvm::sort(values, [&](Value left, Value right) { return order[left] < order[right]; });
}

void UpdatePlan::visitAll(ArrayRef<RankSet> given, HoldersOf holders) {
  exchanges.clear();
  for (auto [argument, at] : llvm::zip_equal(block.getArguments(), given))
    places[argument] = at;
  for (Operation &op : block)
    visit(op, holders);
}

/// How many exchanges are over when the ranks `at` can use a value.
int UpdatePlan::depthAt(Value value, const RankSet &at) const {
  RankSet missing = at;
  missing.reset(ranksOf(value));
  return depths.lookup(value) + (missing.any() ? 1 : 0);
}

void UpdatePlan::needEverywhere(Value value, const RankSet &at) {
  RankSet missing = at;
  missing.reset(ranksOf(value));
  if (missing.none())
    return;
  auto round = static_cast<size_t>(depths.lookup(value));
  if (exchanges.size() <= round)
    exchanges.resize(round + 1);
  if (!llvm::is_contained(exchanges[round], value))
    exchanges[round].push_back(value);
}

static bool isScalar(Type type) {
  auto token = dyn_cast<dist::TokenType>(type);
  return (token ? token.getTensor() : cast<RankedTensorType>(type)).getNumElements() == 1;
}

/// Where an op is computed: where all of its operands are, else everywhere. What scalars of all stages become
/// (the norm, which adds one parameter's after another's) stays everywhere.
RankSet UpdatePlan::ranksOf(Operation &op, HoldersOf holders) const {
  if (auto read = dyn_cast<ReadOp>(op)) {
    RankSet at = holders(read.getVariable());
    auto kept = keepers.find(read.getVariable());
    return at.any() ? at : kept == keepers.end() ? all : kept->second;
  }
  if (auto write = dyn_cast<WriteOp>(op)) {
    RankSet at = holders(write.getVariable());
    return at.any() ? at : ranksOf(write.getValue());
  }
  RankSet at = all;
  if (op.hasTrait<OpTrait::IsTerminator>())
    return at;
  bool isShared = llvm::all_of(op.getOperandTypes(), isScalar) &&
                  llvm::all_of(op.getResultTypes(), isScalar) &&
                  llvm::any_of(op.getOperands(), [&](Value operand) { return depths.lookup(operand) > 0; });
  for (Value operand : op.getOperands())
    at &= ranksOf(operand);
  return at.any() && !isShared ? at : all;
}

void UpdatePlan::visit(Operation &op, HoldersOf holders) {
  const RankSet at = ranksOf(op, holders);
  if (auto write = dyn_cast<WriteOp>(op)) {
    ranksOfWrite[&op] = at;
    if (holders(write.getVariable()).none())
      keepers[write.getVariable()] = at;
  }
  int depth = 0;
  for (Value operand : op.getOperands()) {
    needEverywhere(operand, at);
    depth = std::max(depth, depthAt(operand, at));
  }
  for (Value result : op.getResults()) {
    places[result] = at;
    depths[result] = depth;
  }
}

std::vector<std::vector<Operation *>> UpdatePlan::opsOf(int rank) const {
  std::vector<std::vector<Operation *>> phases(rounds() + 1);
  llvm::DenseMap<Operation *, int> phaseOf;
  for (int phase = 0; phase <= rounds(); ++phase) {
    SmallVector<Operation *> work;
    auto need = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (op && ranksOf(value).test(rank))
        work.push_back(op);
    };
    if (phase < rounds()) {
      for (Value value : exchanges[phase])
        if (giverOf(value) == rank)
          need(value);
    } else {
      for (auto write : block.getOps<WriteOp>())
        if (writes(rank, write))
          work.push_back(write);
      for (Value value : block.getTerminator()->getOperands())
        need(value);
    }
    llvm::DenseSet<Operation *> here;
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      auto known = phaseOf.find(op);
      bool isEarlier = known != phaseOf.end() && known->second < phase && op->getNumOperands() > 0;
      if (isEarlier || !here.insert(op).second)
        continue;
      phaseOf.try_emplace(op, phase);
      for (Value operand : op->getOperands())
        need(operand);
    }
    for (Operation &op : block)
      if (here.contains(&op))
        phases[phase].push_back(&op);
  }
  return phases;
}

} // namespace weft
