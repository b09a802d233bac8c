//===- PiecesTest.cpp - A tensor as boxes that lie in files ---------------===//
//
// Which boxes make up a tensor, what is said of those that do not, and that their bytes come together again.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include <random>

namespace weft::checkpoint {
namespace {

TEST(Pieces, ThatCoverATensorOnceAreAccepted) {
  EXPECT_EQ(checkCover({4, 4}, {wholeSlice({4, 4})}), "");
  EXPECT_EQ(checkCover({4, 4}, {{{0, 0}, {4, 1}}, {{0, 1}, {1, 3}}, {{1, 1}, {3, 3}}}), "");
  EXPECT_EQ(checkCover({}, {wholeSlice({})}), "");
  EXPECT_EQ(checkCover({0, 4}, {wholeSlice({0, 4})}), "");
  EXPECT_EQ(checkCover({5}, {{{0}, {3}}, {{3}, {2}}, {{5}, {0}}}),
            ""); // A rank of an uneven split may hold nothing.
}

TEST(Pieces, ThatDoNotAreRefusedWithTheCause) {
  EXPECT_EQ(checkCover({4}, {{{0}, {3}}}), "its slices hold 3 of 4 elements");
  EXPECT_EQ(checkCover({4, 4}, {{{0, 0}, {4, 3}}, {{1, 2}, {2, 2}}}),
            "slices [0+4, 0+3] and [1+2, 2+2] overlap");
  EXPECT_EQ(checkCover({}, {wholeSlice({}), wholeSlice({})}), "a scalar is stored twice");
  EXPECT_EQ(checkCover({4}, {{{2}, {3}}}), "slice [2+3] lies outside of the tensor");
  EXPECT_EQ(checkCover({4}, {{{-1}, {3}}}), "slice [-1+3] lies outside of the tensor");
  EXPECT_EQ(checkCover({4}, {{{0, 0}, {4, 1}}}), "a slice has 2 dimensions, the tensor 1");
  EXPECT_EQ(checkCover({4}, {{{std::numeric_limits<int64_t>::max()}, {1}}}),
            "slice [9223372036854775807+1] lies outside of the tensor");
}

TEST(Pieces, OfAnyGridComeTogetherAgain) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 50; ++trial) {
    const std::vector<int64_t> shape = {1 + static_cast<int64_t>(random() % 5),
                                        1 + static_cast<int64_t>(random() % 5),
                                        1 + static_cast<int64_t>(random() % 5)};
    std::vector<Slice> slices = {wholeSlice(shape)};
    for (int cut = 0; cut < 4; ++cut) { // Each cut splits one box along one dimension.
      Slice &first = slices[random() % slices.size()];
      const size_t d = random() % 3;
      Slice second = first;
      const int64_t left = static_cast<int64_t>(random() % static_cast<uint32_t>(first.size[d] + 1));
      first.size[d] = left;
      second.offset[d] += left;
      second.size[d] -= left;
      slices.push_back(second);
    }
    EXPECT_EQ(checkCover(shape, slices), "");
    std::vector<uint16_t> whole(static_cast<size_t>(wholeSlice(shape).elements()), 0xffff);
    for (const Slice &slice : slices) {
      std::vector<uint16_t> piece;
      for (int64_t i = 0; i < slice.size[0]; ++i)
        for (int64_t j = 0; j < slice.size[1]; ++j)
          for (int64_t k = 0; k < slice.size[2]; ++k)
            piece.push_back(static_cast<uint16_t>(
                ((slice.offset[0] + i) * shape[1] + slice.offset[1] + j) * shape[2] + slice.offset[2] + k));
      copyBox(2, slice.size, reinterpret_cast<const std::byte *>(piece.data()), {slice.size, {0, 0, 0}},
              reinterpret_cast<std::byte *>(whole.data()), {shape, slice.offset});
    }
    for (size_t i = 0; i < whole.size(); ++i)
      ASSERT_EQ(whole[i], i);
  }
}

TEST(Pieces, OfManyRanksAreCheckedQuickly) {
  std::vector<Slice> slices;
  for (int64_t i = 0; i < 128; ++i)
    for (int64_t j = 0; j < 128; ++j)
      slices.push_back({{i, j * 2}, {1, 2}});
  EXPECT_EQ(checkCover({128, 256}, slices), "");
}

TEST(IsCutOf, AShapeIsCutIntoDimensionsThatMultiplyToItsOwn) {
  EXPECT_TRUE(isCutOf({4, 8, 32}, {32, 32}));
  EXPECT_TRUE(isCutOf({32, 4, 8}, {32, 32}));
  EXPECT_TRUE(isCutOf({32, 3, 4, 8}, {32, 96}));
  EXPECT_TRUE(isCutOf({3, 4, 8}, {96}));
  EXPECT_TRUE(isCutOf({7}, {7}));
  EXPECT_TRUE(isCutOf({}, {}));
  EXPECT_TRUE(isCutOf({4, 1}, {4}));
  EXPECT_FALSE(isCutOf({4, 8, 16}, {16, 32})); // transposed: as many elements, other rows
  EXPECT_FALSE(isCutOf({96}, {3, 32}));        // joined, not cut
  EXPECT_FALSE(isCutOf({4, 8}, {4, 8, 2}));
  EXPECT_FALSE(isCutOf({4, 8, 2}, {4, 8}));
}

} // namespace
} // namespace weft::checkpoint
