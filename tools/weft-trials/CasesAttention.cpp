//===- CasesAttention.cpp - Cases of attention and its backward -------------===//
//
// Every mask alone and with the others; query groups; more queries than keys and fewer; rows that see
// nothing.
//
//===----------------------------------------------------------------------===//
#include "tools/weft-trials/Cases.h"

#include <limits>

using namespace mlir;

namespace weft::trials {
namespace {
/// Ascending segment numbers, as packed samples have them.
Value segments(CaseBuilder &c, int64_t batch, int64_t positions, int64_t first) {
  Tensor value = *reference::makeZeros({DType::I32, {batch, positions}});
  for (int64_t sample = 0; sample < batch; ++sample)
    for (int64_t position = 0, segment = first; position < positions; ++position) {
      segment += c.random.chance(0.3) ? 1 : 0;
      value.integers[sample * positions + position] = segment;
    }
  return c.given(std::move(value));
}

/// Positions of each sample's rows: in order from anywhere, the chunks of a rank of a zigzag, or any at all.
Value positions(CaseBuilder &c, int64_t batch, int64_t rows) {
  Tensor value = *reference::makeZeros({DType::I32, {batch, rows}});
  for (int64_t sample = 0; sample < batch; ++sample) {
    int64_t first = c.random.integer(0, rows), border = c.random.integer(0, rows);
    int64_t gap = c.random.chance(0.5) ? c.random.integer(0, rows) : 0;
    bool shuffled = c.random.chance(0.2);
    for (int64_t row = 0; row < rows; ++row)
      value.integers[sample * rows + row] =
          shuffled ? c.random.integer(-2, 2 * rows) : first + row + (row < border ? 0 : gap);
  }
  return c.given(std::move(value));
}

nn::AttentionOp makeAttention(CaseBuilder &c) {
  bool large = c.style.large;
  int64_t batch = c.random.integer(1, 2), groups = c.random.integer(1, 2), perGroup = c.random.integer(1, 3);
  int64_t queries = c.size(), keys = c.random.chance(0.5) ? queries : c.size(), heads = groups * perGroup;
  int64_t dimension = large ? c.random.choose({1, 3, 8, 17, 32, 64}) : c.random.integer(1, 3);
  int64_t valueDimension = c.random.chance(0.7) ? dimension : (large ? 24 : 2);
  Value q = c.floats({batch, queries, heads, dimension}), k = c.floats({batch, keys, groups, dimension}),
        v = c.floats({batch, keys, groups, valueDimension});
  Value querySegments, keySegments, queryPositions, keyPositions, sinks;
  if (c.random.chance(0.4)) {
    querySegments = segments(c, batch, queries, 0);
    // Now and then no query shares a segment with any key.
    keySegments = segments(c, batch, keys, c.random.chance(0.2) ? 1000 : 0);
  }
  if (c.random.chance(0.4)) {
    queryPositions = positions(c, batch, queries);
    keyPositions = positions(c, batch, keys);
  }
  if (c.random.chance(0.4))
    sinks = c.floats({heads});
  double scale = c.random.choose({1.0, 0.5, 1.0 / std::sqrt(static_cast<double>(dimension))});
  Type statistics = c.style.element == DType::F64 ? c.element() : Type(c.builder.getF32Type());
  return nn::AttentionOp::create(
      c.builder, c.b.location, c.tensor({batch, queries, heads, valueDimension}, c.element()),
      c.tensor({batch, heads, queries}, statistics), q, k, v, querySegments, keySegments, queryPositions,
      keyPositions, sinks, llvm::APFloat(scale), c.random.chance(0.6),
      static_cast<uint64_t>(c.random.chance(0.4) ? c.random.integer(1, queries) : 0),
      llvm::APFloat(c.random.choose({0.0, 0.0, 1.5, 30.0})));
}

void attention(CaseBuilder &c) {
  c.subject(makeAttention(c));
  c.residual(1);
}

void attentionBackward(CaseBuilder &c) {
  nn::AttentionOp forward = makeAttention(c);
  Value cotangent = c.floats(nn::tensorType(forward.getResult()).getShape());
  SmallVector<Type> types = {forward.getQuery().getType(), forward.getKey().getType(),
                             forward.getValue().getType()};
  if (forward.getSinks())
    types.push_back(forward.getSinks().getType());
  c.subject(nn::AttentionBackwardOp::create(
      c.builder, c.b.location, types, cotangent, forward.getQuery(), forward.getKey(), forward.getValue(),
      forward.getResult(), forward.getLse(), forward.getQuerySegments(), forward.getKeySegments(),
      forward.getQueryPositions(), forward.getKeyPositions(), forward.getSinks(), forward.getScaleAttr(),
      forward.getCausalAttr(), forward.getWindowAttr(), forward.getSoftcapAttr(), forward.getRingAttr()));
}

/// One side of a merge: some rows saw no key, and have nothing.
std::pair<Value, Value> partialAttention(CaseBuilder &c, const std::vector<int64_t> &shape) {
  Tensor lse = *reference::makeZeros(
      {c.style.element == DType::F64 ? DType::F64 : DType::F32, {shape[0], shape[2], shape[1]}});
  bool hasEmptyRows = !c.style.smooth && c.random.chance(0.5);
  for (double &value : lse.reals)
    value = hasEmptyRows && c.random.chance(0.3) ? -std::numeric_limits<double>::infinity()
                                                 : c.random.integer(-400, 400) / 64.0;
  return {c.floats(shape), c.given(std::move(lse))};
}

void attentionMerge(CaseBuilder &c) {
  std::vector<int64_t> shape = {c.random.integer(1, 2), c.size(), c.random.integer(1, 4), c.size()};
  auto [output, lse] = partialAttention(c, shape);
  auto [otherOutput, otherLse] = partialAttention(c, shape);
  c.subject(nn::AttentionMergeOp::create(c.builder, c.b.location, output.getType(), lse.getType(), output,
                                         lse, otherOutput, otherLse));
}
} // namespace

void addAttentionCases(Generators &generators) {
  generators["attention"] = attention;
  generators["attention_backward"] = attentionBackward;
  generators["attention_merge"] = attentionMerge;
}

} // namespace weft::trials
