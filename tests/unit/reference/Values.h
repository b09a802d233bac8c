//===- Values.h - Short spellings of tensors and refusals for tests -------===//
//
// reals({2}, {1, 2}) and integers({2}, {1, 2}) make tensors; EXPECT_VALUE compares a result with one, NaN
// equal to NaN and -0.0 different from 0.0; EXPECT_REFUSED compares the whole message.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_REFERENCE_VALUES_H
#define WEFT_TESTS_UNIT_REFERENCE_VALUES_H

#include "kernels/reference/Tensor.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>

namespace weft::reference {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Shape = std::vector<int64_t>;

inline Tensor reals(Shape shape, std::vector<double> values, DType dtype = DType::F32) {
  return {dtype, std::move(shape), std::move(values), {}};
}
inline Tensor integers(Shape shape, std::vector<int64_t> values, DType dtype = DType::I32) {
  return {dtype, std::move(shape), {}, std::move(values)};
}
inline Tensor booleans(Shape shape, std::vector<int64_t> values) {
  return integers(std::move(shape), std::move(values), DType::I1);
}
inline Tensor scalar(double value, DType dtype = DType::F64) { return reals({}, {value}, dtype); }

inline std::string textOf(const Tensor &tensor) {
  std::string text = tensor.type().str() + " [";
  for (double value : tensor.reals)
    absl::StrAppend(&text, std::signbit(value) && value == 0 ? "-" : "", value, " ");
  for (int64_t value : tensor.integers)
    absl::StrAppend(&text, value, " ");
  return text + "]";
}

inline bool sameBits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

inline bool sameValues(const Tensor &a, const Tensor &b) {
  if (a.type() != b.type() || a.integers != b.integers || a.reals.size() != b.reals.size())
    return false;
  for (size_t i = 0; i < a.reals.size(); ++i)
    if (!sameBits(a.reals[i], b.reals[i]))
      return false;
  return true;
}

} // namespace weft::reference

#define EXPECT_VALUE(expression, ...)                                                                        \
  do {                                                                                                       \
    auto result = (expression);                                                                              \
    weft::reference::Tensor expected = __VA_ARGS__;                                                          \
    ASSERT_TRUE(result.ok()) << result.status();                                                             \
    EXPECT_TRUE(sameValues(*result, expected)) << "got " << textOf(*result) << "\nnot " << textOf(expected); \
  } while (false)

#define EXPECT_REFUSED(expression, text)                                                                     \
  do {                                                                                                       \
    auto result = (expression);                                                                              \
    ASSERT_FALSE(result.ok());                                                                               \
    EXPECT_EQ(std::string(result.status().message()), text);                                                 \
  } while (false)

#endif // WEFT_TESTS_UNIT_REFERENCE_VALUES_H
