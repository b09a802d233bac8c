//===- BlendOrder.cpp - Which input gives the k-th sample -----------------===//
//
// Counting: the slots below x split into blocks whose numbers share their leading bits, one block per bit
// that is set in x. A block of leading bits p is visited by the samples whose trailing bits are p reversed,
// and those are evenly spaced: their number below m is a division.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/BlendOrder.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft {
namespace {

constexpr int slotBits = 16;
constexpr uint32_t slotCount = uint32_t{1} << slotBits;

uint32_t reverseBits(uint32_t value, int bits) {
  uint32_t reversed = 0;
  for (int i = 0; i < bits; ++i)
    reversed |= (value >> i & 1) << (bits - 1 - i);
  return reversed;
}

/// How many of the first `m` samples of a round take a slot below `x`.
uint32_t samplesBelow(uint32_t m, uint32_t x) {
  uint32_t count = 0;
  for (int bit = 0; bit <= slotBits; ++bit) {
    if ((x >> bit & 1) == 0)
      continue;
    uint32_t leading = (x >> bit) - 1;
    int leadingBits = slotBits - bit;
    uint32_t first = reverseBits(leading, leadingBits);
    if (m > first)
      count += ((m - first - 1) >> leadingBits) + 1;
  }
  return count;
}

} // namespace

absl::StatusOr<BlendOrder> BlendOrder::create(std::span<const double> weights) {
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] <= 0)
      return absl::InvalidArgumentError(
          absl::StrCat("data.train[", i, "].weight: ", weights[i], " is not a number above 0"));
    sum += weights[i];
  }
  if (weights.empty())
    return absl::InvalidArgumentError("data.train: no input is given");
  if (!std::isfinite(sum))
    return absl::InvalidArgumentError("data.train: the weights are too large to be added");

  std::vector<uint32_t> borders = {0};
  double before = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    before += weights[i];
    bool isLast = i + 1 == weights.size();
    uint32_t border = isLast ? slotCount : static_cast<uint32_t>(std::llround(before / sum * slotCount));
    if (border == borders.back())
      return absl::InvalidArgumentError(
          absl::StrCat("data.train[", i, "].weight: ", weights[i], " is less than 1/", slotCount,
                       " of the sum of the weights, ", sum, ". Raise it or leave the input out."));
    borders.push_back(border);
  }
  return BlendOrder(std::move(borders));
}

BlendOrder::Pick BlendOrder::pick(int64_t k) const {
  int64_t round = k >> slotBits;
  uint32_t position = static_cast<uint32_t>(k & (slotCount - 1));
  uint32_t slot = reverseBits(position, slotBits);
  int64_t input = std::upper_bound(borders.begin(), borders.end(), slot) - borders.begin() - 1;
  uint32_t begin = borders[input];
  uint32_t end = borders[input + 1];
  int64_t before = samplesBelow(position, end) - samplesBelow(position, begin);
  return {input, round * (end - begin) + before};
}

} // namespace weft
