//===- AttentionTest.cpp - Blocked attention against its definition -------===//
#include "AttentionReference.h"

#include "kernels/cpu/Cpu.h"

#include "gmock/gmock.h"

#include <cmath>
#include <limits>

namespace weft::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Float32 rounding of a score grows with the length and size of its product; weights and sums see that
/// error, times the number of terms of the sum (as a random walk).
double slackOf(const AttentionCase &c, int64_t terms, double magnitude) {
  double unit = c.type == DType::F64 ? roundoff(DType::F64) : roundoff(DType::F32);
  double score = c.spread * c.spread * c.depth * std::abs(c.scaleInUse());
  return unit * (16 + 8 * score) * std::sqrt(static_cast<double>(terms + c.depth)) * magnitude;
}

/// Of bfloat16 operands the factors of a sum are rounded to bfloat16 before they are multiplied: weights, and
/// gradients of scores. Each term is then off by roundoff at most, and the sum by that of all of them.
std::vector<double> slackOf(const AttentionCase &c, double slack, std::vector<double> terms) {
  for (double &term : terms)
    term = slack + (c.type == DType::BF16 ? roundoff(DType::BF16) * term : 0);
  return terms;
}

std::vector<AttentionCase> oddSizes() {
  std::vector<AttentionCase> list;
  for (int64_t size : {1, 3, 17, 65}) {
    AttentionCase c{.name = "odd_size_" + std::to_string(size),
                    .batch = 2,
                    .queries = size,
                    .keys = size,
                    .heads = 2,
                    .groups = 2,
                    .depth = size,
                    .width = size};
    list.push_back(c);
    c.name += "_causal", c.causal = true;
    list.push_back(c);
  }
  return list;
}

/// Masks, sinks, groups, positions and shapes that reach every way through the kernels.
std::vector<AttentionCase> features() {
  std::vector<AttentionCase> list;
  AttentionCase base{.batch = 2,
                     .queries = 150,
                     .keys = 150,
                     .heads = 4,
                     .groups = 2,
                     .depth = 16,
                     .width = 24,
                     .causal = true};
  auto add = [&](const char *name, auto change) {
    AttentionCase c = base;
    c.name = name;
    change(c);
    list.push_back(c);
  };
  add("groups_share_keys", [](AttentionCase &c) { c.groups = 1; });
  add("fewer_queries_than_keys", [](AttentionCase &c) { c.queries = 70, c.keys = 300; });
  add("more_queries_than_keys_leaves_rows_empty", [](AttentionCase &c) { c.queries = 200, c.keys = 70; });
  add("window", [](AttentionCase &c) { c.window = 20; });
  add("window_of_one", [](AttentionCase &c) { c.window = 1; });
  add("window_longer_than_everything",
      [](AttentionCase &c) { c.queries = 200, c.keys = 70, c.window = std::numeric_limits<int64_t>::max(); });
  add("window_without_causal", [](AttentionCase &c) { c.causal = false, c.window = 33; });
  add("softcap", [](AttentionCase &c) { c.softcap = 2; });
  add("sinks", [](AttentionCase &c) { c.sinks = true; });
  add("sinks_and_empty_rows", [](AttentionCase &c) { c.sinks = true, c.queries = 200, c.keys = 70; });
  add("segments", [](AttentionCase &c) { c.segments = true; });
  add("segments_that_recur", [](AttentionCase &c) { c.segments = true, c.distinctSegments = 7; });
  add("segments_that_recur_among_shuffled_positions", [](AttentionCase &c) {
    c.segments = true, c.distinctSegments = 3, c.positions = Positions::Shuffled, c.softcap = 2;
  });
  add("tiles_of_several_blocks",
      [](AttentionCase &c) { c.batch = 1, c.queries = c.keys = 310, c.heads = 8; });
  add("tiles_of_several_blocks_and_a_window", [](AttentionCase &c) {
    c.batch = 1, c.queries = 310, c.keys = 290, c.heads = 8, c.window = 70, c.segments = true;
  });
  add("everything",
      [](AttentionCase &c) { c.segments = c.sinks = true, c.softcap = 3, c.window = 100, c.keys = 190; });
  add("negative_scale", [](AttentionCase &c) { c.scale = -0.5; });
  add("second_part_of_the_positions",
      [](AttentionCase &c) { c.positions = Positions::SecondPart, c.queries = 75; });
  add("middle_chunks_of_the_positions",
      [](AttentionCase &c) { c.positions = Positions::MiddleChunks, c.keys = 300; });
  add("shuffled_positions", [](AttentionCase &c) { c.positions = Positions::Shuffled, c.keys = 170; });
  add("shuffled_positions_without_a_mask",
      [](AttentionCase &c) { c.positions = Positions::Shuffled, c.causal = false; });
  add("positions_and_everything", [](AttentionCase &c) {
    c.positions = Positions::MiddleChunks, c.keys = 400;
    c.segments = c.sinks = true, c.softcap = 3, c.window = 100;
  });
  add("one_pass_backward_with_positions", [](AttentionCase &c) {
    c.positions = Positions::MiddleChunks, c.batch = 9, c.queries = c.keys = 140, c.window = 60;
  });
  add("one_pass_backward", [](AttentionCase &c) { c.batch = 9, c.queries = c.keys = 140; });
  add("heads_of_64_and_several_blocks_of_keys", [](AttentionCase &c) {
    c.batch = 1, c.queries = c.keys = 544, c.heads = 8, c.groups = 8, c.depth = c.width = 64;
  });
  add("heads_of_128_in_two_passes", [](AttentionCase &c) {
    c.batch = 1, c.queries = 290, c.keys = 546, c.heads = 2, c.depth = 128, c.width = 100;
  });
  add("segments_in_several_blocks_of_keys", [](AttentionCase &c) {
    c.batch = 1, c.queries = c.keys = 530, c.segments = true, c.distinctSegments = 40, c.window = 400;
  });
  return list;
}

