#include "tools/weft-trials/ShardingRules.h"

#include "kernels/reference/Elementwise.h"
#include "kernels/reference/Shape.h"
#include "tools/weft-trials/Evaluate.h"

#include "mlir/IR/Verifier.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace weft::trials {
namespace {
constexpr double kTolerance = 1e-12; ///< relative to max(|.|, 1): sums in another order

/// Where a factor is in a term: the dimension (-1: nowhere), and the sizes of the factors before and behind
/// it in that dimension.
struct Position {
  int64_t dimension = -1, before = 1, behind = 1;
};

/// Values with every factor of every dimension as a dimension of its own, and back.
std::vector<int64_t> around(const std::vector<int64_t> &shape, Position at, int64_t size) {
  std::vector<int64_t> apart(shape.begin(), shape.begin() + at.dimension);
  apart.insert(apart.end(), {at.before, size, at.behind});
  apart.insert(apart.end(), shape.begin() + at.dimension + 1, shape.end());
  return apart;
}
std::vector<int64_t> together(std::vector<int64_t> apart, Position at) {
  auto first = apart.begin() + at.dimension;
  *first *= first[1] * first[2];
  apart.erase(first + 1, first + 3);
  return apart;
}

class RuleChecker {
public:
  RuleChecker(const Case &item, Random &random, bool sabotage, Report &report)
      : item(item), random(random), sabotage(sabotage), report(report),
        rule(cast<nn::ShardingRuleOpInterface>(item.op).shardingRule()) {}

  void run() {
    if (!checkForm())
      return;
    FailureOr<std::vector<Tensor>> results = evaluate(item.function(), item.operands);
    if (failed(results))
      return report.fail("cannot be evaluated: " + item.text());
    whole = std::move(*results);
    for (auto [index, factor] : llvm::enumerate(rule.factors))
      if (factor.kind != nn::FactorKind::Replicated && factor.size > 1)
        checkFactor(static_cast<int>(index));
    for (auto [index, linear] : llvm::enumerate(rule.linear))
      if (linear)
        checkLinear({static_cast<int>(index)});
    if (!rule.jointlyLinear.empty())
      checkLinear(rule.jointlyLinear);
    if (auto mergeable = dyn_cast<nn::MergeableReductionOpInterface>(item.op);
        mergeable && mergeable.mergeableFactor())
      checkExpansion();
  }

private:
  /// Terms have an entry per dimension, and each factor has the size of every dimension that it takes.
  bool checkForm() {
    if (rule.operands.size() != item.op->getNumOperands() ||
        rule.results.size() != item.op->getNumResults() || rule.linear.size() != item.op->getNumOperands())
      return refuse("has another number of terms than the op has operands and results");
    return checkTerms(rule.operands, item.op->getOperands()) &&
           checkTerms(rule.results, item.op->getResults());
  }

  bool checkTerms(ArrayRef<SmallVector<nn::DimensionFactors>> terms, ValueRange values) {
    for (auto [term, value] : llvm::zip_equal(terms, values)) {
      ArrayRef<int64_t> shape = nn::tensorType(value).getShape();
      if (term.size() != shape.size())
        return refuse("has a term whose length is not the rank");
      for (auto [factors, size] : llvm::zip_equal(term, shape)) {
        int64_t product = 1;
        for (int factor : factors) {
          if (factor < 0 || static_cast<size_t>(factor) >= rule.factors.size())
            return refuse("names a factor that there is not");
          product *= rule.factors[factor].size;
        }
        if (product != size)
          return refuse("has factors of another size than a dimension that they take");
      }
    }
    return true;
  }

  Position positionOf(ArrayRef<nn::DimensionFactors> term, int factor) const {
    for (auto [dimension, factors] : llvm::enumerate(term)) {
      auto found = llvm::find(factors, factor);
      if (found == factors.end())
        continue;
      Position at{static_cast<int64_t>(dimension)};
      for (int before : llvm::make_range(factors.begin(), found))
        at.before *= rule.factors[before].size;
      for (int behind : llvm::make_range(found + 1, factors.end()))
        at.behind *= rule.factors[behind].size;
      return at;
    }
    return {};
  }

