//===- HumanFormat.cpp - Numbers as people read them ----------------------===//
//
// The unit is chosen after rounding: 1,023.9 MiB is 1.00 GiB, not 1024 MiB.
//
//===----------------------------------------------------------------------===//
#include "runtime/metrics/HumanFormat.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <cmath>

namespace weft {

std::string formatBytes(int64_t bytes) {
  static constexpr const char *units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024)
    return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes) / 1024;
  int unit = 0;
  while (value >= 1023.5) {
    value /= 1024;
    ++unit;
  }
  int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f %s", decimals, value, units[unit]);
}

std::string formatDuration(double seconds) {
  constexpr double longest = 1e9 * 86400;
  if (!(seconds >= 0) || seconds > longest)
    return "?";
  int64_t whole = std::llround(seconds);
  if (whole < 60)
    return absl::StrCat(whole, "s");
  if (whole < 3600)
    return absl::StrFormat("%dm%02ds", whole / 60, whole % 60);
  int64_t minutes = std::llround(seconds / 60);
  if (minutes < 24 * 60)
    return absl::StrFormat("%dh%02dm", minutes / 60, minutes % 60);
  int64_t hours = std::llround(seconds / 3600);
  return absl::StrFormat("%dd%02dh", hours / 24, hours % 24);
}

} // namespace weft
