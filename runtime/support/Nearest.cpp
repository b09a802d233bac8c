//===- Nearest.cpp - Edit distance and suggestions ------------------------===//
//
// Dynamic programming over three rows. Words are bounded in length, so that a hostile key costs nothing.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/Nearest.h"

#include <algorithm>
#include <numeric>

namespace weft {

size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> beforePrevious(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replaced, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], beforePrevious[j - 2] + 1);
    }
    std::swap(beforePrevious, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::optional<std::string> nearestWord(std::string_view word, const std::vector<std::string> &candidates) {
  constexpr size_t longestWord = 128;
  if (word.size() > longestWord)
    return std::nullopt;
  size_t limit = std::max<size_t>(2, word.size() / 3);
  std::optional<std::string> best;
  size_t bestDistance = limit + 1;
  for (const std::string &candidate : candidates) {
    size_t distance = editDistance(word, candidate);
    // Two edits make any two-letter word out of any other: part of the word must be left.
    if (distance < bestDistance && distance < std::max(word.size(), candidate.size())) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

} // namespace weft
