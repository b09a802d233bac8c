//===- BlendOrder.cpp - Which input gives the k-th sample -----------------===//
//
// Why it always works. Serving every input at its share, continuously, is a fractional order: each place is
// shared by samples whose windows hold it. Jobs and places form a bipartite graph whose polytope is integral,
// so whole orders exist, and serving the earliest deadline finds one (windows are intervals).
//
// The state at a border: an input has given floor(k w) samples, or one more. Samples whose window is open at
// the border are divided into those before and those behind it. Samples whose windows lie wholly before leave
// free places there, those wholly behind leave free places there; what is free, as near to the border as
// possible, follows from releases alone (before) and from deadlines alone (behind). Each open window sees an
// interval of the free places, so again the earliest deadline finds a division, and that it exists is said by
// the same fractional order. A state found so can be gone on from and be reached, with every sample in its
// window; two borders that are at least one window of the rarest input apart have ascending counts.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/BlendOrder.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace weft {
namespace {

constexpr int mostBitsOfRatio = 20;
constexpr int64_t leastBlock = 1024;
constexpr int mantissaBits = 53;

/// The value as mantissa x 2^exponent with an odd mantissa.
std::pair<uint64_t, int> oddMantissa(double value) {
  int exponent;
  const auto mantissa = static_cast<uint64_t>(std::ldexp(std::frexp(value, &exponent), mantissaBits));
  const int zeros = std::countr_zero(mantissa);
  return {mantissa >> zeros, exponent - mantissaBits + zeros};
}

/// A sample whose window is open at a border.
struct OpenWindow {
  size_t input;
  int64_t release, deadline;
  bool isServed = false;
};

/// Serves each place, in ascending order, with the window that closes first of those that have opened.
/// Returns how many of the first `count` places were asked for by which windows: they are marked.
void serve(std::span<const int64_t> places, size_t count, std::vector<OpenWindow> &windows,
           std::vector<int64_t> &counts) {
  for (size_t p = 0; p < places.size(); ++p) {
    OpenWindow *best = nullptr;
    std::pair<int64_t, int64_t> bestKey;
    for (OpenWindow &window : windows) {
      const std::pair<int64_t, int64_t> key = {std::max(window.release, places[p]), window.deadline};
      if (!window.isServed && (!best || key < bestKey))
        best = &window, bestKey = key;
    }
    best->isServed = true;
    if (p < count)
      ++counts[best->input];
  }
}

} // namespace

absl::StatusOr<BlendOrder> BlendOrder::create(std::span<const double> weights, const std::string &key) {
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] <= 0)
      return absl::InvalidArgumentError(
          absl::StrCat(key, "[", i, "].weight: ", weights[i], " is not a number above 0"));
    sum += weights[i];
  }
  if (weights.empty())
    return absl::InvalidArgumentError(absl::StrCat(key, ": no input is given"));
  if (!std::isfinite(sum))
    return absl::InvalidArgumentError(absl::StrCat(key, ": the weights are too large to be added"));
  int lowest = std::numeric_limits<int>::max();
  for (size_t i = 0; i < weights.size(); ++i) {
    if (std::ldexp(weights[i], mostBitsOfRatio) < sum)
      return absl::InvalidArgumentError(
          absl::StrCat(key, "[", i, "].weight: ", weights[i], " is less than 1/", 1 << mostBitsOfRatio,
                       " of the sum of the weights, ", sum, ". Raise it or leave the input out."));
    lowest = std::min(lowest, oddMantissa(weights[i]).second);
  }
  std::vector<UInt128> parts;
  UInt128 whole = 0;
  for (double weight : weights) {
    const auto [mantissa, exponent] = oddMantissa(weight);
    parts.push_back(UInt128{mantissa} << (exponent - lowest));
    whole += parts.back();
  }
  return BlendOrder(std::move(parts), whole);
}

BlendOrder::BlendOrder(std::vector<UInt128> theParts, UInt128 whole)
    : parts(std::move(theParts)), whole(whole) {
  const UInt128 least = *std::min_element(parts.begin(), parts.end());
  const auto rarest = static_cast<int64_t>((whole + least - 1) / least);
  blockLength = std::max(leastBlock, rarest);
}

