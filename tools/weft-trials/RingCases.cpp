#include "tools/weft-trials/RingCases.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/PlacementRules.h"
#include "tools/weft-trials/Random.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace weft::trials {
namespace {

/// Sizes and features; everything but the program.
struct Draw {
  int64_t data, ring, ringMinor, heads; ///< ranks along each axis
  int64_t batch, positions, groups, perGroup, dimension, valueDimension;
  bool zigzag, causal, segments, sinks;
  int64_t window;
  double softcap;

  explicit Draw(Random &random) {
    data = random.chance(0.3) ? 2 : 1;
    ring = random.choose({1, 2, 2, 3, 4, 4, 5});
    ringMinor = ring <= 3 && random.chance(0.25) ? 2 : 1;
    heads = data * ring * ringMinor <= 8 && random.chance(0.4) ? 2 : 1;
    groups = random.integer(1, 3), perGroup = random.integer(1, 3);
    // The axis of heads is shared out between groups and the heads of one.
    if (heads > 1 && groups % 2 != 0)
      groups == 1 ? perGroup = 2 : groups = 2;
    batch = data * random.integer(1, 2);
    positions = 2 * ring * ringMinor * random.integer(1, 6);
    dimension = random.choose({1, 3, 4, 8}), valueDimension = random.chance(0.7) ? dimension : 5;
    zigzag = random.chance(0.5), causal = random.chance(0.7);
    segments = random.chance(0.35), sinks = random.chance(0.35);
    window = random.chance(0.35) ? random.integer(1, positions) : 0;
    softcap = random.chance(0.25) ? 1.5 : 0.0;
  }
};

class RingCaseBuilder {
public:
  RingCaseBuilder(MLIRContext *context, uint64_t seed)
      : random(seed), draw(random), location(UnknownLoc::get(context)), builder(context) {
    Builder names(context);
    SmallVector<StringAttr> axisNames;
    for (const char *name : {"d0", "c0", "c1", "t0"})
      axisNames.push_back(names.getStringAttr(name));
    mesh = dist::MeshAttr::get(context, axisNames, {draw.data, draw.ring, draw.ringMinor, draw.heads},
                               DictionaryAttr::get(context, {}));
  }

  RingCase build() {
    item.ranks = draw.ring * draw.ringMinor;
    item.isZigzag = draw.zigzag;
    item.isPlainlyCausal = draw.causal && !draw.segments && draw.window == 0;
    item.module = ModuleOp::create(location);
    (*item.module)->setAttr(dist::kMeshAttribute, mesh);
    builder.setInsertionPointToEnd(item.module->getBody());
    function = func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
    function.addEntryBlock();
    builder.setInsertionPointToStart(&function.getBody().front());
    buildProgram();
    describe();
    return std::move(item);
  }

private:
  /// Splits over the mesh by dimension: b batch, s positions, n heads, g groups, . whole.
  dist::Placement at(StringRef term) const {
    dist::Placement placement = dist::replicated(mesh, static_cast<int64_t>(term.size()));
    for (auto [letter, split] : llvm::zip_equal(term, placement.splits)) {
      if (letter == 'b')
        split.axes = {0};
      if (letter == 's')
        split = {draw.ringMinor > 1 ? dist::Axes{1, 2} : dist::Axes{1}, draw.zigzag};
      // Where groups do not divide, all ranks need the keys of the one group.
      if (draw.heads > 1 && (letter == 'n' || (letter == 'g' && draw.groups % draw.heads == 0)))
        split.axes = {3};
    }
    return placement;
  }

  Value argument(StringRef term, Tensor value, Type element) {
    item.inputs.push_back(std::move(value));
    return function.getBody().front().addArgument(
        dist::globalType(item.inputs.back().shape, element, at(term)), location);
  }
  Value floats(StringRef term, std::vector<int64_t> shape) {
    Tensor value = *reference::makeZeros({DType::F32, std::move(shape)});
    for (double &real : value.reals)
      real = static_cast<float>(random.normal());
    return argument(term, std::move(value), builder.getF32Type());
  }
  /// One row of integers per sample, from `next(position, value before)`.
  template <typename Next> Value integers(Next next) {
    Tensor value = *reference::makeZeros({DType::I32, {draw.batch, draw.positions}});
    for (int64_t sample = 0; sample < draw.batch; ++sample)
      for (int64_t position = 0, last = 0; position < draw.positions; ++position)
        value.integers[sample * draw.positions + position] = last = next(position, last);
    return argument("bs", std::move(value), builder.getI32Type());
  }

