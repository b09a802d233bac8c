#include "tools/weft-trials/Report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::trials {

void Report::beginCase(const std::string &name, uint64_t caseSeed) {
  op = name, seed = caseSeed, caseFailed = false;
  ++current().cases;
}

void Report::compare(const std::string &kind, double error, double tolerance, const std::string &what) {
  Row &row = current();
  ++row.comparisons[kind];
  double ratio = error == 0.0 ? 0.0 : error / tolerance;
  row.worst = std::isnan(ratio) ? INFINITY : std::max(row.worst, ratio);
  if (!(error <= tolerance))
    fail(absl::StrFormat("%s: error %.3g, at most %.3g wanted; %s", kind, error, tolerance, what));
}

void Report::fail(const std::string &what) {
  caseFailed = true;
  absl::PrintF("FAILED %s: %s\n  repeat: scripts/trials.sh %s --count 1 --seed %d%s\n", op, what, trial, seed,
               options);
  std::fflush(stdout);
}

void Report::note(const std::string &column) { ++current().notes[column]; }

void Report::endCase() {
  if (caseFailed)
    ++current().failed;
}

int Report::close() const {
  int64_t cases = 0, failed = 0;
  absl::PrintF("%-32s %6s %7s %9s  %s\n", "op", "cases", "failed", "worst", "comparisons");
  for (const auto &[name, row] : rows) {
    std::string details;
    for (const auto &[kind, count] : row.comparisons)
      absl::StrAppend(&details, details.empty() ? "" : ", ", kind, " ", count);
    for (const auto &[note, count] : row.notes)
      absl::StrAppend(&details, ", ", note, " ", count);
    if (row.unbounded > 0)
      absl::StrAppend(&details,
                      absl::StrFormat(", out of range %.2g%%", 100.0 * static_cast<double>(row.unbounded) /
                                                                   static_cast<double>(row.elements)));
    absl::PrintF("%-32s %6d %7d %9.2g  %s\n", name, row.cases, row.failed, row.worst, details);
    cases += row.cases, failed += row.failed;
  }
  absl::PrintF("worst: error / tolerance\n%d passed, %d failed\n", cases - failed, failed);
  return failed == 0 && cases > 0 ? 0 : 1;
}

} // namespace weft::trials
