#include "passes/place/Propagate.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace weft {
namespace {
bool disjoint(ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
  return llvm::none_of(left, [&](int64_t axis) { return llvm::is_contained(right, axis); });
}

/// As much of a split as comes before the first axis that another factor has.
dist::Split majorPart(const dist::Split &split, const nn::FactorSplits &factors, int mine) {
  dist::Split part = split;
  for (auto [factor, other] : llvm::enumerate(factors))
    if (static_cast<int>(factor) != mine)
      part.axes.truncate(
          llvm::find_if(part.axes, [&](int64_t axis) { return llvm::is_contained(other.axes, axis); }) -
          part.axes.begin());
  return part;
}

/// Whether `finer` splits on what `split` has split.
bool isFiner(const dist::Split &finer, const dist::Split &split) {
  return !split.axes.empty() && finer.axes.size() > split.axes.size() && finer.zigzag == split.zigzag &&
         ArrayRef(finer.axes).take_front(split.axes.size()) == ArrayRef(split.axes);
}
} // namespace

Propagator::Propagator(Block &block, dist::MeshAttr mesh, ReshardPaths &paths) : mesh(mesh), paths(paths) {
  for (Operation &op : block)
    if (auto shardable = dyn_cast<nn::ShardingRuleOpInterface>(op)) {
      nn::ShardingRule rule = shardable.shardingRule();
      size_t factors = rule.factors.size();
      decided[&op] = {nn::FactorSplits(factors), SmallVector<bool>(factors, false),
                      SmallVector<int>(factors, -1), SmallVector<double>(factors, -1)};
      rules.insert({&op, std::move(rule)});
    }
}

void Propagator::seed(SeedLevel level, Value value, const dist::Placement &placement, std::string source) {
  seeds.push_back({level, value, placement, std::move(source)});
}

bool Propagator::fix(Operation *op, const dist::Placement &placement, std::string source) {
  const nn::ShardingRule &rule = rules.find(op)->second;
  Decision &decision = decided.find(op)->second;
  for (auto [dimension, factors] : llvm::enumerate(rule.operands[0])) {
    auto shares = nn::shareOut(rule, mesh, factors, placement.splits[dimension]);
    if (!shares)
      return false;
    for (auto [factor, share] : llvm::zip_equal(factors, *shares)) {
      if (!share.axes.empty() && rule.factors[factor].kind == nn::FactorKind::Replicated)
        return false;
      decision.splits[factor] = share;
      decision.seeds[factor] = static_cast<int>(seeds.size());
    }
  }
  decision.isFixed = true;
  seeds.push_back({SeedLevel::Parameter, Value(), placement, std::move(source)});
  return true;
}

std::string Propagator::reason(Operation *op) const {
  const Decision &decision = decided.find(op)->second;
  std::string text;
  for (auto [factor, split] : llvm::enumerate(decision.splits)) {
    if (split.axes.empty())
      continue;
    llvm::raw_string_ostream stream(text);
    stream << (text.empty() ? "" : ", ") << dist::describe(mesh, split.axes) << " from "
           << seeds[decision.seeds[factor]].source;
    if (decision.settledBytes[factor] >= 0)
      stream << llvm::formatv(" (a conflict, settled for {0:F0} bytes)", decision.settledBytes[factor]);
  }
  return text;
}

dist::Placement Propagator::wish(Value value) const {
  dist::Placement placement = dist::replicated(mesh, nn::tensorType(value).getRank());
  if (auto found = marks.find(value); found != marks.end())
    placement.splits.assign(found->second.splits.begin(), found->second.splits.end());
  return placement;
}

void Propagator::run() {
  for (SeedLevel level : {SeedLevel::Parameter, SeedLevel::Input, SeedLevel::Boundary}) {
    for (auto [index, seed] : llvm::enumerate(seeds)) {
      if (seed.level != level || !seed.value)
        continue;
      Marks &mine = marks[seed.value];
      if (mine.closed)
        continue;
      mine.splits.assign(seed.placement.splits.begin(), seed.placement.splits.end());
      mine.seeds.assign(mine.splits.size(), static_cast<int>(index));
      mine.closed = true;
      touch(seed.value);
    }
    while (true) {
      spread();
      std::vector<Proposal> settled = settleCheapest();
      if (settled.empty())
        break;
      apply(settled);
    }
  }
}

