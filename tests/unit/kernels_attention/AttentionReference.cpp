//===- AttentionReference.cpp - Attention by its definition, in float64 ---===//
//
// One row of weights at a time: softmax over the keys that the row sees, the sink as one more key without a
// value.
//
//===----------------------------------------------------------------------===//
#include "AttentionReference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace weft::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The operands as doubles, indexed by name.
struct Values {
  std::vector<double> q, k, v, querySegments, keySegments, queryPositions, keyPositions, sinks;
  Values(const AttentionCase &c, const std::vector<Tensor> &operands)
      : q(operands[0].values()), k(operands[1].values()), v(operands[2].values()) {
    size_t next = 3;
    if (c.segments) {
      querySegments = operands[next++].values();
      keySegments = operands[next++].values();
    }
    if (c.positions != Positions::Implied) {
      queryPositions = operands[next++].values();
      keyPositions = operands[next++].values();
    }
    if (c.sinks)
      sinks = operands[next].values();
  }
};

/// One query of one head: which key and value rows it reads.
struct Row {
  const AttentionCase &c;
  int64_t b, h, i;
  int64_t group() const { return h / (c.heads / c.groups); }
  int64_t q(int64_t l) const { return ((b * c.queries + i) * c.heads + h) * c.depth + l; }
  int64_t k(int64_t j, int64_t l) const { return ((b * c.keys + j) * c.groups + group()) * c.depth + l; }
  int64_t v(int64_t j, int64_t l) const { return ((b * c.keys + j) * c.groups + group()) * c.width + l; }
  int64_t o(int64_t l) const { return ((b * c.queries + i) * c.heads + h) * c.width + l; }
  int64_t statistic() const { return (b * c.heads + h) * c.queries + i; }

  bool sees(const Values &values, int64_t j) const {
    auto distance = static_cast<double>(i + c.keys - c.queries - j);
    if (c.positions != Positions::Implied)
      distance = values.queryPositions[b * c.queries + i] - values.keyPositions[b * c.keys + j];
    if (c.causal && distance < 0)
      return false;
    if (c.window > 0 && distance >= static_cast<double>(c.window))
      return false;
    return !c.segments || values.querySegments[b * c.queries + i] == values.keySegments[b * c.keys + j];
  }
};

struct Weights {
  std::vector<double> weights, slopes; ///< slope: of the softcap
  double lse = -kInfinity;
  double sinkWeight = 0;
};

Weights weigh(const Row &row, const Values &values) {
  const AttentionCase &c = row.c;
  Weights result{std::vector<double>(c.keys, -kInfinity), std::vector<double>(c.keys, 1), -kInfinity, 0};
  double maximum = -kInfinity;
  for (int64_t j = 0; j < c.keys; ++j) {
    if (!row.sees(values, j))
      continue;
    double score = 0;
    for (int64_t l = 0; l < c.depth; ++l)
      score += values.q[row.q(l)] * values.k[row.k(j, l)];
    score *= c.scaleInUse();
    if (c.softcap > 0) {
      double tanh = std::tanh(score / c.softcap);
      score = c.softcap * tanh;
      result.slopes[j] = 1 - tanh * tanh;
    }
    result.weights[j] = score;
    maximum = std::max(maximum, score);
  }
  if (maximum == -kInfinity) {
    result.weights.assign(c.keys, 0);
    if (c.sinks)
      result.lse = values.sinks[row.h], result.sinkWeight = 1;
    return result;
  }
  if (c.sinks)
    maximum = std::max(maximum, values.sinks[row.h]);
  double sum = c.sinks ? std::exp(values.sinks[row.h] - maximum) : 0;
  for (double score : result.weights)
    sum += std::exp(score - maximum);
  result.lse = maximum + std::log(sum);
  for (double &weight : result.weights)
    weight = std::exp(weight - maximum) / sum;
  if (c.sinks)
    result.sinkWeight = std::exp(values.sinks[row.h] - maximum) / sum;
  return result;
}

template <typename Body> void forEachRow(const AttentionCase &c, const Body &body) {
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t i = 0; i < c.queries; ++i)
        body(Row{c, b, h, i});
}

void setAttributes(const AttentionCase &c, KernelCall &call) {
  call.setNumber("scale", c.scaleInUse());
  call.setNumber("softcap", c.softcap);
  call.setInteger("causal", c.causal);
  call.setInteger("window", c.window);
  call.setInteger("has_segments", c.segments);
  call.setInteger("has_positions", c.positions != Positions::Implied);
  call.setInteger("has_sinks", c.sinks);
}

} // namespace

double AttentionCase::scaleInUse() const {
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(depth));
}

KernelCall AttentionCase::forwardCall() const {
  KernelCall call;
  call.name = "attention";
  call.operands = {{type, {batch, queries, heads, depth}},
                   {type, {batch, keys, groups, depth}},
                   {type, {batch, keys, groups, width}}};
  if (segments) {
    call.operands.push_back({DType::I32, {batch, queries}});
    call.operands.push_back({DType::I32, {batch, keys}});
  }
  if (positions != Positions::Implied) {
    call.operands.push_back({DType::I32, {batch, queries}});
    call.operands.push_back({DType::I32, {batch, keys}});
  }
  if (sinks)
    call.operands.push_back({statistics(), {heads}});
  call.results = {{type, {batch, queries, heads, width}}, {statistics(), {batch, heads, queries}}};
  setAttributes(*this, call);
  return call;
}

