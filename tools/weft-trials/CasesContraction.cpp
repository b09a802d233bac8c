//===- CasesContraction.cpp - Cases of einsum and reductions ----------------===//
#include "tools/weft-trials/Cases.h"

using namespace mlir;

namespace weft::trials {
namespace {
/// Each letter is in one operand or both, and in the result or not: batch, row, column, contracted, summed
/// from one operand, kept from one operand. Terms are permuted at random.
void einsum(CaseBuilder &c) {
  std::string lhs, rhs, result;
  std::map<char, int64_t> sizes;
  auto insert = [&](std::string &term, char letter) {
    term.insert(term.begin() + c.random.integer(0, static_cast<int64_t>(term.size())), letter);
  };
  int64_t letters = c.random.integer(0, c.style.large ? 4 : 5), product = 1;
  for (int64_t index = 0; index < letters; ++index) {
    char letter = static_cast<char>('a' + c.random.integer(0, 4) * 5 + index);
    int64_t size = c.size();
    if (product * size > (c.style.large ? 300000 : 100))
      size = 2;
    sizes[letter] = size, product *= size;
    int64_t where = c.random.integer(1, 3); // 1: lhs, 2: rhs, 3: both
    if (where != 2)
      insert(lhs, letter);
    if (where != 1)
      insert(rhs, letter);
    if (c.random.chance(where == 3 ? 0.4 : 0.7))
      insert(result, letter);
  }
  auto shapeOf = [&](const std::string &term) {
    return llvm::map_to_vector(term, [&](char letter) { return sizes[letter]; });
  };
  Value x = c.floats(shapeOf(lhs)), y = c.floats(shapeOf(rhs));
  Type type = c.element();
  if (type.isBF16() && c.random.chance(0.5))
    type = c.builder.getF32Type();
  c.subject(c.b.einsum(lhs + "," + rhs + "->" + result, x, y, type).getDefiningOp());
}

void reduce(CaseBuilder &c) {
  SmallVector<int64_t> shape = c.shape(0, 4), dimensions;
  for (int64_t dimension = 0; dimension < static_cast<int64_t>(shape.size()); ++dimension)
    if (c.random.chance(0.5))
      dimensions.push_back(dimension);
  auto kind = c.random.choose({nn::Reduction::sum, nn::Reduction::max, nn::Reduction::min});
  Value x = c.any(shape, c.anyElement(), kind == nn::Reduction::sum ? Fill::Normal : Fill::Spaced);
  Type type = nn::tensorType(x).getElementType();
  if (kind == nn::Reduction::sum && type.isBF16() && c.random.chance(0.5))
    type = c.builder.getF32Type();
  c.subject(c.b.reduce(kind, x, dimensions, type).getDefiningOp());
}

void cumulativeSum(CaseBuilder &c) {
  SmallVector<int64_t> shape = c.shape(1, 3);
  Value x = c.any(shape, c.anyElement());
  int64_t dimension = c.random.integer(0, static_cast<int64_t>(shape.size()) - 1);
  c.subject(nn::CumulativeSumOp::create(c.builder, c.b.location, x.getType(), x,
                                        c.builder.getI64IntegerAttr(dimension)));
}

void topK(CaseBuilder &c) {
  SmallVector<int64_t> shape = c.shape(1, 3);
  Value x = c.floats(shape, Fill::Spaced);
  shape.back() = c.random.integer(1, shape.back());
  c.subject(nn::TopKOp::create(c.builder, c.b.location, c.tensor(shape, c.element()),
                               c.tensor(shape, c.builder.getI32Type()), x));
}

void squaredNorm(CaseBuilder &c) {
  SmallVector<int64_t> shape = c.shape(0, 3), sums;
  Value x = c.floats(shape);
  IntegerAttr rows;
  if (!shape.empty() && c.random.chance(0.5)) {
    rows = c.builder.getI64IntegerAttr(c.random.integer(0, static_cast<int64_t>(shape.size()) - 1));
    sums = {shape[rows.getInt()]};
  }
  c.subject(
      nn::SquaredNormOp::create(c.builder, c.b.location, c.tensor(sums, c.builder.getF64Type()), x, rows));
}
} // namespace

void addContractionCases(Generators &generators) {
  generators["einsum"] = einsum;
  generators["reduce"] = reduce;
  generators["cumulative_sum"] = cumulativeSum;
  generators["top_k"] = topK;
  generators["squared_norm"] = squaredNorm;
}

} // namespace weft::trials
