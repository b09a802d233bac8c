//===- CasesOptimizer.cpp - Cases of optimizer updates ----------------------===//
#include "tools/weft-trials/Cases.h"

using namespace mlir;

namespace weft::trials {
namespace {
llvm::APFloat oneOf(CaseBuilder &c, std::initializer_list<double> values) {
  return llvm::APFloat(c.random.choose(values));
}

/// A scalar of the statistics type, as the learning rate and the bias corrections are.
Value scalar(CaseBuilder &c, double low, double high) {
  Tensor value = *reference::makeZeros({c.style.element == DType::F64 ? DType::F64 : DType::F32, {}});
  value.reals[0] = c.random.real(low, high);
  return c.given(std::move(value));
}

void adamw(CaseBuilder &c) {
  SmallVector<int64_t> shape = c.shape(0, 3);
  Value p = c.floats(shape), g = c.floats(shape), m = c.floats(shape), v = c.floats(shape, Fill::Positive);
  Value rate = scalar(c, 1e-4, 0.1), first = scalar(c, 0.1, 1.0), second = scalar(c, 0.05, 1.0);
  Type type = p.getType();
  c.subject(nn::AdamwOp::create(c.builder, c.b.location, type, type, type, p, g, m, v, rate, first, second,
                                oneOf(c, {0.0, 0.9}), oneOf(c, {0.95, 0.999}), oneOf(c, {1e-8, 1e-3}),
                                oneOf(c, {0.0, 0.1})));
}

void sgd(CaseBuilder &c) {
  SmallVector<int64_t> shape = c.shape(0, 3);
  Value p = c.floats(shape), g = c.floats(shape), m = c.floats(shape), rate = scalar(c, 1e-4, 0.1);
  Type type = p.getType();
  c.subject(nn::SgdOp::create(c.builder, c.b.location, type, type, p, g, m, rate, oneOf(c, {0.0, 0.9}),
                              oneOf(c, {0.0, 0.1})));
}

void lion(CaseBuilder &c) {
  SmallVector<int64_t> shape = c.shape(0, 3);
  Value p = c.floats(shape), g = c.floats(shape), m = c.floats(shape), rate = scalar(c, 1e-4, 0.1);
  Type type = p.getType();
  c.subject(nn::LionOp::create(c.builder, c.b.location, type, type, p, g, m, rate, oneOf(c, {0.0, 0.9}),
                               oneOf(c, {0.9, 0.99}), oneOf(c, {0.0, 0.1})));
}
} // namespace

void addOptimizerCases(Generators &generators) {
  generators["adamw"] = adamw;
  generators["sgd"] = sgd;
  generators["lion"] = lion;
}

} // namespace weft::trials