  bool refuse(const std::string &why) {
    report.fail("the sharding rule " + why + ": " + item.text());
    return false;
  }

  Tensor part(const Tensor &value, Position at, int factor, int64_t start, int64_t size) const {
    Tensor apart = *reference::reshape(value, around(value.shape, at, rule.factors[factor].size));
    std::vector<int64_t> offsets(apart.shape.size(), 0), sizes = apart.shape;
    offsets[at.dimension + 1] = start, sizes[at.dimension + 1] = size;
    Tensor cut = *reference::slice(apart, offsets, sizes);
    return *reference::reshape(cut, together(cut.shape, at));
  }

  /// Indices into the factor, less the part's start.
  Tensor shifted(const Tensor &indices, int64_t start) const {
    Tensor offsets = indices;
    std::fill(offsets.integers.begin(), offsets.integers.end(), start);
    return *reference::binary(reference::Binary::Subtract, indices, offsets);
  }

  /// The op on indices [start, start + size) of a factor.
  FailureOr<std::vector<Tensor>> evaluatePart(int factor, int64_t start, int64_t size) {
    std::vector<Tensor> operands;
    SmallVector<Type> types;
    for (auto [index, value, term, operand] :
         llvm::enumerate(item.operands, rule.operands, item.op->getOperands())) {
      Position at = positionOf(term, factor);
      operands.push_back(at.dimension < 0 ? value : part(value, at, factor, start, size));
      for (auto [indexed, holder] : rule.indices)
        if (indexed == factor && holder == static_cast<int>(index))
          operands.back() = shifted(operands.back(), start);
      types.push_back(RankedTensorType::get(operands.back().shape, nn::tensorType(operand).getElementType()));
    }
    OwningOpRef<ModuleOp> module = ModuleOp::create(item.op->getLoc());
    func::FuncOp function = makeFunction(*module, types);
    OpBuilder builder = OpBuilder::atBlockEnd(&function.getBody().front());
    Operation *op = builder.clone(*item.op);
    op->setOperands(function.getArguments());
    for (auto [result, term] : llvm::zip_equal(op->getResults(), rule.results)) {
      SmallVector<int64_t> shape(nn::tensorType(result).getShape());
      if (Position at = positionOf(term, factor); at.dimension >= 0)
        shape[at.dimension] = at.before * size * at.behind;
      result.setType(RankedTensorType::get(shape, nn::tensorType(result).getElementType()));
    }
    if (auto constant = dyn_cast<nn::ConstantOp>(op)) // only a splat can be split
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(constant.getType()));
    finishFunction(function, op->getResults());
    if (failed(verify(*module)))
      return failure();
    return evaluate(function, std::move(operands));
  }

  /// Splits by ceiling division, as meshes do.
  void checkFactor(int factor) {
    int64_t size = rule.factors[factor].size, parts = random.integer(2, std::min<int64_t>(size, 3));
    int64_t each = (size + parts - 1) / parts;
    std::vector<std::vector<Tensor>> computed;
    for (int64_t start = 0; start < size; start += each) {
      FailureOr<std::vector<Tensor>> results = evaluatePart(factor, start, std::min(each, size - start));
      if (failed(results))
        return report.fail(absl::StrCat("a part of factor ", factor, " cannot be evaluated: ", item.text()));
      computed.push_back(std::move(*results));
    }
    if (sabotage)
      computed.pop_back();
    for (size_t result = 0; result < whole.size(); ++result) {
      Tensor together = reassemble(factor, result, computed);
      report.compare("factor", relativeDistance(together, whole[result]), kTolerance,
                     absl::StrCat("result ", result, " from parts of factor ", factor, ": ", item.text()));
    }
  }

