//===- Profile.cpp - Where the time of a step goes ------------------------===//
//
// A command's time is that between the ends of the command before it and of itself.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/Profile.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <chrono>

namespace weft {

absl::Status Profile::watch(Executor &executor, const std::function<absl::Status()> &step) {
  auto last = std::chrono::steady_clock::now();
  executor.setObserver([&](const CommandRecord &record) {
    const auto now = std::chrono::steady_clock::now();
    Row &row = rows[record.call ? record.call->name : "copy"];
    ++row.calls;
    row.seconds += std::chrono::duration<double>(now - last).count();
    last = std::chrono::steady_clock::now();
  });
  absl::Status status = step();
  executor.setObserver(nullptr);
  return status;
}

std::string Profile::table() const {
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto &a, const auto &b) { return a.second.seconds > b.second.seconds; });
  double total = 0;
  for (const auto &[name, row] : sorted)
    total += row.seconds;
  std::string text = absl::StrFormat("profile: one step, %.1f ms in kernels\n  %-40s %8s %12s %8s",
                                     total * 1e3, "kernel", "calls", "ms", "share");
  for (const auto &[name, row] : sorted)
    absl::StrAppendFormat(&text, "\n  %-40s %8d %12.3f %7.1f%%", name, row.calls, row.seconds * 1e3,
                          100 * row.seconds / std::max(total, 1e-12));
  return text;
}

} // namespace weft
