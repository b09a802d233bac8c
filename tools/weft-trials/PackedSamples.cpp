#include "tools/weft-trials/PackedSamples.h"

#include "runtime/data/TrainingData.h"
#include "tools/weft-trials/Random.h"

namespace weft::trials {
namespace {

/// One sample's documents, of `length` tokens together with padding.
void drawSample(Random &random, int64_t length, int64_t *segments, int64_t *positions, int64_t *targets) {
  const int64_t used = random.chance(0.3) ? random.integer(1, length) : length;
  int64_t segment = 1, place = 0;
  for (int64_t i = 0; i < length; ++i) {
    const bool isPadding = i >= used;
    if (i == used)
      place = 0;
    segments[i] = isPadding ? 0 : segment;
    positions[i] = place++;
    const bool ends = isPadding || i + 1 == used || random.chance(0.3);
    if (ends)
      targets[i] = kNoTarget;
    if (ends && !isPadding)
      ++segment, place = 0;
  }
}

} // namespace

void drawDocuments(Start &start, uint64_t seed) {
  Random random(seed);
  for (std::map<std::string, Tensor> &inputs : start.inputs) {
    auto found = inputs.find("segments");
    if (found == inputs.end())
      continue;
    const int64_t length = found->second.shape.back();
    const auto samples = static_cast<int64_t>(found->second.integers.size()) / length;
    for (int64_t sample = 0; sample < samples; ++sample)
      drawSample(random, length, found->second.integers.data() + sample * length,
                 inputs.at("positions").integers.data() + sample * length,
                 inputs.at("targets").integers.data() + sample * length);
  }
}

bool isolateDocument(Start &start, int64_t vocabulary, uint64_t seed) {
  Random random(seed);
  std::map<std::string, Tensor> &inputs = start.inputs.front();
  const auto &segments = inputs.at("segments").integers;
  auto &tokens = inputs.at("tokens").integers;
  auto &targets = inputs.at("targets").integers;
  const int64_t length = inputs.at("segments").shape.back();
  std::vector<size_t> works; // tokens that have a target
  for (size_t i = 0; i < targets.size(); ++i)
    if (targets[i] >= 0)
      works.push_back(i);
  if (works.empty())
    return false;
  const size_t chosen = random.chooseFrom(works);
  const int64_t half = vocabulary / 2;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool isSame = static_cast<int64_t>(i) / length == static_cast<int64_t>(chosen) / length &&
                        segments[i] == segments[chosen];
    tokens[i] = isSame ? random.integer(0, half - 1) : random.integer(half, vocabulary - 1);
    if (!isSame)
      targets[i] = kNoTarget;
  }
  return true;
}

} // namespace weft::trials