  void buildProgram() {
    int64_t heads = draw.groups * draw.perGroup, b = draw.batch, s = draw.positions;
    Value query = floats("bsn.", {b, s, heads, draw.dimension});
    Value key = floats("bsg.", {b, s, draw.groups, draw.dimension});
    Value value = floats("bsg.", {b, s, draw.groups, draw.valueDimension});
    Value cotangent = floats("bsn.", {b, s, heads, draw.valueDimension});
    item.positionsInput = item.inputs.size();
    Value positions = integers([](int64_t position, int64_t) { return position; }), segments, sinks;
    if (draw.segments)
      segments = integers([&](int64_t, int64_t last) { return last + (random.chance(0.2) ? 1 : 0); });
    if (draw.sinks)
      sinks = floats("n", {heads});
    auto scale = builder.getF64FloatAttr(1.0 / std::sqrt(static_cast<double>(draw.dimension)));
    UnitAttr causal = draw.causal ? builder.getUnitAttr() : UnitAttr();
    auto window = builder.getI64IntegerAttr(draw.window);
    auto softcap = builder.getF64FloatAttr(draw.softcap);
    Type f32 = builder.getF32Type();
    auto plain = [&](ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, f32); };
    auto forward = nn::AttentionOp::create(
        builder, location, TypeRange{plain({b, s, heads, draw.valueDimension}), plain({b, heads, s})}, query,
        key, value, segments, segments, positions, positions, sinks, scale, causal, window, softcap,
        builder.getUnitAttr());
    place(forward);
    SmallVector<Type> types = {plain({b, s, heads, draw.dimension}),
                               plain({b, s, draw.groups, draw.dimension}),
                               plain({b, s, draw.groups, draw.valueDimension})};
    if (sinks)
      types.push_back(plain({heads}));
    auto backward = nn::AttentionBackwardOp::create(builder, location, types, cotangent, query, key, value,
                                                    forward.getResult(), forward.getLse(), segments, segments,
                                                    positions, positions, sinks, scale, causal, window,
                                                    softcap, builder.getUnitAttr());
    place(backward);
    SmallVector<Value> results(forward.getResults());
    llvm::append_range(results, backward.getResults());
    item.resultNames = {"o", "lse", "dq", "dk", "dv"};
    if (sinks)
      item.resultNames.push_back("dsinks");
    finishFunction(function, results);
    for (auto [index, name] : llvm::enumerate(item.resultNames))
      function.setResultAttr(index, "nn.name", builder.getStringAttr(name));
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      function.setArgAttr(index, "nn.name", builder.getStringAttr(absl::StrCat("input", index)));
    boundCancelling();
    countBytes({key, value, positions}, segments, {key, value});
  }

  /// The types that the op's rule gives its results.
  void place(Operation *op) {
    nn::ShardingRule rule = cast<nn::ShardingRuleOpInterface>(op).shardingRule();
    nn::FactorSplits splits(rule.factors.size());
    for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands))
      for (auto [split, factors] : llvm::zip_equal(dist::placementOf(operand).splits, dimensions)) {
        auto shares = nn::shareOut(rule, mesh, factors, split);
        for (auto [factor, share] : llvm::zip_equal(factors, *shares))
          splits[factor] = share;
      }
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      result.setType(
          dist::globalType(nn::tensorType(result).getShape(), nn::tensorType(result).getElementType(),
                           nn::resultPlacement(rule, mesh, splits, static_cast<unsigned>(index), {}, {})));
  }

  /// The gradient of a score is p (do v - D), where D is the mean of do v over the keys: with one key they
  /// are equal, and rounding is all that is left. So |terms of dq| <= 2 scale |do| max|v| max|k|, and those
  /// of dk, whose queries add up, likewise with max|q| and the root of how many there are.
  void boundCancelling() {
    auto rows = [&](size_t input) {
      const Tensor &tensor = item.inputs[input];
      std::vector<double> norms(tensor.reals.size() / tensor.shape.back());
      for (size_t i = 0; i < tensor.reals.size(); ++i)
        norms[i / tensor.shape.back()] += tensor.reals[i] * tensor.reals[i];
      return norms;
    };
    auto most = [&](size_t input) {
      std::vector<double> norms = rows(input);
      return std::sqrt(*std::max_element(norms.begin(), norms.end()));
    };
    std::vector<double> cotangents = rows(3); // inputs are query, key, value, cotangent, ...
    double common = 2 / std::sqrt(static_cast<double>(draw.dimension)) * most(2) *
                    std::sqrt(std::accumulate(cotangents.begin(), cotangents.end(), 0.0));
    item.cancelling.assign(item.resultNames.size(), 0.0);
    item.cancelling[2] = common * most(1);
    item.cancelling[3] = common * most(0) * std::sqrt(static_cast<double>(draw.positions * draw.perGroup));
  }

  void countBytes(ArrayRef<Value> travel, Value segments, ArrayRef<Value> home) {
    auto bytes = [](Value value) {
      int64_t size = (nn::tensorType(value).getElementTypeBitWidth() + 7) / 8;
      for (int64_t part : dist::partShape(nn::tensorType(value).getShape(), dist::placementOf(value)))
        size *= part;
      return size;
    };
    for (Value value : travel)
      item.travellingBytes += bytes(value);
    if (segments)
      item.travellingBytes += bytes(segments);
    for (Value value : home)
      item.homeBytes += bytes(value); // gradients are float32, as these keys and values are
  }

  void describe() {
    item.kind = absl::StrCat("ring of ", item.ranks);
    for (auto [has, feature] :
         {std::pair(draw.zigzag, "zigzag"), std::pair(draw.causal, "causal"),
          std::pair(draw.window > 0, "window"), std::pair(draw.segments, "segments"),
          std::pair(draw.sinks, "sinks"), std::pair(draw.softcap > 0, "softcap"),
          std::pair(draw.data > 1, "data"), std::pair(draw.heads > 1, "tensor"),
          std::pair(draw.ringMinor > 1, "two axes"), std::pair(draw.perGroup > 1, "query groups")})
      if (has)
        item.features.insert(feature);
    item.text = absl::StrCat(item.kind, ", ", draw.batch, "x", draw.positions, ", ", draw.groups,
                             " groups of ", draw.perGroup, ": ", absl::StrJoin(item.features, ", "));
  }

  Random random;
  Draw draw;
  Location location;
  OpBuilder builder;
  dist::MeshAttr mesh;
  func::FuncOp function;
  RingCase item;
};
} // namespace

RingCase drawRingCase(MLIRContext *context, uint64_t seed) { return RingCaseBuilder(context, seed).build(); }

} // namespace weft::trials
