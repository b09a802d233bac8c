//===- LinearCrossEntropyTest.cpp - The blocked loss against its definition ===//
#include "KernelHarness.h"

#include "kernels/cpu/Cpu.h"

#include "gmock/gmock.h"

#include <cmath>
#include <limits>

namespace weft::cpu {
namespace {

struct LossCase {
  std::string name;
  std::vector<int64_t> leading = {1};
  int64_t hidden = 1, vocabulary = 1;
  DType type = DType::F32;
  DType weightGradient = DType::F32; ///< of a narrow call
  double labelSmoothing = 0, zLoss = 0, softcap = 0;
  double spread = 1; ///< standard deviation of x and w

  int64_t rows() const {
    int64_t product = 1;
    for (int64_t size : leading)
      product *= size;
    return product;
  }
  DType statistics() const { return type == DType::F64 ? DType::F64 : DType::F32; }
  TensorType x() const {
    std::vector<int64_t> shape = leading;
    shape.push_back(hidden);
    return {type, shape};
  }
  TensorType w() const { return {type, {vocabulary, hidden}}; }
  TensorType perRow(DType dtype) const { return {dtype, leading}; }

  KernelCall call(const char *kernel) const {
    KernelCall call;
    call.name = kernel;
    call.setInteger("ignore_index", -100);
    call.setNumber("label_smoothing", labelSmoothing);
    call.setNumber("z_loss", zLoss);
    call.setNumber("softcap", softcap);
    TensorType value = perRow(statistics());
    bool forward = call.name != "linear_cross_entropy_backward",
         backward = call.name != "linear_cross_entropy" && call.name != "linear_cross_entropy_statistics";
    if (backward)
      call.operands = {value, value};
    call.operands.insert(call.operands.end(), {x(), w(), perRow(DType::I32)});
    if (!forward)
      call.operands.push_back(value);
    if (forward)
      call.results = {value, value, value};
    if (backward)
      call.results.insert(call.results.end(),
                          {x(), {type == DType::F64 ? DType::F64 : weightGradient, w().shape}});
    return call;
  }
};

void PrintTo(const LossCase &c, std::ostream *out) { *out << c.call("linear_cross_entropy").str(); }

/// dloss, dz_loss, x, w, targets. Every seventh target is ignored, every eleventh out of range.
std::vector<Tensor> operandsOf(const LossCase &c, uint64_t seed) {
  std::vector<Tensor> list;
  list.push_back(randomTensor(c.perRow(c.statistics()), seed));
  list.push_back(randomTensor(c.perRow(c.statistics()), seed + 1));
  list.push_back(randomTensor(c.x(), seed + 2, c.spread));
  list.push_back(randomTensor(c.w(), seed + 3, c.spread));
  std::vector<double> targets(c.rows());
  for (int64_t r = 0; r < c.rows(); ++r)
    targets[r] = r % 7 == 6     ? -100
                 : r % 11 == 10 ? static_cast<double>(c.vocabulary)
                                : (r * 31) % c.vocabulary;
  list.emplace_back(c.perRow(DType::I32), targets);
  return list;
}

Tensor copyOf(const Tensor &tensor) { return Tensor(tensor.type(), tensor.values()); }

/// x, w, targets of operandsOf().
std::vector<Tensor> forwardOperands(const std::vector<Tensor> &operands) {
  std::vector<Tensor> list;
  for (size_t i = 2; i < 5; ++i)
    list.push_back(copyOf(operands[i]));
  return list;
}

struct LossValues {
  std::vector<double> loss, zLoss, lse, xGradient, wGradient;
  std::vector<double> xTerms, wTerms; ///< the magnitudes of the terms that gradients are sums of, added up
};

/// By definition, one row of logits at a time, in float64.
LossValues reference(const LossCase &c, const std::vector<Tensor> &operands) {
  std::vector<double> lossGradient = operands[0].values(), zLossGradient = operands[1].values(),
                      x = operands[2].values(), w = operands[3].values(), targets = operands[4].values();
  const int64_t rows = c.rows(), h = c.hidden, v = c.vocabulary;
  LossValues result{std::vector<double>(rows),     std::vector<double>(rows),  std::vector<double>(rows),
                    std::vector<double>(rows * h), std::vector<double>(v * h), std::vector<double>(rows * h),
                    std::vector<double>(v * h)};
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> logits(v), slopes(v, 1);
    double maximum = -std::numeric_limits<double>::infinity(), mean = 0, sum = 0;
    for (int64_t j = 0; j < v; ++j) {
      for (int64_t l = 0; l < h; ++l)
        logits[j] += x[r * h + l] * w[j * h + l];
      if (c.softcap > 0) {
        double tanh = std::tanh(logits[j] / c.softcap);
        logits[j] = c.softcap * tanh, slopes[j] = 1 - tanh * tanh;
      }
      maximum = std::max(maximum, logits[j]);
      mean += logits[j] / v;
    }
    for (double logit : logits)
      sum += std::exp(logit - maximum);
    const double lse = maximum + std::log(sum), smoothing = c.labelSmoothing;
    result.lse[r] = lse;
    const bool counts = targets[r] >= 0 && targets[r] < v;
    if (!counts)
      continue;
    const int64_t target = static_cast<int64_t>(targets[r]);
    result.loss[r] = lse - (1 - smoothing) * logits[target] - smoothing * mean;
    result.zLoss[r] = c.zLoss * lse * lse;
    for (int64_t j = 0; j < v; ++j) {
      const double p = std::exp(logits[j] - lse);
      double gradient = lossGradient[r] * (p - (j == target ? 1 - smoothing : 0) - smoothing / v);
      gradient = (gradient + zLossGradient[r] * 2 * c.zLoss * lse * p) * slopes[j];
      for (int64_t l = 0; l < h; ++l) {
        result.xGradient[r * h + l] += gradient * w[j * h + l];
        result.wGradient[j * h + l] += gradient * x[r * h + l];
        result.xTerms[r * h + l] += std::abs(gradient * w[j * h + l]);
        result.wTerms[j * h + l] += std::abs(gradient * x[r * h + l]);
      }
    }
  }
  return result;
}

/// Float32 rounding of a logit grows with the length and size of its product; what depends on it sees that
/// error.
double slackOf(const LossCase &c, int64_t terms, double magnitude) {
  const double logit = c.spread * c.spread * c.hidden;
  return roundoff(c.statistics()) * (16 + 4 * logit) * std::sqrt(static_cast<double>(terms)) * magnitude;
}

/// Where x is bfloat16, the gradients of logits are rounded to it: each term is.
double roundingOfGradients(const LossCase &c, const std::vector<double> &terms) {
  return c.type == DType::BF16 ? roundoff(DType::BF16) * largestMagnitude(terms) : 0;
}

std::vector<LossCase> cases() {
  std::vector<LossCase> list;
  for (int64_t size : {1, 3, 17, 65})
    list.push_back(
        {.name = "odd_size_" + std::to_string(size), .leading = {size}, .hidden = size, .vocabulary = size});
  list.push_back({.name = "scalar_row", .leading = {}, .hidden = 5, .vocabulary = 9});
  LossCase base{.name = "", .leading = {2, 150}, .hidden = 20, .vocabulary = 1100, .spread = 0.5};
  auto add = [&](const char *name, auto change) {
    LossCase c = base;
    c.name = name;
    change(c);
    list.push_back(c);
  };
  add("several_row_blocks_and_tiles", [](LossCase &) {});
  add("wide_hidden",
      [](LossCase &c) { c.leading = {40}, c.hidden = 530, c.vocabulary = 130, c.spread = 0.2; });
  add("label_smoothing", [](LossCase &c) { c.labelSmoothing = 0.1; });
  add("z_loss", [](LossCase &c) { c.zLoss = 1e-2; });
  add("softcap", [](LossCase &c) { c.softcap = 2; });
  add("everything", [](LossCase &c) { c.labelSmoothing = 0.2, c.zLoss = 1e-2, c.softcap = 3; });
  const size_t plain = list.size();
  for (size_t i = 0; i < plain; ++i)
    for (DType type : {DType::BF16, DType::F16, DType::F64}) {
      LossCase c = list[i];
      c.type = type;
      c.name += "_" + std::string(name(type));
      list.push_back(c);
    }
  list.push_back(list[plain + 3 * 5]);
  list.back().weightGradient = DType::BF16;
  list.back().name += "_with_bf16_weight_gradient";
  // More rows than a block of tiles has, and more words than one of their groups.
  list.push_back(base);
  list.back().name = "many_rows_and_words_bf16";
  list.back().leading = {1100}, list.back().vocabulary = 2000, list.back().type = DType::BF16;
  list.push_back(list.back());
  list.back().weightGradient = DType::BF16;
  list.back().name += "_with_bf16_weight_gradient";
  return list;
}

class LinearCrossEntropy : public testing::TestWithParam<LossCase> {};

INSTANTIATE_TEST_SUITE_P(Cases, LinearCrossEntropy, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

/// Threads see the same tiles whatever the type: float32, and one type that is converted.
std::vector<LossCase> casesForThreads() {
  std::vector<LossCase> list = cases();
  std::erase_if(list, [](const LossCase &c) { return c.type == DType::F16 || c.type == DType::F64; });
  return list;
}

class LinearCrossEntropyThreads : public testing::TestWithParam<LossCase> {};

INSTANTIATE_TEST_SUITE_P(Cases, LinearCrossEntropyThreads, testing::ValuesIn(casesForThreads()),
                         [](const auto &info) { return info.param.name; });

std::vector<LossCase> casesOfBfloat16() {
  std::vector<LossCase> list = cases();
  std::erase_if(list, [](const LossCase &c) { return c.type != DType::BF16; });
  return list;
}
class LinearCrossEntropyOfBfloat16 : public testing::TestWithParam<LossCase> {};

INSTANTIATE_TEST_SUITE_P(Cases, LinearCrossEntropyOfBfloat16, testing::ValuesIn(casesOfBfloat16()),
                         [](const auto &info) { return info.param.name; });

TEST_P(LinearCrossEntropy, EqualsItsDefinition) {
  const LossCase &c = GetParam();
  std::vector<Tensor> operands = operandsOf(c, 1);
  KernelCall call = c.call("linear_cross_entropy_forward_backward");
  auto results = runKernel(call, operands);
  ASSERT_TRUE(results.ok()) << results.status();
  LossValues expected = reference(c, operands);
  const double slack = slackOf(c, c.vocabulary, 1);
  EXPECT_TRUE(isNear((*results)[0].values(), expected.loss, c.statistics(), slack));
  EXPECT_TRUE(isNear((*results)[1].values(), expected.zLoss, c.statistics(), slack));
  EXPECT_TRUE(isNear((*results)[2].values(), expected.lse, c.statistics(), slack));
  EXPECT_TRUE(isNear((*results)[3].values(), expected.xGradient, c.type,
                     roundingOfGradients(c, expected.xTerms) +
                         slackOf(c, c.vocabulary, std::max(c.spread, largestMagnitude(expected.xGradient)))));
  EXPECT_TRUE(isNear((*results)[4].values(), expected.wGradient, call.results[4].dtype,
                     roundingOfGradients(c, expected.wTerms) +
                         slackOf(c, c.rows(), std::max(c.spread, largestMagnitude(expected.wGradient)))));
}

TEST_P(LinearCrossEntropy, ForwardAndBackwardTogetherHaveTheBitsOfTheTwo) {
  const LossCase &c = GetParam();
  std::vector<Tensor> operands = operandsOf(c, 2);
  auto both = runKernel(c.call("linear_cross_entropy_forward_backward"), operands);
  ASSERT_TRUE(both.ok()) << both.status();
  auto forward = runKernel(c.call("linear_cross_entropy"), forwardOperands(operands));
  ASSERT_TRUE(forward.ok()) << forward.status();
  std::vector<Tensor> backwardOperands;
  for (const Tensor &operand : operands)
    backwardOperands.push_back(copyOf(operand));
  backwardOperands.push_back(copyOf((*forward)[2]));
  auto backward = runKernel(c.call("linear_cross_entropy_backward"), backwardOperands);
  ASSERT_TRUE(backward.ok()) << backward.status();
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ((*both)[i].bytes(), (*forward)[i].bytes()) << "result " << i;
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ((*both)[3 + i].bytes(), (*backward)[i].bytes()) << "gradient " << i;
}

TEST_P(LinearCrossEntropyOfBfloat16, RoundsAFloat32WeightAsACastWould) {
  const LossCase &c = GetParam();
  std::vector<Tensor> operands = operandsOf(c, 4);
  const Tensor weight = randomTensor({DType::F32, c.w().shape}, 5, c.spread);
  operands[3] = Tensor(c.w(), weight.values());
  auto forward = runKernel(c.call("linear_cross_entropy"), forwardOperands(operands));
  ASSERT_TRUE(forward.ok()) << forward.status();
  auto expectSame = [&](const char *kernel, std::vector<Tensor> list, size_t place) {
    KernelCall call = c.call(kernel);
    auto cast = runKernel(call, list);
    list[place] = copyOf(weight);
    call.operands[place].dtype = DType::F32;
    call.setInteger("weight_type", static_cast<int64_t>(DType::BF16));
    auto rounded = runKernel(call, list);
    ASSERT_TRUE(cast.ok() && rounded.ok()) << cast.status() << rounded.status();
    for (size_t i = 0; i < cast->size(); ++i)
      EXPECT_EQ((*cast)[i].bytes(), (*rounded)[i].bytes()) << kernel << ", result " << i;
  };
  std::vector<Tensor> backward;
  for (const Tensor &operand : operands)
    backward.push_back(copyOf(operand));
  expectSame("linear_cross_entropy", forwardOperands(operands), 1);
  expectSame("linear_cross_entropy_forward_backward", std::move(operands), 3);
  backward.push_back(copyOf((*forward)[2]));
  expectSame("linear_cross_entropy_backward", std::move(backward), 3);
}

TEST_P(LinearCrossEntropyThreads, GiveTheSameBitsInAnyNumber) {
  const LossCase &c = GetParam();
  std::vector<Tensor> operands = operandsOf(c, 3);
  KernelCall both = c.call("linear_cross_entropy_forward_backward"), forward = c.call("linear_cross_entropy");
  auto one = runKernel(both, operands, 1), oneForward = runKernel(forward, forwardOperands(operands), 1);
  ASSERT_TRUE(one.ok()) << one.status();
  for (int threads : {2, 3}) {
    auto again = runKernel(both, operands, threads);
    for (size_t i = 0; i < one->size(); ++i)
      EXPECT_EQ((*again)[i].bytes(), (*one)[i].bytes()) << "result " << i << ", " << threads << " threads";
    auto forwardAgain = runKernel(forward, forwardOperands(operands), threads);
    for (size_t i = 0; i < oneForward->size(); ++i)
      EXPECT_EQ((*forwardAgain)[i].bytes(), (*oneForward)[i].bytes()) << "result " << i;
  }
}

/// One rank's part of the vocabulary: `size` rows of w, of which the first `valid` are those from `start`.
struct VocabularyPart {
  int64_t start, valid, size;

  /// Behind the valid rows is what would be noticed.
  Tensor weight(const LossCase &c, const Tensor &w) const {
    std::vector<double> all = w.values(), mine(size * c.hidden, std::nan(""));
    std::copy_n(all.begin() + start * c.hidden, valid * c.hidden, mine.begin());
    return Tensor({c.type, {size, c.hidden}}, mine);
  }
  Tensor targets(const Tensor &whole) const {
    std::vector<double> shifted = whole.values();
    for (double &target : shifted)
      target -= static_cast<double>(start);
    return Tensor(whole.type(), shifted);
  }
  Tensor validRows() const { return Tensor({DType::I64, {}}, {static_cast<double>(valid)}); }
};

/// Three parts of ceiling division; where that leaves nothing for the last, it is all padding.
std::vector<VocabularyPart> partsOf(int64_t vocabulary) {
  const int64_t size = (vocabulary + 2) / 3;
  std::vector<VocabularyPart> parts;
  for (int64_t start : {int64_t{0}, size, 2 * size}) {
    const int64_t first = std::min(start, vocabulary);
    parts.push_back({first, std::min(size, vocabulary - first), size});
  }
  return parts;
}

TEST_P(LinearCrossEntropy, StatisticsOfPartsOfTheVocabularyMerge) {
  const LossCase &c = GetParam();
  std::vector<Tensor> operands = operandsOf(c, 6);
  LossValues expected = reference(c, operands);
  std::vector<double> sum(c.rows()), atTarget(c.rows()), total(c.rows());
  for (const VocabularyPart &part : partsOf(c.vocabulary)) {
    std::vector<Tensor> given;
    given.push_back(copyOf(operands[2]));
    given.push_back(part.weight(c, operands[3]));
    given.push_back(part.targets(operands[4]));
    given.push_back(part.validRows());
    KernelCall call = c.call("linear_cross_entropy_statistics");
    call.operands[1].shape[0] = part.size;
    call.operands.push_back(given.back().type());
    auto one = runKernel(call, given, 1), results = runKernel(call, given, 3);
    ASSERT_TRUE(one.ok() && results.ok()) << results.status();
    for (size_t i = 0; i < results->size(); ++i)
      EXPECT_EQ((*one)[i].bytes(), (*results)[i].bytes()) << "result " << i;
    std::vector<double> lse = (*results)[0].values();
    for (int64_t r = 0; r < c.rows(); ++r) {
      EXPECT_EQ(std::isinf(lse[r]), part.valid == 0);
      sum[r] += std::exp(lse[r] - expected.lse[r]);
      atTarget[r] += (*results)[1].values()[r];
      total[r] += (*results)[2].values()[r];
    }
  }
  std::vector<double> targets = operands[4].values(), loss(c.rows()), ones(c.rows(), 1.0);
  for (int64_t r = 0; r < c.rows(); ++r)
    if (targets[r] >= 0 && targets[r] < c.vocabulary)
      loss[r] = expected.lse[r] + std::log(sum[r]) - (1 - c.labelSmoothing) * atTarget[r] -
                c.labelSmoothing * total[r] / c.vocabulary;
  const double slack = slackOf(c, c.vocabulary, 1);
  EXPECT_TRUE(isNear(sum, ones, c.statistics(), slack));
  EXPECT_TRUE(isNear(loss, expected.loss, c.statistics(), slack));
}

TEST_P(LinearCrossEntropy, BackwardOfPartsOfTheVocabularyMerges) {
  const LossCase &c = GetParam();
  std::vector<Tensor> operands = operandsOf(c, 7);
  LossValues expected = reference(c, operands);
  for (int64_t r = 0; r < c.rows(); ++r) // rows that do not count are told by cotangents of 0
    if (double target = operands[4].values()[r]; target < 0 || target >= c.vocabulary)
      for (size_t which : {0, 1}) {
        std::vector<double> cotangents = operands[which].values();
        cotangents[r] = 0;
        operands[which] = Tensor(operands[which].type(), cotangents);
      }
  std::vector<double> xGradient(expected.xGradient.size()), wGradient;
  double roundingOfTerms = 0; // each part's dx is rounded to its type, and may be larger than the sum
  KernelCall call = c.call("linear_cross_entropy_backward");
  call.setInteger("part_of", c.vocabulary);
  for (const VocabularyPart &part : partsOf(c.vocabulary)) {
    std::vector<Tensor> given;
    for (size_t i : {0, 1, 2})
      given.push_back(copyOf(operands[i]));
    given.push_back(part.weight(c, operands[3]));
    given.push_back(part.targets(operands[4]));
    given.emplace_back(c.perRow(c.statistics()), expected.lse);
    given.push_back(part.validRows());
    KernelCall ofPart = call;
    ofPart.operands[3].shape[0] = ofPart.results[1].shape[0] = part.size;
    ofPart.operands.push_back(given.back().type());
    auto results = runKernel(ofPart, given);
    ASSERT_TRUE(results.ok()) << results.status();
    std::vector<double> dx = (*results)[0].values(), dw = (*results)[1].values();
    roundingOfTerms += roundoff(c.type) * largestMagnitude(dx);
    for (size_t i = 0; i < dx.size(); ++i)
      xGradient[i] += dx[i];
    wGradient.insert(wGradient.end(), dw.begin(), dw.begin() + part.valid * c.hidden);
    EXPECT_THAT(std::vector<double>(dw.begin() + part.valid * c.hidden, dw.end()), testing::Each(0.0));
  }
  EXPECT_TRUE(
      isNear(xGradient, expected.xGradient, c.type,
             roundingOfTerms + roundingOfGradients(c, expected.xTerms) +
                 4 * slackOf(c, c.vocabulary, std::max(c.spread, largestMagnitude(expected.xGradient)))));
  EXPECT_TRUE(isNear(wGradient, expected.wGradient, call.results[1].dtype,
                     roundingOfGradients(c, expected.wTerms) +
                         slackOf(c, c.rows(), std::max(c.spread, largestMagnitude(expected.wGradient)))));
}

TEST(LinearCrossEntropyGradient, EqualsCentralDifferencesInDouble) {
  LossCase c{.name = "",
             .leading = {8},
             .hidden = 5,
             .vocabulary = 70,
             .type = DType::F64,
             .labelSmoothing = 0.1,
             .zLoss = 0.05,
             .softcap = 2};
  std::vector<Tensor> operands = operandsOf(c, 4);
  auto results = runKernel(c.call("linear_cross_entropy_forward_backward"), operands);
  ASSERT_TRUE(results.ok()) << results.status();
  std::vector<double> lossGradient = operands[0].values(), zLossGradient = operands[1].values();
  auto objective = [&] {
    auto forward = runKernel(c.call("linear_cross_entropy"), forwardOperands(operands), 1);
    std::vector<double> loss = (*forward)[0].values(), zLoss = (*forward)[1].values();
    double sum = 0;
    for (size_t i = 0; i < loss.size(); ++i)
      sum += loss[i] * lossGradient[i] + zLoss[i] * zLossGradient[i];
    return sum;
  };
  for (size_t which : {0, 1}) {
    double *values = static_cast<double *>(operands[2 + which].data());
    std::vector<double> gradient = (*results)[3 + which].values();
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double value = values[i], step = 1e-5;
      values[i] = value + step;
      const double above = objective();
      values[i] = value - step;
      const double below = objective();
      values[i] = value;
      EXPECT_NEAR(gradient[i], (above - below) / (2 * step), 1e-6 * std::max(1.0, std::abs(gradient[i])));
    }
  }
}

LossCase smallCase() { return {.name = "", .leading = {2, 3}, .hidden = 4, .vocabulary = 9}; }

TEST(LinearCrossEntropyExtremes, RowsThatDoNotCountGiveZeroLossAndGradientEvenWhenTheirLogitsAreNotNumbers) {
  LossCase c = smallCase();
  c.zLoss = 0.1, c.labelSmoothing = 0.1;
  std::vector<Tensor> operands = operandsOf(c, 5);
  operands[4] = Tensor(operands[4].type(), {1, -100, 9, -1, 2, 3});
  std::vector<double> x = operands[2].values();
  x[1 * 4] = x[2 * 4 + 1] = std::nan("");
  operands[2] = Tensor(operands[2].type(), x);
  auto results = runKernel(c.call("linear_cross_entropy_forward_backward"), operands);
  ASSERT_TRUE(results.ok()) << results.status();
  std::vector<double> loss = (*results)[0].values(), zLoss = (*results)[1].values(),
                      dx = (*results)[3].values();
  for (int64_t row : {1, 2, 3}) {
    EXPECT_EQ(loss[row], 0);
    EXPECT_EQ(zLoss[row], 0);
    for (int64_t l = 0; l < 4; ++l)
      EXPECT_EQ(dx[row * 4 + l], 0);
  }
  for (int64_t row : {0, 4, 5})
    EXPECT_GT(loss[row], 0);
}

TEST(LinearCrossEntropyExtremes, AnIgnoreIndexInsideTheVocabularyIsIgnored) {
  LossCase c = smallCase();
  std::vector<Tensor> operands = operandsOf(c, 5);
  operands[4] = Tensor(operands[4].type(), {0, 1, 2, 0, 1, 2});
  KernelCall call = c.call("linear_cross_entropy_forward_backward");
  call.setInteger("ignore_index", 0);
  auto results = runKernel(call, operands);
  ASSERT_TRUE(results.ok()) << results.status();
  std::vector<double> loss = (*results)[0].values();
  EXPECT_EQ(loss[0], 0);
  EXPECT_EQ(loss[3], 0);
  EXPECT_GT(loss[1], 0);
}

TEST(LinearCrossEntropyExtremes, HugeLogitsDoNotOverflow) {
  LossCase c{.name = "", .leading = {20}, .hidden = 8, .vocabulary = 200, .spread = 1e8};
  std::vector<Tensor> operands = operandsOf(c, 6);
  auto results = runKernel(c.call("linear_cross_entropy_forward_backward"), operands);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_TRUE(isNear((*results)[0].values(), reference(c, operands).loss, DType::F32, 1e11));
  for (const Tensor &result : *results)
    for (double value : result.values())
      ASSERT_TRUE(std::isfinite(value));
}

TEST(LinearCrossEntropyExtremes, NotANumberIsNotHidden) {
  for (double softcap : {0.0, 2.0})
    for (DType type : {DType::F32, DType::F64}) {
      LossCase c{.name = "", .leading = {2}, .hidden = 4, .vocabulary = 90, .type = type, .softcap = softcap};
      std::vector<Tensor> operands = operandsOf(c, 6);
      std::vector<double> w = operands[3].values();
      w[77 * 4] = std::nan("");
      operands[3] = Tensor(operands[3].type(), w);
      auto results = runKernel(c.call("linear_cross_entropy_forward_backward"), operands);
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_THAT((*results)[0].values(), testing::Each(testing::IsNan()));
      EXPECT_THAT((*results)[3].values(), testing::Each(testing::IsNan()));
    }
}

TEST(LinearCrossEntropyWorkspace, DoesNotGrowWithTheRows) {
  LossCase c{.name = "", .leading = {2048}, .hidden = 288, .vocabulary = 8192};
  for (const char *kernel :
       {"linear_cross_entropy", "linear_cross_entropy_backward", "linear_cross_entropy_forward_backward"}) {
    c.leading = {2048};
    int64_t bytes = (*createKernel(c.call(kernel)))->workspaceBytes();
    c.leading = {65536};
    EXPECT_EQ((*createKernel(c.call(kernel)))->workspaceBytes(), bytes);
    EXPECT_LT(bytes, 2048 * 8192 * 4 / 6);
  }
}

TEST(LinearCrossEntropyRefuses, WhatDoesNotFitTheSignature) {
  auto expect = [](const char *kernel, const std::string &message, auto change) {
    KernelCall call = smallCase().call(kernel);
    change(call);
    absl::Status status = createKernel(call).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), "kernel " + std::string(kernel) + ": " + message);
  };
  const char *forward = "linear_cross_entropy", *backward = "linear_cross_entropy_backward",
             *both = "linear_cross_entropy_forward_backward";
  expect(forward, "attribute 'label_smoothing' is 1.5, but must be from 0 to 1",
         [](KernelCall &c) { c.setNumber("label_smoothing", 1.5); });
  expect(forward, "attribute 'z_loss' is -1, but must be 0 (none) or positive",
         [](KernelCall &c) { c.setNumber("z_loss", -1); });
  expect(forward, "attribute 'softcap' is nan, but must be 0 (none) or positive",
         [](KernelCall &c) { c.setNumber("softcap", std::nan("")); });
  expect(forward, "attribute 'ignore_index' must be one integer",
         [](KernelCall &c) { c.setIntegers("ignore_index", {1, 2}); });
  expect(forward,
         "attribute 'weight_type' is 3, but only a float32 w is rounded, to 3 (bf16), where x is bf16",
         [](KernelCall &c) { c.setInteger("weight_type", static_cast<int64_t>(DType::BF16)); });
  expect(forward, "2 operands and 3 results were given, but the signature has 3 and 3",
         [](KernelCall &c) { c.operands.pop_back(); });
  expect(backward, "6 operands and 1 results were given, but the signature has 6 and 2",
         [](KernelCall &c) { c.results.pop_back(); });
  expect(forward, "x is tensor<f32>, but must have a last dimension h",
         [](KernelCall &c) { c.operands[0].shape.clear(); });
  expect(forward, "w is tensor<9x5xf32>, but its shape must be v x 4, as x is tensor<2x3x4xf32>",
         [](KernelCall &c) { c.operands[1].shape[1] = 5; });
  expect(forward, "x is tensor<2x0x4xf32> and w is tensor<9x4xf32>, but no dimension may be empty",
         [](KernelCall &c) { c.operands[0].shape[1] = 0; });
  expect(forward, "w is tensor<9x4xf64>, but its type must be bf16, f16 or f32, unless x's is f64",
         [](KernelCall &c) { c.operands[1].dtype = DType::F64; });
  expect(forward, "w is tensor<9x4xf32>, but its type must be f64, as x's is",
         [](KernelCall &c) { c.operands[0].dtype = DType::F64; });
  expect(forward, "targets is tensor<2x3xi64>, but its type must be i32",
         [](KernelCall &c) { c.operands[2].dtype = DType::I64; });
  expect(forward, "targets is tensor<6xi32>, but its shape must be 2x3",
         [](KernelCall &c) { c.operands[2].shape = {6}; });
  expect(forward, "lse is tensor<2x3xbf16>, but its type must be f32",
         [](KernelCall &c) { c.results[2].dtype = DType::BF16; });
  expect(backward, "dloss is tensor<3xf32>, but its shape must be 2x3",
         [](KernelCall &c) { c.operands[0].shape = {3}; });
  expect(backward, "lse is tensor<2x3xf64>, but its type must be f32",
         [](KernelCall &c) { c.operands[5].dtype = DType::F64; });
  expect(backward, "attribute 'part_of' is 0, but must be positive",
         [](KernelCall &c) { c.setInteger("part_of", 0); });
  expect(backward, "w has 9 words, but is part of 8", [](KernelCall &c) { c.setInteger("part_of", 8); });
  expect(backward, "7 operands and 2 results were given, but the signature has 6 and 2",
         [](KernelCall &c) { c.operands.push_back({DType::I64, {}}); });
  expect(backward, "valid is tensor<i32>, but must be tensor<i64>", [](KernelCall &c) {
    c.setInteger("part_of", 9);
    c.operands.push_back({DType::I32, {}});
  });
  expect("linear_cross_entropy_statistics", "valid is tensor<1xi64>, but must be tensor<i64>",
         [](KernelCall &c) { c.operands.push_back({DType::I64, {1}}); });
  expect("linear_cross_entropy_statistics", "logit_sum is tensor<6xf32>, but its shape must be 2x3",
         [](KernelCall &c) { c.results[2].shape = {6}; });
  expect(both, "dw is tensor<4x9xf32>, but its shape must be 9x4",
         [](KernelCall &c) { c.results[4].shape = {4, 9}; });
  expect(both, "dx is tensor<2x3x4xi32>, but its type must be bf16, f16 or f32, unless x's is f64",
         [](KernelCall &c) { c.results[3].dtype = DType::I32; });
}

} // namespace
} // namespace weft::cpu
