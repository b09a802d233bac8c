//===- CasesShape.cpp - Cases of primitives that move values ----------------===//
#include "tools/weft-trials/Cases.h"

using namespace mlir;

namespace weft::trials {
namespace {
template <typename OpTy, typename... Arguments> void create(CaseBuilder &c, Arguments &&...arguments) {
  c.subject(OpTy::create(c.builder, c.b.location, std::forward<Arguments>(arguments)...));
}

/// Splits or merges dimensions at random: both sides have the same prefix products somewhere, or nowhere.
void reshape(CaseBuilder &c) {
  SmallVector<int64_t> from = c.shape(0, 4), to;
  int64_t merged = 1;
  for (int64_t size : from) {
    merged *= size;
    if (c.random.chance(0.3))
      continue;
    for (int64_t factor : {2, 3})
      if (merged % factor == 0 && c.random.chance(0.4))
        to.push_back(factor), merged /= factor;
    if (c.random.chance(0.2))
      to.push_back(1);
    to.push_back(merged), merged = 1;
  }
  if (merged != 1)
    to.push_back(merged);
  Type type = c.anyElement();
  create<nn::ReshapeOp>(c, c.tensor(to, type), c.any(from, type));
}

void transpose(CaseBuilder &c) {
  SmallVector<int64_t> from = c.shape(0, 4), permutation, to;
  for (int64_t dimension = 0; dimension < static_cast<int64_t>(from.size()); ++dimension)
    permutation.insert(permutation.begin() + c.random.integer(0, dimension), dimension);
  for (int64_t dimension : permutation)
    to.push_back(from[dimension]);
  Type type = c.anyElement();
  create<nn::TransposeOp>(c, c.tensor(to, type), c.any(from, type), permutation);
}

void broadcast(CaseBuilder &c) {
  SmallVector<int64_t> to = c.shape(0, 4), from, dimensions;
  for (auto [dimension, size] : llvm::enumerate(to))
    if (c.random.chance(0.5))
      from.push_back(size), dimensions.push_back(static_cast<int64_t>(dimension));
  Type type = c.anyElement();
  create<nn::BroadcastOp>(c, c.tensor(to, type), c.any(from, type), dimensions);
}

/// A block of a tensor, at static offsets or dynamic starts.
struct BlockOf {
  SmallVector<int64_t> from, sizes, offsets;
  SmallVector<Value> starts;

  explicit BlockOf(CaseBuilder &c) : from(c.shape(1, 3)) {
    bool dynamic = c.random.chance(0.5);
    for (int64_t size : from) {
      sizes.push_back(c.random.chance(0.3) ? size : c.random.integer(1, size));
      offsets.push_back(c.random.integer(0, size - sizes.back()));
      if (dynamic) // out of range too: the block is clamped into place
        starts.push_back(c.integers({}, c.builder.getI64Type(), -3, size + 1));
    }
  }
};

void slice(CaseBuilder &c) {
  BlockOf block(c);
  Type type = c.anyElement();
  create<nn::SliceOp>(c, c.tensor(block.sizes, type), c.any(block.from, type), block.starts, block.offsets);
}

void updateSlice(CaseBuilder &c) {
  BlockOf block(c);
  Type type = c.anyElement();
  create<nn::UpdateSliceOp>(c, c.tensor(block.from, type), c.any(block.from, type), c.any(block.sizes, type),
                            block.starts, block.offsets);
}

void concatenate(CaseBuilder &c) {
  SmallVector<int64_t> shape = c.shape(1, 3);
  int64_t dimension = c.random.integer(0, static_cast<int64_t>(shape.size()) - 1), total = 0;
  Type type = c.anyElement();
  SmallVector<Value> parts;
  for (int64_t count = c.random.integer(1, 3); count > 0; --count) {
    shape[dimension] = c.size();
    total += shape[dimension];
    parts.push_back(c.any(shape, type));
  }
  shape[dimension] = total;
  create<nn::ConcatenateOp>(c, c.tensor(shape, type), parts, c.builder.getI64IntegerAttr(dimension));
}

void pad(CaseBuilder &c) {
  SmallVector<int64_t> from = c.shape(0, 3), to, low, high;
  for (int64_t size : from) {
    low.push_back(c.random.chance(0.4) ? 0 : c.random.integer(0, 2));
    high.push_back(c.random.chance(0.4) ? 0 : c.random.integer(0, 2));
    to.push_back(size + low.back() + high.back());
  }
  Type type = c.anyElement();
  double value = c.random.choose({0.0, 1.0, -2.0});
  create<nn::PadOp>(c, c.tensor(to, type), c.any(from, type), low, high, llvm::APFloat(value));
}
} // namespace

void addShapeCases(Generators &generators) {
  generators["reshape"] = reshape;
  generators["transpose"] = transpose;
  generators["broadcast"] = broadcast;
  generators["slice"] = slice;
  generators["update_slice"] = updateSlice;
  generators["concatenate"] = concatenate;
  generators["pad"] = pad;
}

} // namespace weft::trials
