//===- Coverage.h - Which features have met ---------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_COVERAGE_H
#define WEFT_TOOLS_WEFT_TRIALS_COVERAGE_H

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace weft::trials {

/// Counts features of cases, and pairs of features.
class Coverage {
public:
  void add(const std::set<std::string> &features);
  /// A table of all pairs; the diagonal counts the feature itself.
  std::string table() const;
  /// The features with fewer than `least` cases, and the pairs with fewer than `leastPairs`, one a line.
  /// Pairs of features that exclude each other (`zero 1`, `zero 2`: kinds of what the first word says) do not
  /// count, nor those with a kind of `alone`.
  std::string gaps(int64_t least, int64_t leastPairs, const std::string &alone) const;

private:
  int64_t count(const std::string &left, const std::string &right) const;

  std::set<std::string> names;
  std::map<std::pair<std::string, std::string>, int64_t> pairs;
};

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_COVERAGE_H
