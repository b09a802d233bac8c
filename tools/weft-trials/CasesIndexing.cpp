//===- CasesIndexing.cpp - Cases of constants, generators, rows by index ----===//
#include "tools/weft-trials/Cases.h"

using namespace mlir;

namespace weft::trials {
namespace {
void constant(CaseBuilder &c) {
  RankedTensorType type = c.tensor(c.shape(0, 3), c.element());
  bool splat = c.random.chance(0.5);
  SmallVector<Attribute> values;
  for (int64_t count = splat ? 1 : type.getNumElements(); count > 0; --count)
    values.push_back(FloatAttr::get(type.getElementType(), c.random.normal()));
  c.subject(nn::ConstantOp::create(c.builder, c.b.location, type, DenseElementsAttr::get(type, values)));
}

void iota(CaseBuilder &c) {
  SmallVector<int64_t> shape = c.shape(1, 3);
  int64_t dimension = c.random.integer(0, static_cast<int64_t>(shape.size()) - 1);
  Type type = c.random.choose({c.element(), Type(c.builder.getI32Type()), Type(c.builder.getI64Type())});
  c.subject(nn::IotaOp::create(c.builder, c.b.location, c.tensor(shape, type),
                               c.builder.getI64IntegerAttr(dimension)));
}

/// Sample ids of any size, and a step.
std::pair<Value, Value> stepAndSamples(CaseBuilder &c, int64_t samples) {
  Type i64 = c.builder.getI64Type();
  return {c.integers({}, i64, 0, 1000), c.integers({samples}, i64, 0, int64_t{1} << 40)};
}

void randomUniform(CaseBuilder &c) {
  SmallVector<int64_t> shape = c.shape(1, 3);
  auto [step, samples] = stepAndSamples(c, shape[0]);
  c.subject(nn::RandomUniformOp::create(c.builder, c.b.location, c.tensor(shape, c.builder.getF32Type()),
                                        step, samples, c.builder.getI64IntegerAttr(c.random.integer(0, 99)),
                                        c.builder.getI64IntegerAttr(c.random.integer(-99, 99))));
}

void dropout(CaseBuilder &c) {
  SmallVector<int64_t> shape = c.shape(1, 3);
  auto [step, samples] = stepAndSamples(c, shape[0]);
  Value x = c.floats(shape);
  c.subject(nn::DropoutOp::create(c.builder, c.b.location, x.getType(), x, step, samples,
                                  llvm::APFloat(c.random.choose({0.0, 0.1, 0.5, 0.9})),
                                  static_cast<uint64_t>(c.random.integer(0, 99)),
                                  static_cast<uint64_t>(c.random.integer(0, 99))));
}

/// Indices of a table of `rows`, some of them out of range.
Value indices(CaseBuilder &c, ArrayRef<int64_t> shape, int64_t rows) {
  return c.integers(shape, c.type(c.random.choose({DType::I32, DType::I64})), -1, rows);
}

void gather(CaseBuilder &c) {
  SmallVector<int64_t> table = c.shape(1, 3), picked = c.shape(0, 2), rows = picked;
  llvm::append_range(rows, ArrayRef<int64_t>(table).drop_front());
  Type type = c.anyElement();
  Value source = c.any(table, type);
  c.subject(nn::GatherOp::create(c.builder, c.b.location, c.tensor(rows, type), source,
                                 indices(c, picked, table[0])));
}

void scatterAdd(CaseBuilder &c) {
  SmallVector<int64_t> table = c.shape(1, 3), picked = c.shape(0, 2), rows = picked;
  llvm::append_range(rows, ArrayRef<int64_t>(table).drop_front());
  Value positions = indices(c, picked, table[0]), updates = c.floats(rows);
  c.subject(
      nn::ScatterAddOp::create(c.builder, c.b.location, c.tensor(table, c.element()), positions, updates));
}
} // namespace

void addIndexingCases(Generators &generators) {
  generators["constant"] = constant;
  generators["iota"] = iota;
  generators["random_uniform"] = randomUniform;
  generators["dropout"] = dropout;
  generators["gather"] = gather;
  generators["scatter_add"] = scatterAdd;
}

} // namespace weft::trials