int64_t BlendOrder::release(size_t input, int64_t j) const {
  return static_cast<int64_t>(static_cast<UInt128>(j - 1) * whole / parts[input]);
}

int64_t BlendOrder::deadline(size_t input, int64_t j) const {
  return static_cast<int64_t>((static_cast<UInt128>(j) * whole + parts[input] - 1) / parts[input]);
}

std::vector<int64_t> BlendOrder::countsAtBorder(int64_t place) const {
  std::vector<int64_t> counts;
  std::vector<OpenWindow> open;
  int64_t first = place, last = place, total = 0;
  std::vector<int64_t> behind; // the first sample of each input whose window lies wholly behind
  for (size_t i = 0; i < parts.size(); ++i) {
    const UInt128 product = static_cast<UInt128>(place) * parts[i];
    const auto count = static_cast<int64_t>(product / whole);
    const bool isOpen = product % whole != 0;
    counts.push_back(count);
    total += count;
    behind.push_back(count + (isOpen ? 2 : 1));
    if (!isOpen)
      continue;
    open.push_back({i, release(i, count + 1), deadline(i, count + 1)});
    first = std::min(first, open.back().release);
    last = std::max(last, open.back().deadline);
  }
  std::vector<int64_t> opening(static_cast<size_t>(place - first));
  std::vector<int64_t> closing(static_cast<size_t>(last - place));
  for (size_t i = 0; i < parts.size(); ++i) {
    for (int64_t j = counts[i]; j > 0 && release(i, j) >= first; --j)
      ++opening[static_cast<size_t>(release(i, j) - first)];
    for (int64_t j = behind[i]; deadline(i, j) <= last; ++j)
      ++closing[static_cast<size_t>(deadline(i, j) - 1 - place)];
  }
  const auto before = static_cast<size_t>(place - total);
  std::vector<int64_t> places, after;
  int64_t waiting = 0;
  for (int64_t p = first; p < place; ++p) {
    waiting += opening[static_cast<size_t>(p - first)];
    waiting > 0 ? void(--waiting) : places.push_back(p);
  }
  places.erase(places.begin(), places.end() - static_cast<std::ptrdiff_t>(before));
  waiting = 0;
  for (int64_t p = last - 1; p >= place; --p) {
    waiting += closing[static_cast<size_t>(p - place)];
    waiting > 0 ? void(--waiting) : after.push_back(p);
  }
  const size_t needed = open.size() - before;
  places.insert(places.end(), after.rbegin(), after.rbegin() + static_cast<std::ptrdiff_t>(needed));
  serve(places, before, open, counts);
  return counts;
}

void BlendOrder::fill(Block &block, int64_t number) const {
  const int64_t begin = number * blockLength;
  block.number = number;
  block.before = countsAtBorder(begin);
  block.picks.clear();
  const std::vector<int64_t> goal = countsAtBorder(begin + blockLength);
  std::vector<int64_t> counts = block.before;
  std::vector<std::pair<int64_t, int64_t>> next; // window of the next sample of each input
  for (size_t i = 0; i < parts.size(); ++i)
    next.emplace_back(release(i, counts[i] + 1), deadline(i, counts[i] + 1));
  for (int64_t place = begin; place < begin + blockLength; ++place) {
    size_t best = parts.size();
    std::pair<int64_t, int64_t> bestKey;
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::pair<int64_t, int64_t> key = {std::max(next[i].first, place), next[i].second};
      if (counts[i] < goal[i] && (best == parts.size() || key < bestKey))
        best = i, bestKey = key;
    }
    block.picks.push_back({static_cast<int64_t>(best), counts[best]});
    ++counts[best];
    next[best] = {release(best, counts[best] + 1), deadline(best, counts[best] + 1)};
  }
}

BlendOrder::Pick BlendOrder::pick(int64_t k, Block &block) const {
  if (block.number != k / blockLength || block.picks.empty())
    fill(block, k / blockLength);
  return block.picks[static_cast<size_t>(k % blockLength)];
}

std::vector<int64_t> BlendOrder::counts(int64_t k) const {
  Block block;
  fill(block, k / blockLength);
  std::vector<int64_t> counts = block.before;
  for (int64_t i = 0; i < k % blockLength; ++i)
    ++counts[static_cast<size_t>(block.picks[static_cast<size_t>(i)].input)];
  return counts;
}

} // namespace weft