/// All of them in every type.
std::vector<AttentionCase> cases() {
  std::vector<AttentionCase> list = oddSizes();
  for (const AttentionCase &c : features())
    list.push_back(c);
  const size_t plain = list.size();
  for (size_t i = 0; i < plain; ++i)
    for (DType type : {DType::BF16, DType::F16, DType::F64}) {
      AttentionCase c = list[i];
      c.type = type;
      c.name += "_" + std::string(name(type));
      list.push_back(c);
    }
  return list;
}

class Attention : public testing::TestWithParam<AttentionCase> {};

INSTANTIATE_TEST_SUITE_P(Cases, Attention, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

/// Threads see the same tiles whatever the type: float32, and one type that is converted and takes two
/// passes.
std::vector<AttentionCase> casesForThreads() {
  std::vector<AttentionCase> list = cases();
  std::erase_if(list, [](const AttentionCase &c) { return c.type == DType::F16 || c.type == DType::F64; });
  return list;
}

class AttentionThreads : public testing::TestWithParam<AttentionCase> {};

INSTANTIATE_TEST_SUITE_P(Cases, AttentionThreads, testing::ValuesIn(casesForThreads()),
                         [](const auto &info) { return info.param.name; });

/// do, q, k, v, o, lse, ...: what the backward takes after a forward on `operands`.
std::vector<Tensor> backwardOperands(const AttentionCase &c, const std::vector<Tensor> &operands,
                                     const std::vector<Tensor> &forward, uint64_t seed) {
  auto copy = [](const Tensor &tensor) { return Tensor(tensor.type(), tensor.values()); };
  std::vector<Tensor> list;
  list.push_back(randomTensor(forward[0].type(), seed));
  for (size_t i = 0; i < 3; ++i)
    list.push_back(copy(operands[i]));
  list.push_back(copy(forward[0]));
  list.push_back(copy(forward[1]));
  for (size_t i = 3; i < operands.size(); ++i)
    list.push_back(copy(operands[i]));
  return list;
}

TEST_P(Attention, ForwardEqualsItsDefinition) {
  const AttentionCase &c = GetParam();
  std::vector<Tensor> operands = attentionOperands(c, 1);
  auto results = runKernel(c.forwardCall(), operands);
  ASSERT_TRUE(results.ok()) << results.status();
  AttentionForwardValues expected = referenceAttention(c, operands);
  EXPECT_TRUE(
      isNear((*results)[0].values(), expected.output, c.type,
             slackOf(c, slackOf(c, c.keys, largestMagnitude(expected.output)), expected.outputTerms)));
  EXPECT_TRUE(isNear((*results)[1].values(), expected.lse, c.statistics(), slackOf(c, c.keys, 1)));
}

TEST_P(Attention, BackwardEqualsItsDefinition) {
  const AttentionCase &c = GetParam();
  std::vector<Tensor> operands = attentionOperands(c, 5);
  auto forward = runKernel(c.forwardCall(), operands);
  ASSERT_TRUE(forward.ok()) << forward.status();
  std::vector<Tensor> backward = backwardOperands(c, operands, *forward, 50);
  auto results = runKernel(c.backwardCall(), backward);
  ASSERT_TRUE(results.ok()) << results.status();
  AttentionGradients expected = referenceAttentionBackward(c, operands, backward[0].values());
  // The forward's output was rounded to its type before D = rowsum(do * o) was taken.
  auto slack = [&](int64_t terms, const std::vector<double> &values) {
    double rounded = roundoff(c.type) * std::sqrt(static_cast<double>(c.width)) * 4;
    // Where all terms cancel (a row that sees one key), what counts is the size of the terms.
    double magnitude = std::max(largestMagnitude(values), std::abs(c.scaleInUse()));
    return slackOf(c, terms, magnitude) + rounded * magnitude;
  };
  int64_t rows = c.queries * c.heads / c.groups;
  EXPECT_TRUE(isNear((*results)[0].values(), expected.query, c.type,
                     slackOf(c, slack(c.keys, expected.query), expected.queryTerms)));
  EXPECT_TRUE(isNear((*results)[1].values(), expected.key, c.type,
                     slackOf(c, slack(rows, expected.key), expected.keyTerms)));
  EXPECT_TRUE(isNear((*results)[2].values(), expected.value, c.type,
                     slackOf(c, slack(rows, expected.value), expected.valueTerms)));
  if (c.sinks)
    EXPECT_TRUE(
        isNear((*results)[3].values(), expected.sinks, c.statistics(),
               slack(c.batch * c.queries, expected.sinks) * std::sqrt(static_cast<double>(c.queries))));
}

TEST_P(AttentionThreads, GiveTheSameBitsInAnyNumber) {
  const AttentionCase &c = GetParam();
  std::vector<Tensor> operands = attentionOperands(c, 9);
  auto forward = runKernel(c.forwardCall(), operands, 1);
  ASSERT_TRUE(forward.ok()) << forward.status();
  std::vector<Tensor> backward = backwardOperands(c, operands, *forward, 90);
  auto gradients = runKernel(c.backwardCall(), backward, 1);
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  for (int threads : {2, 3}) {
    auto again = runKernel(c.forwardCall(), operands, threads);
    for (size_t i = 0; i < forward->size(); ++i)
      EXPECT_EQ((*again)[i].bytes(), (*forward)[i].bytes())
          << "result " << i << ", " << threads << " threads";
    auto gradientsAgain = runKernel(c.backwardCall(), backward, threads);
    for (size_t i = 0; i < gradients->size(); ++i)
      EXPECT_EQ((*gradientsAgain)[i].bytes(), (*gradients)[i].bytes()) << "gradient " << i;
  }
}

/// sum(outputGradient * output) of the float64 kernel.
double objective(const AttentionCase &c, const std::vector<Tensor> &operands,
                 const std::vector<double> &gradient) {
  auto results = runKernel(c.forwardCall(), operands, 1);
  std::vector<double> output = (*results)[0].values();
  double sum = 0;
  for (size_t i = 0; i < output.size(); ++i)
    sum += output[i] * gradient[i];
  return sum;
}

TEST(AttentionGradient, EqualsCentralDifferencesInDouble) {
  AttentionCase c = smallAttention();
  c.type = DType::F64;
  c.softcap = 1.5, c.sinks = true, c.window = 6, c.segments = true;
  std::vector<Tensor> operands = attentionOperands(c, 21);
  auto forward = runKernel(c.forwardCall(), operands);
  ASSERT_TRUE(forward.ok()) << forward.status();
  std::vector<Tensor> backward = backwardOperands(c, operands, *forward, 210);
  auto results = runKernel(c.backwardCall(), backward);
  ASSERT_TRUE(results.ok()) << results.status();
  const size_t differentiable[] = {0, 1, 2, 5};
  for (size_t which = 0; which < 4; ++which) {
    double *values = static_cast<double *>(operands[differentiable[which]].data());
    std::vector<double> gradient = (*results)[which].values();
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double value = values[i], step = 1e-5;
      values[i] = value + step;
      double above = objective(c, operands, backward[0].values());
      values[i] = value - step;
      double below = objective(c, operands, backward[0].values());
      values[i] = value;
      EXPECT_NEAR(gradient[i], (above - below) / (2 * step), 1e-6 * std::max(1.0, std::abs(gradient[i])))
          << "operand " << differentiable[which] << ", element " << i;
    }
  }
}

