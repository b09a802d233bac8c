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

void loss(CaseBuilder &c) {
  c.subject(makeLoss(c));
  c.residual(2);
}

void lossBackward(CaseBuilder &c) {
  nn::LinearCrossEntropyOp forward = makeLoss(c);
  auto row = nn::tensorType(forward.getLoss());
  Value dLoss = c.floats(row.getShape(), Fill::Normal, row.getElementType()),
        dZ = c.floats(row.getShape(), Fill::Normal, row.getElementType());
  c.subject(nn::LinearCrossEntropyBackwardOp::create(
      c.builder, c.b.location, forward.getInput().getType(), forward.getWeight().getType(), dLoss, dZ,
      forward.getInput(), forward.getWeight(), forward.getTargets(), forward.getLse(),
      forward.getIgnoreIndexAttr(), forward.getLabelSmoothingAttr(), forward.getZLossAttr(),
      forward.getSoftcapAttr()));
}
/// Forward and backward together: `fuse` makes one kernel of them.
void lossHead(CaseBuilder &c) {
  nn::LinearCrossEntropyOp forward = makeLoss(c);
  auto row = nn::tensorType(forward.getLoss());
  Value dLoss = c.floats(row.getShape(), Fill::Normal, row.getElementType()),
        dZ = c.floats(row.getShape(), Fill::Normal, row.getElementType());
  auto backward = nn::LinearCrossEntropyBackwardOp::create(
      c.builder, c.b.location, forward.getInput().getType(), forward.getWeight().getType(), dLoss, dZ,
      forward.getInput(), forward.getWeight(), forward.getTargets(), forward.getLse(),
      forward.getIgnoreIndexAttr(), forward.getLabelSmoothingAttr(), forward.getZLossAttr(),
      forward.getSoftcapAttr());
  c.whole({forward.getLoss(), forward.getZLossValue(), forward.getLse(), backward.getInputCotangent(),
           backward.getWeightCotangent()});
}
} // namespace

void addLossHeadGroup(Generators &generators) { generators["linear_cross_entropy_head"] = lossHead; }

void addLossCases(Generators &generators) {
  generators["linear_cross_entropy"] = loss;
  generators["linear_cross_entropy_backward"] = lossBackward;
}

} // namespace weft::trials
