#include "tools/weft-trials/Derivatives.h"

#include "passes/differentiate/Differentiate.h"
#include "tools/weft-trials/Evaluate.h"

#include "mlir/IR/Verifier.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace weft::trials {
namespace {
/// Relative to max(|derivative|, 1).
constexpr double kDifferenceTolerance = 1e-6, kDecompositionTolerance = 1e-9;
/// The fourth-order difference (8 (f(h) - f(-h)) - f(2h) + f(-2h)) / 12 h is off by h^4 f'''''/30 and by the
/// rounding of f over h: both below 1e-10 for the functions here, whose values lie between 1e-2 and 1e3.
constexpr double kStep = 2e-5;

/// The scalar whose gradients are compared: the sum over the seeded results of cotangent times result.
struct Objective {
  SmallVector<unsigned> results;
  std::vector<Tensor> cotangents;

  Objective(const Case &item, Random &random) {
    for (auto [index, result] : llvm::enumerate(item.op->getResults()))
      if (auto type = interpret::tensorTypeOf(result.getType());
          isFloat(type->dtype) && !llvm::is_contained(item.residuals, index)) {
        results.push_back(index);
        cotangents.push_back(randomLike(random, *reference::makeZeros(*type)));
      }
  }

  double of(const std::vector<Tensor> &values) const {
    double sum = 0.0;
    for (auto [index, cotangent] : llvm::zip_equal(results, cotangents))
      for (auto [weight, value] : llvm::zip_equal(cotangent.reals, values[index].reals))
        sum += weight * value;
    return sum;
  }
};

SmallVector<unsigned> sourcesOf(const Case &item) {
  SmallVector<unsigned> sources;
  for (auto [index, operand] : llvm::enumerate(item.operands))
    if (isFloat(operand.dtype) && !llvm::is_contained(item.constantOperands, index))
      sources.push_back(index);
  return sources;
}

/// The gradients of the objective with respect to the sources, by buildBackward over the op, or over its
/// decomposition.
FailureOr<std::vector<Tensor>> gradients(const Case &item, const Objective &objective, bool decomposed) {
  OwningOpRef<ModuleOp> module = item.module.get().clone();
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
  Block &block = function.getBody().front();
  Operation *end = block.getTerminator();
  if (decomposed)
    decomposeAll(block);
  SmallVector<Value> sources;
  for (unsigned index : sourcesOf(item))
    sources.push_back(block.getArgument(index));
  SmallVector<std::pair<Value, Value>> seeds;
  std::vector<Tensor> arguments = item.operands;
  for (auto [index, cotangent] : llvm::zip_equal(objective.results, objective.cotangents)) {
    Value result = end->getOperand(index);
    seeds.push_back({result, block.addArgument(result.getType(), function.getLoc())});
    arguments.push_back(cotangent);
  }
  OpBuilder builder(end);
  FailureOr<SmallVector<Value>> built = buildBackward(block, builder, sources, seeds);
  if (failed(built))
    return failure();
  nn::ValueBuilder b(builder, function.getLoc());
  for (auto [gradient, source] : llvm::zip_equal(*built, sources))
    if (!gradient)
      gradient = b.splat(source, 0.0);
  end->erase();
  finishFunction(function, *built);
  if (failed(verify(*module)))
    return failure();
  return evaluate(function, std::move(arguments));
}

/// The derivative of the objective by element `element` of operand `index`.
FailureOr<double> difference(const Case &item, const Objective &objective, unsigned index, size_t element) {
  std::vector<Tensor> operands = item.operands;
  double &value = operands[index].reals[element];
  double at = value, step = kStep * std::max(1.0, std::abs(at)), sum = 0.0;
  for (auto [distance, weight] :
       {std::pair(1, 8.0), std::pair(-1, -8.0), std::pair(2, -1.0), std::pair(-2, 1.0)}) {
    value = at + distance * step;
    FailureOr<std::vector<Tensor>> results = evaluate(item.function(), operands);
    if (failed(results))
      return failure();
    sum += weight * objective.of(*results);
  }
  return sum / (12.0 * step);
}
} // namespace

void checkDerivatives(const Case &item, Random &random, bool differences, bool sabotage, Report &report) {
  Objective objective(item, random);
  SmallVector<unsigned> sources = sourcesOf(item);
  if (objective.results.empty() || sources.empty())
    return;
  FailureOr<std::vector<Tensor>> computed = gradients(item, objective, false);
  if (failed(computed))
    return report.fail("the gradients cannot be built: " + item.text());
  for (Tensor &gradient : *computed)
    for (double &value : gradient.reals)
      value *= sabotage ? 2.0 : 1.0;
  if (isa<nn::DecomposableOpInterface>(item.op)) {
    FailureOr<std::vector<Tensor>> wanted = gradients(item, objective, true);
    if (failed(wanted))
      return report.fail("the decomposition cannot be differentiated: " + item.text());
    for (auto [index, gradient, reference] : llvm::zip_equal(sources, *computed, *wanted))
      report.compare("decomposition", relativeDistance(gradient, reference), kDecompositionTolerance,
                     absl::StrCat("gradient of operand ", index, " of ", item.text()));
  }
  if (!differences)
    return;
  for (auto [index, gradient] : llvm::zip_equal(sources, *computed))
    for (auto [element, value] : llvm::enumerate(gradient.reals)) {
      FailureOr<double> wanted = difference(item, objective, index, element);
      if (failed(wanted))
        return report.fail("cannot be evaluated: " + item.text());
      report.compare("difference", std::abs(value - *wanted) / std::max(std::abs(*wanted), 1.0),
                     kDifferenceTolerance,
                     absl::StrCat("element ", element, " of the gradient of operand ", index, " is ", value,
                                  ", the difference ", *wanted, ": ", item.text()));
    }
}

} // namespace weft::trials