/// What must hold whichever way products are made.
class AttentionExtremes : public testing::TestWithParam<DType> {};

INSTANTIATE_TEST_SUITE_P(Types, AttentionExtremes, testing::Values(DType::F32, DType::BF16),
                         [](const auto &info) { return std::string(name(info.param)); });

TEST_P(AttentionExtremes, RowsThatSeeNothingButTheirSinkGiveZeroAndTheSink) {
  AttentionCase c{.batch = 1,
                  .queries = 70,
                  .keys = 5,
                  .heads = 2,
                  .groups = 2,
                  .depth = 8,
                  .width = 8,
                  .type = GetParam(),
                  .causal = true,
                  .sinks = true};
  std::vector<Tensor> operands = attentionOperands(c, 3);
  auto forward = runKernel(c.forwardCall(), operands);
  ASSERT_TRUE(forward.ok()) << forward.status();
  std::vector<double> output = (*forward)[0].values(), lse = (*forward)[1].values();
  for (int64_t i = 0; i < 65; ++i)
    for (int64_t h = 0; h < 2; ++h) {
      EXPECT_EQ(lse[h * 70 + i], operands[3].values()[h]);
      for (int64_t l = 0; l < 8; ++l)
        EXPECT_EQ(output[(i * 2 + h) * 8 + l], 0);
    }
  auto gradients = runKernel(c.backwardCall(), backwardOperands(c, operands, *forward, 30));
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  std::vector<double> query = (*gradients)[0].values();
  for (int64_t i = 0; i < 65 * 2 * 8; ++i)
    EXPECT_EQ(query[i], 0);
}

