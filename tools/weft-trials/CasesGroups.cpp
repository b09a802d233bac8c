//===- CasesGroups.cpp - Random element-wise regions ------------------------===//
//
// A program of up to 60 element-wise ops over one or two shapes, with broadcasts, constants, casts between
// float types, reductions of the last dimension that are read again along it, and several results: what
// `fuse` cuts into launches, and the element-wise kernel interprets.
//
//===----------------------------------------------------------------------===//
#include "tools/weft-trials/Cases.h"

using namespace mlir;

namespace weft::trials {
namespace {
/// Grows a list of values of one shape; each step adds one that is made of earlier ones.
class RegionBuilder {
public:
  RegionBuilder(CaseBuilder &c, ArrayRef<int64_t> shape) : c(c), b(c.b), shape(shape) {}

  void addInputs(int64_t count) {
    for (int64_t index = 0; index < count; ++index) {
      SmallVector<int64_t> kept, sizes;
      for (auto [dimension, size] : llvm::enumerate(shape))
        if (c.random.chance(0.7))
          kept.push_back(static_cast<int64_t>(dimension)), sizes.push_back(size);
      Value input = c.floats(sizes);
      values.push_back(kept.size() == shape.size() ? input : b.broadcast(input, shape, kept));
    }
  }

  void addOp() {
    Value x = pick(), y = b.castTo(pick(), x);
    switch (c.random.integer(0, 15)) {
    case 0:
      return add(b.add(x, y));
    case 1:
      return add(b.sub(x, y));
    case 2:
      return add(b.mul(b.tanh(x), y));
    case 3:
      return add(b.div(x, b.addScalar(b.square(b.tanh(y)), 1.0)));
    case 4:
      return add(b.maximum(x, y));
    case 5:
      return add(b.minimum(x, y));
    case 6:
      return add(b.exp(b.minimum(x, b.splat(x, 2.0))));
    case 7:
      return add(b.log(b.addScalar(b.unary<nn::AbsOp>(x), 0.5)));
    case 8:
      return add(b.sqrt(b.unary<nn::AbsOp>(x)));
    case 9:
      return add(b.rsqrt(b.addScalar(b.unary<nn::AbsOp>(x), 1.0)));
    case 10:
      return add(b.sigmoid(x));
    case 11:
      return add(b.unary<nn::ErfOp>(b.neg(x)));
    case 12:
      return add(b.select(b.compare(comparison(), x, y), x, b.scale(y, 0.5)));
    case 13:
      return add(b.cast(x, c.type(c.random.choose({DType::BF16, DType::F16, DType::F32, DType::F64}))));
    case 14:
      return add(b.select(b.logicalAnd(b.isFinite(x), b.compare(comparison(), y, x)), y, b.splat(y, -0.25)));
    default:
      return add(b.scale(b.unary<nn::SinOp>(x), 0.75));
    }
  }

  /// A value of the rows, something made of it, and that repeated along them.
  void addReduction() {
    Value x = pick();
    auto kind = c.random.choose({nn::Reduction::sum, nn::Reduction::max, nn::Reduction::min});
    Value rows = kind == nn::Reduction::sum ? b.meanLast(c.random.chance(0.5) ? b.square(b.tanh(x)) : x)
                                            : b.reduce(kind, x, {static_cast<int64_t>(shape.size()) - 1});
    if (c.random.chance(0.5))
      rows = b.rsqrt(b.addScalar(b.unary<nn::AbsOp>(rows), 0.5));
    rowValues.push_back(rows);
    add(b.broadcastLast(rows, shape.back()));
  }

  Value pick() { return c.random.chooseFrom(values); }
  SmallVector<Value> values, rowValues;

private:
  void add(Value value) { values.push_back(value); }
  nn::Comparison comparison() {
    return c.random.choose({nn::Comparison::lt, nn::Comparison::le, nn::Comparison::gt, nn::Comparison::ge});
  }

  CaseBuilder &c;
  nn::ValueBuilder &b;
  ArrayRef<int64_t> shape;
};

void region(CaseBuilder &c) {
  const bool reduces = c.random.chance(0.5);
  SmallVector<int64_t> shape = c.shape(0, reduces ? 2 : 3);
  if (reduces) // at most as long as keeps the reference quick
    shape.push_back(c.random.integer(c.random.chance(0.1) ? 1 : 64, 200));
  RegionBuilder builder(c, shape);
  builder.addInputs(c.random.integer(1, 4));
  for (int64_t count = c.random.integer(2, 20); count > 0; --count)
    if (reduces && c.random.chance(0.2))
      builder.addReduction();
    else
      builder.addOp();
  SmallVector<Value> results = {builder.values.back()};
  if (!builder.rowValues.empty() && c.random.chance(0.5))
    results.push_back(builder.rowValues.back());
  for (int64_t count = c.random.integer(0, 2); count > 0; --count)
    results.push_back(builder.pick());
  c.whole(results);
}
} // namespace

void addElementwiseGroup(Generators &generators) { generators["elementwise_region"] = region; }

} // namespace weft::trials