void Propagator::spread() {
  while (!frontier.empty()) {
    std::vector<Proposal> proposals;
    for (Operation *op : frontier) {
      SmallVector<Candidate> candidates;
      collectCandidates(op, candidates);
      for (auto [index, candidate] : llvm::enumerate(candidates)) {
        if (isFree(candidates, index))
          proposals.push_back({op, candidate});
        else
          conflicted.insert(op);
      }
    }
    frontier.clear();
    apply(proposals);
  }
}

template <typename Visit> void Propagator::forEachDimension(Operation *op, Visit visit) const {
  const nn::ShardingRule &rule = rules.find(op)->second;
  for (auto [value, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands))
    for (auto [dimension, factors] : llvm::enumerate(dimensions))
      visit(value, dimension, factors);
  for (auto [value, dimensions] : llvm::zip_equal(op->getResults(), rule.results))
    for (auto [dimension, factors] : llvm::enumerate(dimensions))
      visit(Value(value), dimension, factors);
}

void Propagator::collectCandidates(Operation *op, SmallVectorImpl<Candidate> &candidates) const {
  const nn::ShardingRule &rule = rules.find(op)->second;
  const Decision &decision = decided.find(op)->second;
  if (decision.isFixed)
    return;
  forEachDimension(op, [&](Value value, size_t dimension, ArrayRef<int> factors) {
    auto found = marks.find(value);
    if (found == marks.end() || found->second.splits[dimension].axes.empty())
      return;
    std::optional<SmallVector<dist::Split>> shares =
        nn::shareOut(rule, mesh, factors, found->second.splits[dimension]);
    if (!shares)
      return;
    for (auto [factor, share] : llvm::zip_equal(factors, *shares)) {
      const nn::Factor &properties = rule.factors[factor];
      dist::Split split = majorPart(share, decision.splits, factor);
      if (split.axes.empty() || properties.kind == nn::FactorKind::Replicated ||
          (decision.isDecided[factor] && !isFiner(split, decision.splits[factor])) ||
          properties.size < mesh.sizeOf(split.axes) || (split.zigzag && !mayZigzag(op, factor, split)))
        continue;
      if (llvm::none_of(candidates, [&](const Candidate &other) {
            return other.factor == factor && other.split == split;
          }))
        candidates.push_back({factor, split, found->second.seeds[dimension]});
    }
  });
}

bool Propagator::mayZigzag(Operation *op, int factor, const dist::Split &split) const {
  const nn::ShardingRule &rule = rules.find(op)->second;
  bool may = rule.factors[factor].size % (2 * mesh.sizeOf(split.axes)) == 0;
  forEachDimension(op, [&](Value, size_t, ArrayRef<int> factors) {
    if (llvm::is_contained(factors, factor))
      may &=
          llvm::all_of(factors, [&](int other) { return other == factor || rule.factors[other].size == 1; });
  });
  return may;
}

bool Propagator::isFree(ArrayRef<Candidate> candidates, size_t index) const {
  const Candidate &mine = candidates[index];
  for (auto [other, candidate] : llvm::enumerate(candidates))
    if (other != index &&
        (candidate.factor == mine.factor || !disjoint(candidate.split.axes, mine.split.axes)))
      return false;
  return true;
}

void Propagator::apply(ArrayRef<Proposal> proposals) {
  for (const Proposal &proposal : proposals) {
    Decision &decision = decided.find(proposal.op)->second;
    decision.splits[proposal.candidate.factor] = proposal.candidate.split;
    decision.isDecided[proposal.candidate.factor] = true;
    decision.seeds[proposal.candidate.factor] = proposal.candidate.seed;
    decision.settledBytes[proposal.candidate.factor] = proposal.candidate.settledBytes;
  }
  // Ops mark their own results before the operands of others.
  llvm::SetVector<Operation *> ops;
  for (const Proposal &proposal : proposals)
    ops.insert(proposal.op);
  for (Operation *op : ops)
    markAround(op);
}

