//===- HeldOutSplit.cpp - Which tokens train and which validate -----------===//
//
// Sections are as many as leave at least four samples to hold out in each, at most 16: more would only waste
// the incomplete sample at the end of each range.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/HeldOutSplit.h"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

constexpr int64_t mostSections = 16;
constexpr int64_t samplesPerSection = 4;

} // namespace

HeldOutSplit::HeldOutSplit(int64_t tokens, double fraction, int64_t sequenceLength)
    : tokens(tokens), fraction(fraction), sequenceLength(sequenceLength) {
  int64_t heldOut = heldOutOf({0, tokens});
  sectionCount = std::clamp<int64_t>(heldOut / (samplesPerSection * (sequenceLength + 1)), 1, mostSections);
}

HeldOutSplit::Range HeldOutSplit::section(int64_t index) const {
  int64_t length = tokens / sectionCount;
  int64_t longer = tokens % sectionCount;
  auto border = [&](int64_t i) { return i * length + std::min(i, longer); };
  return {border(index), border(index + 1)};
}

int64_t HeldOutSplit::heldOutOf(Range section) const {
  return std::llround(fraction * static_cast<double>(section.end - section.begin));
}

HeldOutSplit::Range HeldOutSplit::range(Split split, int64_t index) const {
  Range all = section(index);
  int64_t border = all.end - heldOutOf(all);
  return split == Split::Training ? Range{all.begin, border} : Range{border, all.end};
}

int64_t HeldOutSplit::samplesIn(Range range) const {
  return std::max<int64_t>(0, range.end - range.begin - 1) / sequenceLength;
}

int64_t HeldOutSplit::samples(Split split) const {
  int64_t total = 0;
  for (int64_t i = 0; i < sectionCount; ++i)
    total += samplesIn(range(split, i));
  return total;
}

int64_t HeldOutSplit::sampleBegin(Split split, int64_t i) const {
  int64_t index = 0;
  Range current = range(split, index);
  while (i >= samplesIn(current) && index + 1 < sectionCount) {
    i -= samplesIn(current);
    current = range(split, ++index);
  }
  return current.begin + i * sequenceLength;
}

int64_t HeldOutSplit::heldOutTokens() const {
  int64_t total = 0;
  for (int64_t i = 0; i < sectionCount; ++i)
    total += heldOutOf(section(i));
  return total;
}

} // namespace weft