  /// A result that has the factor is concatenated; one that lacks it is pending: a maximum, a sum, or the
  /// logarithm of a sum of exponentials.
  Tensor reassemble(int factor, size_t result, const std::vector<std::vector<Tensor>> &computed) const {
    std::vector<Tensor> parts;
    for (const std::vector<Tensor> &results : computed)
      parts.push_back(results[result]);
    if (Position at = positionOf(rule.results[result], factor); at.dimension >= 0) {
      for (Tensor &part : parts)
        part = *reference::reshape(
            part,
            around(part.shape, at, part.shape[at.dimension] / std::max<int64_t>(at.before * at.behind, 1)));
      Tensor whole = *reference::concatenate(parts, at.dimension + 1);
      return *reference::reshape(whole, together(whole.shape, at));
    }
    nn::FactorKind kind = rule.reducedKind(factor, static_cast<unsigned>(result));
    Tensor total = parts.front();
    for (const Tensor &part : llvm::drop_begin(parts))
      total = kind == nn::FactorKind::LogSumExp ? *reference::addLogarithms(total, part)
              : kind == nn::FactorKind::Max     ? *reference::binary(reference::Binary::Maximum, total, part)
                                                : *reference::binary(reference::Binary::Add, total, part);
    return total;
  }

  /// The expanded form gives the op's results, and its factor may be split: some op of it says so.
  void checkExpansion() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(item.op->getLoc());
    func::FuncOp function = makeFunction(*module, item.op->getOperandTypes());
    OpBuilder builder = OpBuilder::atBlockEnd(&function.getBody().front());
    auto op = cast<nn::MergeableReductionOpInterface>(builder.clone(*item.op));
    op->setOperands(function.getArguments());
    int64_t size = rule.factors[*op.mergeableFactor()].size;
    SmallVector<Value> expanded = op.expand(builder);
    finishFunction(function, expanded);
    op->erase();
    bool splits = llvm::any_of(function.getBody().front(), [&](Operation &part) {
      auto shardable = dyn_cast<nn::ShardingRuleOpInterface>(part);
      return shardable && llvm::any_of(shardable.shardingRule().takesValid, [&](int factor) {
               return shardable.shardingRule().factors[factor].size == size;
             });
    });
    if (!splits)
      return report.fail("the expanded form keeps its factor whole: " + item.text());
    FailureOr<std::vector<Tensor>> results = evaluate(function, item.operands);
    if (failed(verify(*module)) || failed(results))
      return report.fail("the expanded form cannot be evaluated: " + item.text());
    for (size_t result = 0; result < whole.size(); ++result) {
      Tensor given = sabotage ? addTensors((*results)[result], (*results)[result]) : (*results)[result];
      report.compare("expansion", relativeDistance(given, whole[result]), kTolerance,
                     absl::StrCat("result ", result, " of the expanded form: ", item.text()));
    }
  }

  /// Linear in these operands together.
  void checkLinear(ArrayRef<int> indices) {
    std::vector<Tensor> other = item.operands, sum = item.operands;
    for (int index : indices) {
      other[index] = randomLike(random, item.operands[index]);
      if (other[index].dtype == DType::I1)
        return report.fail(absl::StrCat("operand ", index, " holds i1 and cannot be a sum: ", item.text()));
      sum[index] = addTensors(item.operands[index], other[index]);
    }
    FailureOr<std::vector<Tensor>> ofOther = evaluate(item.function(), other),
                                   ofSum = evaluate(item.function(), sum);
    if (failed(ofOther) || failed(ofSum))
      return report.fail("cannot be evaluated: " + item.text());
    for (size_t result = 0; result < whole.size(); ++result) {
      if (whole[result].dtype == DType::I1)
        return report.fail(
            absl::StrCat("a result of i1 is linear in operand ", indices.front(), ": ", item.text()));
      Tensor together = sabotage ? whole[result] : addTensors(whole[result], (*ofOther)[result]);
      report.compare(
          "linear", relativeDistance(together, (*ofSum)[result]), kTolerance,
          absl::StrCat("result ", result, " is not linear in operand ", indices.front(), ": ", item.text()));
    }
  }

  const Case &item;
  Random &random;
  bool sabotage;
  Report &report;
  nn::ShardingRule rule;
  std::vector<Tensor> whole;
};
} // namespace

void checkShardingRule(const Case &item, Random &random, bool sabotage, Report &report) {
  RuleChecker(item, random, sabotage, report).run();
}

} // namespace weft::trials