void Propagator::markAround(Operation *op) {
  const Decision &decision = decided.find(op)->second;
  forEachDimension(op, [&](Value value, size_t dimension, ArrayRef<int> factors) {
    dist::Split split;
    int seed = -1;
    for (int factor : factors) {
      llvm::append_range(split.axes, decision.splits[factor].axes);
      split.zigzag |= decision.splits[factor].zigzag;
      if (seed < 0)
        seed = decision.seeds[factor];
    }
    if (!split.axes.empty() && mark(value, dimension, split, seed))
      touch(value);
  });
}

bool Propagator::mark(Value value, size_t dimension, const dist::Split &split, int seed) {
  Marks &mine = marks[value];
  if (mine.splits.empty()) {
    mine.splits.resize(nn::tensorType(value).getRank());
    mine.seeds.assign(mine.splits.size(), -1);
  }
  const dist::Split &before = mine.splits[dimension];
  if (mine.closed || (!before.axes.empty() && !isFiner(split, before)))
    return false;
  for (auto [index, other] : llvm::enumerate(mine.splits))
    if (index != dimension && !disjoint(other.axes, split.axes))
      return false;
  mine.splits[dimension] = split;
  mine.seeds[dimension] = seed;
  return true;
}

void Propagator::touch(Value value) {
  auto add = [&](Operation *op) {
    if (op && rules.contains(op))
      frontier.insert(op);
  };
  add(value.getDefiningOp());
  for (Operation *user : value.getUsers())
    add(user);
}

/// The bytes that the values around `op` would have to move for this choice.
double Propagator::costOf(Operation *op, const Candidate &candidate) const {
  const nn::ShardingRule &rule = rules.find(op)->second;
  nn::FactorSplits splits = decided.find(op)->second.splits;
  splits[candidate.factor] = candidate.split;
  double bytes = 0;
  auto add = [&](Value value, ArrayRef<nn::DimensionFactors> dimensions, bool isResult) {
    dist::Placement needed = nn::placementFor(mesh, dimensions, splits), wished = wish(value);
    RankedTensorType type = nn::tensorType(value);
    auto at = [&](const dist::Placement &placement) {
      return dist::globalType(type.getShape(), type.getElementType(), placement);
    };
    bytes += isResult ? paths.bytes(at(needed), wished) : paths.bytes(at(wished), needed);
  };
  for (auto [value, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands))
    add(value, dimensions, false);
  for (auto [value, dimensions] : llvm::zip_equal(op->getResults(), rule.results))
    add(value, dimensions, true);
  return bytes;
}

/// Settles all conflicts of the least cost. Within an op the first factor wins a draw: an order that the op's
/// rule gives, and no name or neighbor.
std::vector<Propagator::Proposal> Propagator::settleCheapest() {
  double cheapest = 0;
  std::vector<Proposal> proposals;
  for (Operation *op : llvm::to_vector(conflicted)) {
    SmallVector<Candidate> candidates;
    collectCandidates(op, candidates);
    if (candidates.empty()) {
      conflicted.remove(op);
      continue;
    }
    llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) { return a.factor < b.factor; });
    std::pair<double, size_t> best{costOf(op, candidates[0]), 0};
    for (size_t index = 1; index < candidates.size(); ++index)
      best = std::min(best, {costOf(op, candidates[index]), index});
    if (proposals.empty() || best.first < cheapest)
      proposals.clear(), cheapest = best.first;
    if (best.first == cheapest) {
      proposals.push_back({op, candidates[best.second]});
      proposals.back().candidate.settledBytes = best.first;
    }
  }
  return proposals;
}

} // namespace weft
