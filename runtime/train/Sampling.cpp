#include "runtime/train/Sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft {

std::vector<TokenChance> tokenChances(std::span<const float> logits, const GenerateConfig &options) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto likelier = [&](int32_t a, int32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
  if (options.temperature == 0)
    return {{*std::min_element(order.begin(), order.end(), likelier), 1.0}};
  size_t count = order.size();
  if (options.topK > 0)
    count = std::min(count, static_cast<size_t>(options.topK));
  std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(count), order.end(), likelier);
  std::vector<TokenChance> chances;
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    chances.push_back(
        {order[i], std::exp((double{logits[order[i]]} - logits[order[0]]) / options.temperature)});
    sum += chances.back().probability;
  }
  if (options.topP < 1) {
    const double wanted = options.topP * sum;
    size_t kept = 0;
    for (sum = 0; kept == 0 || (kept < count && sum < wanted); ++kept)
      sum += chances[kept].probability;
    chances.resize(kept);
  }
  for (TokenChance &chance : chances)
    chance.probability /= sum;
  return chances;
}

int32_t sampleToken(std::span<const float> logits, const GenerateConfig &options, double uniform) {
  const std::vector<TokenChance> chances = tokenChances(logits, options);
  double upTo = 0;
  for (const TokenChance &chance : chances)
    if (upTo += chance.probability; uniform < upTo)
      return chance.token;
  return chances.back().token;
}

} // namespace weft
