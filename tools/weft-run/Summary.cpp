#include "tools/weft-run/Summary.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace weft::run {
namespace {

using reference::Tensor;

constexpr int64_t kFewElements = 8, kFirstElements = 4;

/// The shortest text that reads back as the same number.
std::string exact(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

std::string rounded(double value) {
  char text[32];
  return {text, static_cast<size_t>(std::snprintf(text, sizeof(text), "%.6g", value))};
}

std::string element(const Tensor &tensor, int64_t index, bool whole) {
  if (!isFloat(tensor.dtype))
    return std::to_string(tensor.integers[index]);
  return whole ? exact(tensor.reals[index]) : rounded(tensor.reals[index]);
}

/// Nested brackets, one pair per dimension.
void appendNested(const Tensor &tensor, size_t dimension, int64_t &next, bool whole, std::string &text) {
  if (dimension == tensor.shape.size()) {
    text += element(tensor, next++, whole);
    return;
  }
  text += '[';
  for (int64_t i = 0; i < tensor.shape[dimension]; ++i) {
    if (i > 0)
      text += ", ";
    appendNested(tensor, dimension + 1, next, whole, text);
  }
  text += ']';
}

std::string nested(const std::string &name, const Tensor &tensor, bool whole) {
  std::string text = absl::StrCat(name, ": ", tensor.type().str(), " = ");
  int64_t next = 0;
  appendNested(tensor, 0, next, whole, text);
  return text;
}

} // namespace

std::string summarize(const std::string &name, const Tensor &tensor) {
  if (tensor.elements() <= kFewElements)
    return nested(name, tensor, false);
  std::vector<double> values = tensor.reals;
  values.insert(values.end(), tensor.integers.begin(), tensor.integers.end());
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  std::string text = absl::StrCat(name, ": ", tensor.type().str());
  if (!values.empty()) {
    double sum = 0, squares = 0, count = static_cast<double>(values.size());
    for (double value : values)
      sum += value, squares += value * value;
    auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
    absl::StrAppend(&text, "  min ", rounded(*smallest), "  max ", rounded(*largest), "  mean ",
                    rounded(sum / count), "  rms ", rounded(std::sqrt(squares / count)));
  }
  int64_t lost = tensor.elements() - static_cast<int64_t>(values.size());
  if (lost > 0)
    absl::StrAppend(&text, "  not finite ", lost);
  text += "  [";
  for (int64_t i = 0; i < kFirstElements; ++i)
    text += element(tensor, i, false) + ", ";
  return text + "...]";
}

std::string printWhole(const std::string &name, const Tensor &tensor) { return nested(name, tensor, true); }

} // namespace weft::run
