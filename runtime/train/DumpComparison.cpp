//===- DumpComparison.cpp - Two files of values, in program order ---------===//
//
// The order is that which weft wrote into either file's metadata; of two foreign files, that of the names.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/SafetensorsFile.h"
#include "runtime/checkpoint/StoredElements.h"
#include "runtime/support/ExitCode.h"
#include "runtime/train/RunComparison.h"
#include "runtime/train/ValueDump.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

using checkpoint::SafetensorsEntry;
using checkpoint::SafetensorsFile;

/// A tensor in a file.
struct Value {
  const SafetensorsEntry &entry;
  std::span<const std::byte> bytes;

  int64_t elements() const {
    return static_cast<int64_t>(bytes.size()) * 8 / checkpoint::bitSize(entry.type);
  }
  double at(int64_t index) const { return checkpoint::elementValue(entry.type, bytes.data(), index); }
  std::string typeText() const {
    std::string shape;
    for (int64_t size : entry.shape)
      absl::StrAppend(&shape, size, "x");
    return shape + std::string(checkpoint::name(entry.type));
  }
};

/// How two values differ, or nothing when they are equal within the tolerance.
std::optional<std::string> difference(const Value &a, const Value &b, double tolerance) {
  if (a.entry.shape != b.entry.shape || (tolerance == 0 && a.entry.type != b.entry.type))
    return absl::StrCat(a.typeText(), " and ", b.typeText());
  if (a.entry.type == b.entry.type && std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin()))
    return std::nullopt;
  if (!checkpoint::isNumber(a.entry.type) || !checkpoint::isNumber(b.entry.type))
    return absl::StrCat("the bytes of ", a.typeText(), " and ", b.typeText(), " differ");
  double square = 0, norm = 0, most = 0;
  int64_t count = 0, first = -1, notFinite = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    const double x = a.at(i), y = b.at(i);
    const bool same =
        x == y ? std::signbit(x) == std::signbit(y) || tolerance > 0 : std::isnan(x) && std::isnan(y);
    if (std::isfinite(y))
      norm += y * y;
    if (same)
      continue;
    ++count;
    first = first < 0 ? i : first;
    if (!std::isfinite(x) || !std::isfinite(y)) {
      ++notFinite;
      continue;
    }
    square += (x - y) * (x - y);
    most = std::max(most, std::abs(x - y));
  }
  const double relative = std::sqrt(square) / std::max(std::sqrt(norm), 1e-300);
  if (tolerance > 0 && notFinite == 0 && relative <= tolerance)
    return std::nullopt;
  std::string text = absl::StrFormat("%d of %d elements differ", count, a.elements());
  if (first >= 0)
    absl::StrAppendFormat(&text, ", the first is %d: %.9g and %.9g", first, a.at(first), b.at(first));
  absl::StrAppendFormat(&text, "; max |a-b| %.3g, relative error %.3g", most, relative);
  if (notFinite > 0)
    absl::StrAppendFormat(&text, "; %d not finite", notFinite);
  return text;
}

std::vector<std::string> programOrder(const SafetensorsFile &first, const SafetensorsFile &second) {
  for (const SafetensorsFile *file : {&first, &second}) {
    auto order = file->header().metadata.find(kDumpOrderKey);
    if (order != file->header().metadata.end())
      return absl::StrSplit(order->second, '\n');
  }
  std::vector<std::string> names;
  for (const SafetensorsEntry &entry : first.header().entries)
    names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace

absl::StatusOr<DumpComparison> compareDumps(const std::string &first, const std::string &second,
                                            double tolerance) {
  absl::StatusOr<SafetensorsFile> a = SafetensorsFile::open(checkpoint::systemFiles(), first);
  if (!a.ok())
    return withExitCode(a.status(), ExitCode::Data);
  absl::StatusOr<SafetensorsFile> b = SafetensorsFile::open(checkpoint::systemFiles(), second);
  if (!b.ok())
    return withExitCode(b.status(), ExitCode::Data);
  DumpComparison comparison;
  comparison.first = first;
  comparison.second = second;
  for (const std::string &name : programOrder(*a, *b)) {
    const SafetensorsEntry *left = a->find(name), *right = b->find(name);
    if (!left || !right)
      continue;
    ++comparison.compared;
    std::optional<std::string> what =
        difference({*left, a->bytes(*left)}, {*right, b->bytes(*right)}, tolerance);
    if (!what)
      continue;
    if (++comparison.different == 1)
      comparison.firstDifferent = {name, *what};
  }
  comparison.onlyInFirst = static_cast<int64_t>(a->header().entries.size()) - comparison.compared;
  comparison.onlyInSecond = static_cast<int64_t>(b->header().entries.size()) - comparison.compared;
  if (comparison.compared == 0)
    return withExitCode(
        absl::FailedPreconditionError(absl::StrCat(first, " and ", second, " have no name in common")),
        ExitCode::Config);
  return comparison;
}

} // namespace weft
