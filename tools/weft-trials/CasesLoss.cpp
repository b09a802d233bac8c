//===- CasesLoss.cpp - Cases of the loss head and its backward --------------===//
#include "tools/weft-trials/Cases.h"

using namespace mlir;

namespace weft::trials {
namespace {
nn::LinearCrossEntropyOp makeLoss(CaseBuilder &c) {
  int64_t vocabulary = c.style.large ? c.random.choose({1, 3, 17, 100, 257}) : c.random.integer(1, 5);
  SmallVector<int64_t> input = c.shape(1, 3), rows(ArrayRef<int64_t>(input).drop_back());
  Value x = c.floats(input), w = c.floats({vocabulary, input.back()});
  int64_t ignored = c.random.choose({-100, -1, 0});
  // In range, ignored, and neither.
  Tensor targets = *reference::makeZeros({DType::I32, {rows.begin(), rows.end()}});
  for (int64_t &target : targets.integers)
    target =
        c.random.chance(0.15) ? ignored : c.random.integer(c.random.chance(0.1) ? -2 : 0, vocabulary - 1);
  Value wanted = c.given(std::move(targets));
  Type statistics = c.style.element == DType::F64 ? c.element() : Type(c.builder.getF32Type());
  Type row = c.tensor(rows, statistics);
  return nn::LinearCrossEntropyOp::create(
      c.builder, c.b.location, row, row, row, x, w, wanted, static_cast<uint64_t>(ignored),
      llvm::APFloat(c.random.choose({0.0, 0.1, 0.5})), llvm::APFloat(c.random.choose({0.0, 1e-4, 0.1})),
      llvm::APFloat(c.random.choose({0.0, 0.0, 2.0, 30.0})));
}

/// Now and then, how many rows of the weight exist.
Value makeValid(CaseBuilder &c, Value weight) {
  if (!c.random.chance(0.4))
    return {};
  Tensor valid = *reference::makeZeros({DType::I64, {}});
  valid.integers[0] = c.random.integer(0, nn::tensorType(weight).getDimSize(0));
  return c.given(std::move(valid));
}

/// The statistics of the case that `makeLoss` draws.
nn::LinearCrossEntropyStatisticsOp makeStatistics(CaseBuilder &c, nn::LinearCrossEntropyOp whole,
                                                  Value valid) {
  Type row = whole.getLse().getType();
  return nn::LinearCrossEntropyStatisticsOp::create(c.builder, c.b.location, row, row, row, whole.getInput(),
                                                    whole.getWeight(), whole.getTargets(), valid,
                                                    whole.getSoftcapAttr());
}

void lossStatistics(CaseBuilder &c) {
  nn::LinearCrossEntropyOp whole = makeLoss(c);
  c.subject(makeStatistics(c, whole, makeValid(c, whole.getWeight())));
}

void loss(CaseBuilder &c) {
  c.subject(makeLoss(c));
  c.residual(2);
}

nn::LinearCrossEntropyBackwardOp makeBackward(CaseBuilder &c, nn::LinearCrossEntropyOp forward) {
  auto row = nn::tensorType(forward.getLoss());
  Value dLoss = c.floats(row.getShape(), Fill::Normal, row.getElementType()),
        dZ = c.floats(row.getShape(), Fill::Normal, row.getElementType());
  return nn::LinearCrossEntropyBackwardOp::create(
      c.builder, c.b.location, forward.getInput().getType(), forward.getWeight().getType(), dLoss, dZ,
      forward.getInput(), forward.getWeight(), forward.getTargets(), forward.getLse(), Value(),
      forward.getIgnoreIndexAttr(), forward.getLabelSmoothingAttr(), forward.getZLossAttr(),
      forward.getSoftcapAttr(), IntegerAttr());
}

/// The backward of all of the vocabulary, or of a part: of one whose softmax has more words, and maybe
/// padding.
void lossBackward(CaseBuilder &c) {
  nn::LinearCrossEntropyOp forward = makeLoss(c);
  nn::LinearCrossEntropyBackwardOp backward = makeBackward(c, forward);
  if (c.random.chance(0.5)) {
    int64_t words = nn::tensorType(forward.getWeight()).getDimSize(0);
    backward.setIgnoreIndex(static_cast<uint64_t>(-100));
    backward.setPartOf(static_cast<uint64_t>(words + c.random.integer(0, 9)));
    if (Value valid = makeValid(c, forward.getWeight()))
      backward.getValidMutable().assign(valid);
  }
  c.subject(backward);
}
/// Forward and backward together: `fuse` makes one kernel of them.
void lossHead(CaseBuilder &c) {
  nn::LinearCrossEntropyOp forward = makeLoss(c);
  nn::LinearCrossEntropyBackwardOp backward = makeBackward(c, forward);
  c.whole({forward.getLoss(), forward.getZLossValue(), forward.getLse(), backward.getInputCotangent(),
           backward.getWeightCotangent()});
}
} // namespace

void addLossHeadGroup(Generators &generators) { generators["linear_cross_entropy_head"] = lossHead; }

void addLossCases(Generators &generators) {
  generators["linear_cross_entropy"] = loss;
  generators["linear_cross_entropy_backward"] = lossBackward;
  generators["linear_cross_entropy_statistics"] = lossStatistics;
}

} // namespace weft::trials
