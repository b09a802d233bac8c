//===- TreeSumTest.cpp - One order of additions for every number of ranks --===//
#include "runtime/train/TreeSum.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

double termOf(size_t index) {
  return std::ldexp(1.0 + static_cast<double>(index * 37 % 101) / 128, static_cast<int>(index * 13 % 47));
}

/// The tree of the terms [begin, begin + count) below `terms`, zeros behind them; `count` is a power of two.
double treeOf(size_t begin, size_t count, size_t terms) {
  if (count == 1)
    return begin < terms ? termOf(begin) : 0.0;
  return treeOf(begin, count / 2, terms) + treeOf(begin + count / 2, count / 2, terms);
}

TEST(TreeSum, HasTheSameBitsWhateverItsTermsStandFor) {
  for (size_t terms = 1; terms <= 40; ++terms) {
    TreeSum one;
    for (size_t i = 0; i < terms; ++i)
      one.add(termOf(i));
    for (size_t ranks : {2, 4, 8}) {
      TreeSum several;
      for (size_t begin = 0; begin < terms; begin += ranks)
        several.add(treeOf(begin, ranks, terms));
      EXPECT_EQ(one.total(), several.total()) << terms << " terms, " << ranks << " ranks";
    }
  }
  EXPECT_EQ(TreeSum().total(), 0.0);
}

TEST(TreeSum, IsNoSumInOrder) {
  // 2^53 swallows a 1, and not a 2.
  TreeSum tree;
  for (double term : {0x1p53, 1.0, 1.0, 1.0})
    tree.add(term);
  EXPECT_EQ(tree.total(), 0x1p53 + 2);
}

} // namespace
} // namespace weft