TEST_P(AttentionExtremes, NoKeyInTheSegmentGivesZerosEverywhere) {
  AttentionCase c{.batch = 1,
                  .queries = 4,
                  .keys = 4,
                  .heads = 1,
                  .groups = 1,
                  .depth = 8,
                  .width = 8,
                  .type = GetParam(),
                  .segments = true};
  std::vector<Tensor> operands = attentionOperands(c, 3);
  operands[3] = Tensor(operands[3].type(), {9, 9, 9, 9});
  operands[4] = Tensor(operands[4].type(), {8, 10, 8, 10});
  auto forward = runKernel(c.forwardCall(), operands);
  ASSERT_TRUE(forward.ok()) << forward.status();
  EXPECT_THAT((*forward)[0].values(), testing::Each(0));
  EXPECT_THAT((*forward)[1].values(), testing::Each(-kInfinity));
  auto gradients = runKernel(c.backwardCall(), backwardOperands(c, operands, *forward, 30));
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  for (const Tensor &gradient : *gradients)
    EXPECT_THAT(gradient.values(), testing::Each(0));
}

/// Positions of queries and keys that are implied are those operands: not a bit differs.
TEST(AttentionPositions, GivenAsTheyAreImpliedChangeNoBit) {
  for (int64_t window : {0, 40}) {
    AttentionCase c{.batch = 2,
                    .queries = 150,
                    .keys = 300,
                    .heads = 2,
                    .groups = 1,
                    .depth = 16,
                    .width = 16,
                    .causal = true,
                    .window = window};
    std::vector<Tensor> operands = attentionOperands(c, 3);
    auto forward = runKernel(c.forwardCall(), operands);
    ASSERT_TRUE(forward.ok()) << forward.status();
    auto gradients = runKernel(c.backwardCall(), backwardOperands(c, operands, *forward, 30));
    ASSERT_TRUE(gradients.ok()) << gradients.status();
    c.positions = Positions::SecondPart;
    std::vector<double> queries(2 * 150), keys(2 * 300);
    for (size_t i = 0; i < queries.size(); ++i)
      queries[i] = static_cast<double>(150 + i % 150);
    for (size_t i = 0; i < keys.size(); ++i)
      keys[i] = static_cast<double>(i % 300);
    operands.emplace_back(TensorType{DType::I32, {2, 150}}, queries);
    operands.emplace_back(TensorType{DType::I32, {2, 300}}, keys);
    auto given = runKernel(c.forwardCall(), operands);
    ASSERT_TRUE(given.ok()) << given.status();
    for (size_t i = 0; i < forward->size(); ++i)
      EXPECT_EQ((*given)[i].bytes(), (*forward)[i].bytes()) << "result " << i << ", window " << window;
    auto givenGradients = runKernel(c.backwardCall(), backwardOperands(c, operands, *given, 30));
    ASSERT_TRUE(givenGradients.ok()) << givenGradients.status();
    for (size_t i = 0; i < gradients->size(); ++i)
      EXPECT_EQ((*givenGradients)[i].bytes(), (*gradients)[i].bytes())
          << "gradient " << i << ", window " << window;
  }
}

