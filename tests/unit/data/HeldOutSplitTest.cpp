//===- HeldOutSplitTest.cpp - Which tokens train and which validate -------===//
#include "runtime/data/HeldOutSplit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace weft {
namespace {

TEST(HeldOutSplit, NoTokenIsBothTrainedOnAndValidatedWith) {
  for (int64_t tokens : {100, 1000, 12345, 100003})
    for (double fraction : {0.01, 0.1, 0.5, 0.9})
      for (int64_t length : {1, 7, 64}) {
        HeldOutSplit split(tokens, fraction, length);
        std::vector<int> uses(tokens);
        for (Split which : {Split::Training, Split::Validation})
          for (int64_t i = 0; i < split.samples(which); ++i) {
            int64_t begin = split.sampleBegin(which, i);
            ASSERT_GE(begin, 0);
            ASSERT_LE(begin + length + 1, tokens);
            for (int64_t t = begin; t <= begin + length; ++t)
              uses[t] |= which == Split::Training ? 1 : 2;
          }
        for (int use : uses)
          ASSERT_NE(use, 3) << tokens << " " << fraction << " " << length;
      }
}

TEST(HeldOutSplit, SamplesFollowEachOtherAndShareOneToken) {
  HeldOutSplit split(101, 0, 10);
  EXPECT_EQ(split.samples(Split::Training), 10);
  EXPECT_EQ(split.samples(Split::Validation), 0);
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(split.sampleBegin(Split::Training, i), i * 10);
}

TEST(HeldOutSplit, HoldsOutTheFractionFromSectionsAllOverTheStream) {
  HeldOutSplit split(1'000'000, 0.05, 100);
  EXPECT_EQ(split.sections(), 16);
  EXPECT_EQ(split.heldOutTokens(), 50'000);
  EXPECT_GE(split.sampleBegin(Split::Validation, 0), 1'000'000 / 16 - 50'000 / 16);
  int64_t last = split.samples(Split::Validation) - 1;
  EXPECT_GT(split.sampleBegin(Split::Validation, last), 990'000);
}

TEST(HeldOutSplit, AShortStreamHasOneSection) {
  HeldOutSplit split(1000, 0.1, 50);
  EXPECT_EQ(split.sections(), 1);
  EXPECT_EQ(split.heldOutTokens(), 100);
  EXPECT_EQ(split.sampleBegin(Split::Validation, 0), 900);
}

TEST(HeldOutSplit, AStreamShorterThanASampleHasNone) {
  for (int64_t tokens : {0, 1, 10})
    EXPECT_EQ(HeldOutSplit(tokens, 0, 10).samples(Split::Training), 0) << tokens;
  EXPECT_EQ(HeldOutSplit(11, 0, 10).samples(Split::Training), 1);
}

TEST(HeldOutSplit, TrillionsOfTokensNeedNoMore) {
  int64_t tokens = int64_t{20} * 1'000'000'000'000;
  HeldOutSplit split(tokens, 0.001, 4096);
  int64_t last = split.samples(Split::Training) - 1;
  EXPECT_LE(split.sampleBegin(Split::Training, last) + 4097, tokens);
  EXPECT_NEAR(static_cast<double>(split.heldOutTokens()), 0.001 * static_cast<double>(tokens), 16);
}

} // namespace
} // namespace weft
