//===- BlockProductTest.cpp - Products over packed panels -----------------===//
#include "kernels/cpu/BlockProduct.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace weft::cpu {
namespace {

template <typename T> std::vector<T> randomValues(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(count);
  for (T &value : values)
    value = static_cast<T>(normal(generator));
  return values;
}

/// Panels lie on a 64-byte boundary.
template <typename T> struct PanelMemory {
  std::vector<T> memory;
  T *data;
  PanelMemory(int64_t depth, int64_t columns) : memory(panelElements(depth, columns) + 64 / sizeof(T)) {
    void *start = memory.data();
    size_t space = memory.size() * sizeof(T);
    data = static_cast<T *>(std::align(64, panelElements(depth, columns) * sizeof(T), start, space));
  }
};

struct Sizes {
  int64_t rows, columns, depth;
};

/// A and B with strides of their own: `aTransposed` and `bTransposed` say which way they lie.
template <typename T> struct Problem {
  Sizes sizes;
  std::vector<T> a, b;
  MatrixStrides aStrides;
  PanelMemory<T> panels;
  Problem(Sizes sizes, bool aTransposed, bool bTransposed)
      : sizes(sizes), panels(sizes.depth, sizes.columns) {
    const int64_t aStride = (aTransposed ? sizes.rows : sizes.depth) + 3;
    a = randomValues<T>((aTransposed ? sizes.depth : sizes.rows) * aStride, 1);
    aStrides = aTransposed ? MatrixStrides{1, aStride} : MatrixStrides{aStride, 1};
    const int64_t bStride = (bTransposed ? sizes.depth : sizes.columns) + 5;
    b = randomValues<T>((bTransposed ? sizes.columns : sizes.depth) * bStride, 2);
    bStrides = bTransposed ? MatrixStrides{1, bStride} : MatrixStrides{bStride, 1};
    if (bTransposed)
      packTransposedPanels(b.data(), bStride, sizes.depth, sizes.columns, panels.data);
    else
      packPanels(b.data(), bStride, sizes.depth, sizes.columns, panels.data);
  }
  BlockProduct<T> into(std::vector<T> &c, int64_t cRow) const {
    return {sizes.rows, sizes.columns, sizes.depth, a.data(), aStrides, panels.data, c.data(), cRow};
  }
  /// The sum over depths [first, last), in long double, and the sum of the magnitudes of its terms.
  std::pair<double, double> element(int64_t row, int64_t column, int64_t first, int64_t last) const {
    long double sum = 0, magnitude = 0;
    for (int64_t k = first; k < last; ++k) {
      const long double term = static_cast<long double>(a[row * aStrides.row + k * aStrides.column]) *
                               b[k * bStrides.row + column * bStrides.column];
      sum += term, magnitude += std::abs(term);
    }
    return {static_cast<double>(sum), static_cast<double>(magnitude)};
  }

private:
  MatrixStrides bStrides;
};

template <typename T> class BlockProductTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BlockProductTest, Types);

/// Each of `depth` fused additions rounds once, a partial sum never exceeds the sum of magnitudes.
template <typename T> double slack(int64_t depth, double magnitude) {
  return static_cast<double>(depth + 1) * std::numeric_limits<T>::epsilon() / 2 * magnitude;
}

TYPED_TEST(BlockProductTest, EqualsTheSumOfProductsAndLeavesTheRestAlone) {
  using T = TypeParam;
  for (Sizes sizes : {Sizes{1, 1, 1}, Sizes{5, 7, 3}, Sizes{6, 8, 4}, Sizes{12, 16, 48}, Sizes{13, 17, 9},
                      Sizes{48, 128, 33}, Sizes{67, 100, 65}, Sizes{128, 24, 48}})
    for (int form = 0; form < 8; ++form) {
      const bool accumulate = form & 4;
      const Problem<T> problem(sizes, form & 1, form & 2);
      const int64_t cRow = sizes.columns + 2;
      const std::vector<T> before = randomValues<T>(sizes.rows * cRow, 3);
      std::vector<T> c = before;
      BlockProduct<T> product = problem.into(c, cRow);
      product.accumulate = accumulate;
      multiplyPanels(product);
      for (int64_t row = 0; row < sizes.rows; ++row)
        for (int64_t column = 0; column < cRow; ++column) {
          const T was = before[row * cRow + column], is = c[row * cRow + column];
          if (column >= sizes.columns) {
            ASSERT_EQ(is, was) << "beyond the columns";
            continue;
          }
          const auto [sum, magnitude] = problem.element(row, column, 0, sizes.depth);
          const double start = accumulate ? static_cast<double>(was) : 0;
          ASSERT_NEAR(static_cast<double>(is), sum + start,
                      slack<T>(sizes.depth, magnitude + std::abs(start)))
              << sizes.rows << " x " << sizes.columns << " x " << sizes.depth << ", form " << form
              << ", element " << row << ", " << column;
        }
    }
}

/// What nobody needs is not computed, and what is needed has the bits of the whole product: skipped depths
/// hold zeros.
TYPED_TEST(BlockProductTest, OfRangesHasTheBitsOfTheWhole) {
  using T = TypeParam;
  const Sizes sizes = {50, 70, 40};
  Problem<T> problem(sizes, false, false);
  std::vector<int32_t> none(sizes.rows, 0), columns(sizes.rows), depthFirst(sizes.rows),
      depthLast(sizes.rows);
  for (int64_t row = 0; row < sizes.rows; ++row) {
    columns[row] = static_cast<int32_t>(row < 20 ? 0 : row); // whole strips without a column
    depthFirst[row] = static_cast<int32_t>(row / 2);
    depthLast[row] = static_cast<int32_t>(row % 5 == 0 ? 0 : row / 2 + 9); // and rows without a depth
    for (int64_t k = 0; k < sizes.depth; ++k)
      if (k < depthFirst[row] || k >= depthLast[row])
        problem.a[row * problem.aStrides.row + k] = 0;
  }
  const T untouched = 77;
  std::vector<T> whole(sizes.rows * sizes.columns), part(sizes.rows * sizes.columns, untouched);
  multiplyPanels(problem.into(whole, sizes.columns));
  BlockProduct<T> product = problem.into(part, sizes.columns);
  product.neededColumns = {none.data(), columns.data()};
  product.neededDepth = {depthFirst.data(), depthLast.data()};
  multiplyPanels(product);
  int64_t left = 0;
  for (int64_t row = 0; row < sizes.rows; ++row)
    for (int64_t column = 0; column < sizes.columns; ++column) {
      const T is = part[row * sizes.columns + column];
      if (column < columns[row] || is != untouched)
        ASSERT_EQ(is, whole[row * sizes.columns + column]) << row << ", " << column;
      left += is == untouched;
    }
  EXPECT_GE(left, 12 * sizes.columns);
}

/// The bits of an element do not depend on the rows and columns around it.
TYPED_TEST(BlockProductTest, OfAPartHasTheBitsOfTheWhole) {
  using T = TypeParam;
  const Sizes sizes = {29, 41, 37};
  const Problem<T> problem(sizes, false, true);
  std::vector<T> whole(sizes.rows * sizes.columns), part(sizes.rows * sizes.columns);
  multiplyPanels(problem.into(whole, sizes.columns));
  for (int64_t row = 0; row < sizes.rows; ++row) {
    BlockProduct<T> product = problem.into(part, sizes.columns);
    product.rows = 1;
    product.a += row * problem.aStrides.row, product.c += row * sizes.columns;
    multiplyPanels(product);
  }
  EXPECT_EQ(part, whole);
}

} // namespace
} // namespace weft::cpu
