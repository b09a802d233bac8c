#include "runtime/train/Profile.h"

#include "absl/strings/str_format.h"

#include <algorithm>
#include <map>

namespace weft {
namespace {

struct Row {
  int64_t calls = 0;
  int64_t nanoseconds = 0;
};

std::map<std::string, Row> rowsOf(const Executable &executable, const RunTimes &times) {
  const Program &program = times.program();
  std::map<std::string, Row> rows;
  for (const ItemTimes &item : times.items())
    for (size_t i = 0; i < item.ends.size(); ++i) {
      const Command &command = program.commands[program.actions[item.item.action].firstCommand + i];
      Row &row =
          rows[command.kind == CommandKind::Launch ? executable.kernels[command.kernel].call.name : "copy"];
      ++row.calls;
      row.nanoseconds += item.of(i);
    }
  return rows;
}

} // namespace

std::string profileTable(const Executable &executable, const RunTimes &times) {
  const std::map<std::string, Row> rows = rowsOf(executable, times);
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto &a, const auto &b) { return a.second.nanoseconds > b.second.nanoseconds; });
  double total = 0;
  for (const auto &[name, row] : sorted)
    total += static_cast<double>(row.nanoseconds);
  std::string text = absl::StrFormat("profile: one step, %.1f ms in kernels\n  %-40s %8s %12s %8s",
                                     total * 1e-6, "kernel", "calls", "ms", "share");
  for (const auto &[name, row] : sorted) {
    const double nanoseconds = static_cast<double>(row.nanoseconds);
    absl::StrAppendFormat(&text, "\n  %-40s %8d %12.3f %7.1f%%", name, row.calls, nanoseconds * 1e-6,
                          100 * nanoseconds / std::max(total, 1.0));
  }
  return text;
}

} // namespace weft