/// The ends of what an i32 holds: no distance overflows.
TEST(AttentionPositions, MayBeTheLeastAndTheMost) {
  constexpr double kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  for (bool causal : {false, true})
    for (int64_t window : {int64_t(0), int64_t(3), std::numeric_limits<int64_t>::max()}) {
      AttentionCase c{.batch = 1,
                      .queries = 4,
                      .keys = 5,
                      .heads = 1,
                      .groups = 1,
                      .depth = 4,
                      .width = 4,
                      .causal = causal,
                      .window = window,
                      .positions = Positions::Shuffled};
      std::vector<Tensor> operands = attentionOperands(c, 3);
      operands[3] = Tensor(operands[3].type(), {kMost, kLeast, 0, -1});
      operands[4] = Tensor(operands[4].type(), {kLeast, kMost, kMost - 2, 0, -1});
      auto forward = runKernel(c.forwardCall(), operands);
      ASSERT_TRUE(forward.ok()) << forward.status();
      EXPECT_TRUE(isNear((*forward)[0].values(), referenceAttention(c, operands).output, c.type, 1e-6))
          << "causal " << causal << ", window " << window;
    }
}

TEST_P(AttentionExtremes, HugeScoresDoNotOverflow) {
  AttentionCase c{.batch = 1,
                  .queries = 150,
                  .keys = 150,
                  .heads = 1,
                  .groups = 1,
                  .depth = 8,
                  .width = 8,
                  .type = GetParam(),
                  .causal = true,
                  .spread = 1e4};
  std::vector<Tensor> operands = attentionOperands(c, 3);
  auto forward = runKernel(c.forwardCall(), operands);
  ASSERT_TRUE(forward.ok()) << forward.status();
  EXPECT_TRUE(isNear((*forward)[0].values(), referenceAttention(c, operands).output, c.type, 1e-3));
  auto gradients = runKernel(c.backwardCall(), backwardOperands(c, operands, *forward, 30));
  for (const Tensor &gradient : *gradients)
    for (double value : gradient.values())
      ASSERT_TRUE(std::isfinite(value));
}

