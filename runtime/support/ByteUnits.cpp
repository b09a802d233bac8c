//===- ByteUnits.cpp - Reading and writing sizes of memory ----------------===//
//
// One table of units serves both directions.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/ByteUnits.h"

#include "absl/strings/str_cat.h"

#include <charconv>
#include <cmath>

namespace weft {

namespace {
struct Unit {
  std::string_view name;
  int64_t bytes;
};
} // namespace

// Units of 1024 come first, from large to small: textFromBytes() takes the first that divides.
static constexpr Unit units[] = {
    {"TiB", int64_t{1} << 40},
    {"GiB", int64_t{1} << 30},
    {"MiB", int64_t{1} << 20},
    {"KiB", int64_t{1} << 10},
    {"B", 1},
    {"TB", 1000000000000},
    {"GB", 1000000000},
    {"MB", 1000000},
    {"KB", 1000},
};

static std::optional<int64_t> scaleOf(std::string_view unit) {
  if (unit.empty())
    return 1;
  for (const Unit &known : units)
    if (known.name == unit)
      return known.bytes;
  return std::nullopt;
}

std::optional<int64_t> bytesFromText(std::string_view text) {
  size_t digits = text.find_first_not_of("0123456789.");
  std::string_view number = text.substr(0, digits);
  std::string_view unit = digits == std::string_view::npos ? std::string_view() : text.substr(digits);
  while (!unit.empty() && unit.front() == ' ')
    unit.remove_prefix(1);
  std::optional<int64_t> scale = scaleOf(unit);
  if (!scale || number.empty())
    return std::nullopt;

  const char *end = number.data() + number.size();
  int64_t whole = 0;
  if (auto [stop, error] = std::from_chars(number.data(), end, whole); error == std::errc() && stop == end) {
    int64_t bytes = 0;
    return __builtin_mul_overflow(whole, *scale, &bytes) ? std::nullopt : std::optional(bytes);
  }
  double fraction = 0;
  auto [stop, error] = std::from_chars(number.data(), end, fraction, std::chars_format::fixed);
  double bytes = std::floor(fraction * static_cast<double>(*scale));
  if (error != std::errc() || stop != end || unit.empty() || bytes >= 9.2e18)
    return std::nullopt;
  return static_cast<int64_t>(bytes);
}

std::string textFromBytes(int64_t bytes) {
  for (const Unit &unit : units)
    if (bytes != 0 && bytes % unit.bytes == 0)
      return absl::StrCat(bytes / unit.bytes, " ", absl::string_view(unit.name.data(), unit.name.size()));
  return absl::StrCat(bytes, " B");
}

} // namespace weft
