#include "tools/weft-trials/Evaluate.h"

#include "kernels/reference/Elementwise.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace weft::trials {

FailureOr<std::vector<Tensor>> evaluate(func::FuncOp function, std::vector<Tensor> arguments) {
  return interpret::Interpreter(interpret::Types::Exact).run(function, std::move(arguments), {});
}

void decomposeAll(Block &block) {
  for (Operation *op = &block.front(); op;) {
    Operation *next = op->getNextNode();
    if (auto composite = dyn_cast<nn::DecomposableOpInterface>(op)) {
      OpBuilder builder(op);
      Operation *before = op->getPrevNode();
      op->replaceAllUsesWith(composite.decompose(builder));
      op->erase();
      next = before ? before->getNextNode() : &block.front();
    }
    op = next;
  }
}

double relativeDistance(const Tensor &a, const Tensor &b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (a.type() != b.type() || a.integers != b.integers)
    return infinity;
  double worst = 0.0;
  for (auto [x, y] : llvm::zip_equal(a.reals, b.reals)) {
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    double distance = std::abs(x - y) / std::max(std::abs(y), 1.0);
    worst = std::isfinite(distance) ? std::max(worst, distance) : infinity;
  }
  return worst;
}

Tensor randomLike(Random &random, const Tensor &like) {
  Tensor value = like;
  for (double &number : value.reals)
    number = random.normal();
  for (int64_t &number : value.integers)
    number = like.dtype == DType::I1 ? random.integer(0, 1) : random.integer(-9, 9);
  return value;
}

Tensor addTensors(const Tensor &a, const Tensor &b) {
  return *reference::binary(reference::Binary::Add, a, b);
}

} // namespace weft::trials
