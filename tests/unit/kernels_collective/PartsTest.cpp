// Two places know how dimensions are split: kernels, and the mesh of the executable. They agree.
#include "kernels/collective/Parts.h"

#include "runtime/executable/Mesh.h"

#include <gtest/gtest.h>

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
