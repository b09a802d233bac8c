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

/// The dimension that a factor takes in a term, or -1.
int64_t dimensionOf(ArrayRef<int> term, int factor) {
  auto found = llvm::find(term, factor);
  return found == term.end() ? -1 : found - term.begin();
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
        checkLinear(index);
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

  bool checkTerms(ArrayRef<SmallVector<int>> terms, ValueRange values) {
    for (auto [term, value] : llvm::zip_equal(terms, values)) {
      ArrayRef<int64_t> shape = nn::tensorType(value).getShape();
      if (term.size() != shape.size())
        return refuse("has a term whose length is not the rank");
      for (auto [factor, size] : llvm::zip_equal(term, shape))
        if (factor < 0
                ? size != 1
                : static_cast<size_t>(factor) >= rule.factors.size() || rule.factors[factor].size != size)
          return refuse("has a factor of another size than a dimension that it takes");
    }
    return true;
  }

  bool refuse(const std::string &why) {
    report.fail("the sharding rule " + why + ": " + item.text());
    return false;
  }

  Tensor part(const Tensor &value, int64_t dimension, int64_t start, int64_t size) const {
    std::vector<int64_t> offsets(value.shape.size(), 0), sizes = value.shape;
    offsets[dimension] = start, sizes[dimension] = size;
    return *reference::slice(value, offsets, sizes);
  }

  /// The op on indices [start, start + size) of a factor.
  FailureOr<std::vector<Tensor>> evaluatePart(int factor, int64_t start, int64_t size) {
    std::vector<Tensor> operands;
    SmallVector<Type> types;
    for (auto [value, term, operand] :
         llvm::zip_equal(item.operands, rule.operands, item.op->getOperands())) {
      int64_t dimension = dimensionOf(term, factor);
      operands.push_back(dimension < 0 ? value : part(value, dimension, start, size));
      types.push_back(RankedTensorType::get(operands.back().shape, nn::tensorType(operand).getElementType()));
    }
    OwningOpRef<ModuleOp> module = ModuleOp::create(item.op->getLoc());
    func::FuncOp function = makeFunction(*module, types);
    OpBuilder builder = OpBuilder::atBlockEnd(&function.getBody().front());
    Operation *op = builder.clone(*item.op);
    op->setOperands(function.getArguments());
    for (auto [result, term] : llvm::zip_equal(op->getResults(), rule.results)) {
      SmallVector<int64_t> shape(nn::tensorType(result).getShape());
      if (int64_t dimension = dimensionOf(term, factor); dimension >= 0)
        shape[dimension] = size;
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

  /// A result that has the factor is concatenated; one that lacks it is pending: a maximum or a sum.
  Tensor reassemble(int factor, size_t result, const std::vector<std::vector<Tensor>> &computed) const {
    std::vector<Tensor> parts;
    for (const std::vector<Tensor> &results : computed)
      parts.push_back(results[result]);
    if (int64_t dimension = dimensionOf(rule.results[result], factor); dimension >= 0)
      return *reference::concatenate(parts, dimension);
    bool maximum = rule.factors[factor].kind == nn::FactorKind::Max;
    Tensor total = parts.front();
    for (size_t index = 1; index < parts.size(); ++index)
      total = *reference::binary(maximum ? reference::Binary::Maximum : reference::Binary::Add, total,
                                 parts[index]);
    return total;
  }

  void checkLinear(size_t index) {
    std::vector<Tensor> other = item.operands, sum = item.operands;
    other[index] = randomLike(random, item.operands[index]);
    if (other[index].dtype == DType::I1)
      return report.fail(absl::StrCat("operand ", index, " holds i1 and cannot be a sum: ", item.text()));
    sum[index] = addTensors(item.operands[index], other[index]);
    FailureOr<std::vector<Tensor>> ofOther = evaluate(item.function(), other),
                                   ofSum = evaluate(item.function(), sum);
    if (failed(ofOther) || failed(ofSum))
      return report.fail("cannot be evaluated: " + item.text());
    for (size_t result = 0; result < whole.size(); ++result) {
      if (whole[result].dtype == DType::I1)
        return report.fail(absl::StrCat("a result of i1 is linear in operand ", index, ": ", item.text()));
      Tensor together = sabotage ? whole[result] : addTensors(whole[result], (*ofOther)[result]);
      report.compare("linear", relativeDistance(together, (*ofSum)[result]), kTolerance,
                     absl::StrCat("result ", result, " is not linear in operand ", index, ": ", item.text()));
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
