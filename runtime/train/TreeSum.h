//===- TreeSum.h - A sum whose order depends on no number of ranks --------===//
//
// The binary counter of the canonical sum, on the host and for any number of terms: two neighbors of one size
// are added as soon as both are there, and what is left at the end from the last to the first. A term that
// several ranks have summed by the tree stands for its leaves, so the bits are the same on 1, 2, 4, ...
// ranks; zeros that fill the last of them change none.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_TREESUM_H
#define WEFT_RUNTIME_TRAIN_TREESUM_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class TreeSum {
public:
  void add(double term) {
    for (int level = std::countr_one(terms++); level > 0; --level) {
      term = waiting.back() + term;
      waiting.pop_back();
    }
    waiting.push_back(term);
  }

  /// 0 where there is no term.
  double total() const {
    double sum = waiting.empty() ? 0.0 : waiting.back();
    for (size_t level = waiting.size(); level-- > 1;)
      sum = waiting[level - 1] + sum;
    return sum;
  }

private:
  uint64_t terms = 0;
  std::vector<double> waiting; ///< sums of 2^k terms, the largest first
};

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_TREESUM_H
