// Two places know how dimensions are split: kernels, and the mesh of the executable. They agree.
#include "kernels/collective/Parts.h"

#include "runtime/executable/Mesh.h"

#include <gtest/gtest.h>

#include <numeric>

namespace weft::testing {
namespace {

TEST(Parts, AreThoseOfTheMesh) {
  Mesh mesh;
  mesh.axes = {{"a", 2}, {"b", 3}, {"c", 1}, {"d", 4}};
  for (const std::vector<uint32_t> &axes : std::vector<std::vector<uint32_t>>{
           {}, {0}, {1}, {3}, {0, 1}, {1, 0}, {0, 1, 2, 3}, {3, 2, 0}, {3, 1}}) {
    std::vector<int64_t> sizes;
    for (uint32_t axis : axes)
      sizes.push_back(mesh.axes[axis].size);
    for (int64_t size = 1; size < 40; ++size)
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        Extent expected = partOf(mesh, rank, size, {axes});
        EXPECT_EQ(dimensionPart(size, sizes, mesh.indexOf(rank, axes)),
                  (DimensionPart{expected.start, expected.valid, expected.size}));
      }
  }
}

/// Both cut zigzags alike, and the parts of a part are those of a zigzag over all axes at once.
TEST(Parts, OfAZigzagAreThoseOfTheMesh) {
  Mesh mesh;
  mesh.axes = {{"a", 2}, {"b", 3}, {"c", 2}};
  for (const std::vector<uint32_t> &axes :
       std::vector<std::vector<uint32_t>>{{0}, {1}, {0, 1}, {2, 1}, {0, 1, 2}}) {
    int64_t parts = mesh.sizeOf(axes);
    for (int64_t size = 2 * parts; size <= 8 * parts; size += 2 * parts)
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        std::vector<Extent> expected = stretchesOf(mesh, rank, size, {axes, true});
        std::vector<PartStretch> found = zigzagStretches(size, parts, mesh.indexOf(rank, axes));
        ASSERT_EQ(found.size(), expected.size());
        int64_t before = 0;
        for (size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i], (PartStretch{expected[i].start, before, expected[i].valid}));
          before += expected[i].size;
        }
      }
  }
}

std::vector<int64_t> positionsOf(const std::vector<PartStretch> &stretches,
                                 const std::vector<int64_t> &whole) {
  std::vector<int64_t> positions;
  for (const PartStretch &stretch : stretches)
    for (int64_t row = 0; row < stretch.rows; ++row)
      positions.push_back(whole[static_cast<size_t>(stretch.whole + row)]);
  return positions;
}

TEST(Parts, OfPartsOfAZigzagAreAZigzag) {
  std::vector<int64_t> whole(48);
  std::iota(whole.begin(), whole.end(), 0);
  for (auto [outer, inner] : {std::pair(2, 3), std::pair(3, 2), std::pair(4, 2), std::pair(2, 4)})
    for (int64_t i = 0; i < outer; ++i) {
      std::vector<int64_t> part = positionsOf(zigzagStretches(48, outer, i), whole);
      for (int64_t j = 0; j < inner; ++j)
        EXPECT_EQ(positionsOf(zigzagStretches(48 / outer, inner, j), part),
                  positionsOf(zigzagStretches(48, outer * inner, i * inner + j), whole));
    }
}

TEST(Parts, OfTwoAxesHaveATailAtEachLevel) {
  // 5 over 2 x 2: halves of 3 and 2, quarters of 2, 1, 2 and 0.
  std::vector<int64_t> axes = {2, 2};
  EXPECT_EQ(dimensionPart(5, axes, 0), (DimensionPart{0, 2, 2}));
  EXPECT_EQ(dimensionPart(5, axes, 1), (DimensionPart{2, 1, 2}));
  EXPECT_EQ(dimensionPart(5, axes, 2), (DimensionPart{3, 2, 2}));
  EXPECT_EQ(dimensionPart(5, axes, 3), (DimensionPart{5, 0, 2}));
}

} // namespace
} // namespace weft::testing