TEST_P(AttentionExtremes, DenormalOperandsGiveTheMeanOfTheValues) {
  AttentionCase c{.batch = 1,
                  .queries = 3,
                  .keys = 20,
                  .heads = 1,
                  .groups = 1,
                  .depth = 8,
                  .width = 8,
                  .type = GetParam(),
                  .spread = 1e-40};
  std::vector<Tensor> operands = attentionOperands(c, 3);
  auto forward = runKernel(c.forwardCall(), operands);
  ASSERT_TRUE(forward.ok()) << forward.status();
  AttentionForwardValues expected = referenceAttention(c, operands);
  EXPECT_TRUE(
      isNear((*forward)[0].values(), expected.output, c.type, slackOf(c, 1e-6, expected.outputTerms)));
}

TEST(AttentionNotANumber, IsNotHidden) {
  for (double softcap : {0.0, 2.0})
    for (DType type : {DType::F32, DType::BF16, DType::F16, DType::F64}) {
      AttentionCase c{.batch = 1,
                      .queries = 2,
                      .keys = 20,
                      .heads = 1,
                      .groups = 1,
                      .depth = 8,
                      .width = 8,
                      .type = type,
                      .softcap = softcap};
      std::vector<Tensor> operands = attentionOperands(c, 3);
      std::vector<double> keys = operands[1].values();
      keys[11 * 8] = std::nan("");
      operands[1] = Tensor(operands[1].type(), keys);
      auto forward = runKernel(c.forwardCall(), operands);
      ASSERT_TRUE(forward.ok()) << forward.status();
      for (const Tensor &result : *forward)
        EXPECT_THAT(result.values(), testing::Each(testing::IsNan()));
    }
}

/// A key that no query weighs gets no gradient of its value, wherever the tiles of queries end.
TEST(AttentionInfinity, OfAKeyWeighsNothing) {
  for (int64_t queries : {32, 33})
    for (DType type : {DType::F32, DType::BF16}) {
      AttentionCase c{.batch = 1,
                      .queries = queries,
                      .keys = 64,
                      .heads = 1,
                      .groups = 1,
                      .depth = 8,
                      .width = 8,
                      .type = type};
      std::vector<Tensor> operands = attentionOperands(c, 4);
      std::vector<double> query = operands[0].values(), key = operands[1].values();
      for (int64_t i = 0; i < queries; ++i)
        query[static_cast<size_t>(i) * 8] = 1;
      key[11 * 8] = -std::numeric_limits<double>::infinity();
      operands[0] = Tensor(operands[0].type(), query), operands[1] = Tensor(operands[1].type(), key);
      auto forward = runKernel(c.forwardCall(), operands);
      ASSERT_TRUE(forward.ok()) << forward.status();
      std::vector<Tensor> given;
      given.push_back(randomTensor((*forward)[0].type(), 5));
      for (Tensor &operand : operands)
        given.push_back(std::move(operand));
      for (Tensor &result : *forward)
        given.push_back(std::move(result));
      auto backward = runKernel(c.backwardCall(), given);
      ASSERT_TRUE(backward.ok()) << backward.status();
      const std::vector<double> value = (*backward)[2].values();
      for (size_t column = 0; column < 8; ++column)
        EXPECT_EQ(value[11 * 8 + column], 0) << queries << " queries of " << name(type);
    }
}

} // namespace
} // namespace weft::cpu