KernelCall AttentionCase::backwardCall() const {
  KernelCall forward = forwardCall(), call;
  call.name = "attention_backward";
  call.operands = {forward.results[0],  forward.operands[0], forward.operands[1],
                   forward.operands[2], forward.results[0],  forward.results[1]};
  call.operands.insert(call.operands.end(), forward.operands.begin() + 3, forward.operands.end());
  call.results = {forward.operands[0], forward.operands[1], forward.operands[2]};
  if (sinks)
    call.results.push_back({statistics(), {heads}});
  setAttributes(*this, call);
  return call;
}

namespace {
/// Keys are in order (but where all is shuffled); of the queries each batch row has its own offset.
std::vector<double> positionsOf(const AttentionCase &c, bool ofQueries) {
  const int64_t count = ofQueries ? c.queries : c.keys;
  std::vector<double> values(c.batch * count);
  std::mt19937 random(ofQueries ? 5 : 6);
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t i = 0; i < count; ++i) {
      int64_t position = i;
      if (ofQueries)
        position += b + (c.positions == Positions::SecondPart                           ? c.keys / 2
                         : c.positions == Positions::MiddleChunks && i >= c.queries / 2 ? c.keys / 3
                                                                                        : 0);
      values[b * count + i] = static_cast<double>(position);
    }
    if (c.positions == Positions::Shuffled)
      std::shuffle(values.begin() + b * count, values.begin() + (b + 1) * count, random);
  }
  return values;
}
} // namespace

std::vector<Tensor> attentionOperands(const AttentionCase &c, uint64_t seed) {
  KernelCall call = c.forwardCall();
  std::vector<Tensor> operands;
  operands.push_back(randomTensor(call.operands[0], seed, c.spread));
  operands.push_back(randomTensor(call.operands[1], seed + 1, c.spread));
  operands.push_back(randomTensor(call.operands[2], seed + 2));
  // Documents of five positions, whose numbers may recur; the last query's segment has no key at all.
  auto segmentsOf = [&](int64_t count, bool queries) {
    std::vector<double> values(c.batch * count);
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t i = 0; i < count; ++i)
        values[b * count + i] = queries && i == count - 1 ? -7
                                : c.distinctSegments > 0  ? i / 5 % c.distinctSegments
                                                          : i / 5 + b;
    return values;
  };
  if (c.segments) {
    operands.emplace_back(call.operands[3], segmentsOf(c.queries, true));
    operands.emplace_back(call.operands[4], segmentsOf(c.keys, false));
  }
  if (c.positions != Positions::Implied)
    for (bool ofQueries : {true, false})
      operands.emplace_back(call.operands[operands.size()], positionsOf(c, ofQueries));
  if (c.sinks)
    operands.push_back(randomTensor(call.operands.back(), seed + 3));
  return operands;
}

AttentionForwardValues referenceAttention(const AttentionCase &c, const std::vector<Tensor> &operands) {
  Values values(c, operands);
  AttentionForwardValues result{std::vector<double>(c.batch * c.queries * c.heads * c.width),
                                std::vector<double>(c.batch * c.heads * c.queries),
                                std::vector<double>(c.batch * c.queries * c.heads * c.width)};
  forEachRow(c, [&](const Row &row) {
    Weights weights = weigh(row, values);
    result.lse[row.statistic()] = weights.lse;
    for (int64_t j = 0; j < c.keys; ++j)
      for (int64_t l = 0; l < c.width; ++l) {
        const double term = weights.weights[j] * values.v[row.v(j, l)];
        result.output[row.o(l)] += term;
        result.outputTerms[row.o(l)] += std::abs(term);
      }
  });
  return result;
}

AttentionGradients referenceAttentionBackward(const AttentionCase &c, const std::vector<Tensor> &operands,
                                              const std::vector<double> &outputGradient) {
  Values values(c, operands);
  AttentionGradients result{std::vector<double>(values.q.size()), std::vector<double>(values.k.size()),
                            std::vector<double>(values.v.size()), std::vector<double>(values.sinks.size()),
                            std::vector<double>(values.q.size()), std::vector<double>(values.k.size()),
                            std::vector<double>(values.v.size())};
  forEachRow(c, [&](const Row &row) {
    Weights weights = weigh(row, values);
    std::vector<double> weightGradient(c.keys);
    double dot = 0;
    for (int64_t j = 0; j < c.keys; ++j) {
      for (int64_t l = 0; l < c.width; ++l) {
        weightGradient[j] += outputGradient[row.o(l)] * values.v[row.v(j, l)];
        const double term = weights.weights[j] * outputGradient[row.o(l)];
        result.value[row.v(j, l)] += term;
        result.valueTerms[row.v(j, l)] += std::abs(term);
      }
      dot += weights.weights[j] * weightGradient[j];
    }
    for (int64_t j = 0; j < c.keys; ++j) {
      double scoreGradient =
          weights.weights[j] * (weightGradient[j] - dot) * weights.slopes[j] * c.scaleInUse();
      for (int64_t l = 0; l < c.depth; ++l) {
        const double queryTerm = scoreGradient * values.k[row.k(j, l)];
        const double keyTerm = scoreGradient * values.q[row.q(l)];
        result.query[row.q(l)] += queryTerm;
        result.queryTerms[row.q(l)] += std::abs(queryTerm);
        result.key[row.k(j, l)] += keyTerm;
        result.keyTerms[row.k(j, l)] += std::abs(keyTerm);
      }
    }
    if (c.sinks)
      result.sinks[row.h] -= weights.sinkWeight * dot;
  });
  return result;
}

AttentionCase smallAttention() {
  return {
      .batch = 1, .queries = 7, .keys = 9, .heads = 2, .groups = 1, .depth = 4, .width = 3, .causal = true};
}

} // namespace weft::cpu
