#include "runtime/train/Profile.h"

#include "kernels/collective/Collective.h"
#include "kernels/common/KernelCost.h"

#include "absl/strings/str_format.h"

#include <algorithm>
#include <map>

namespace weft {
namespace {

struct Row {
  std::string kernel;
  int64_t calls = 0;
  double seconds = 0;
  KernelCost cost;
  double leastSeconds = 0; ///< at the limits of the machine
  bool waits = false;      ///< for other ranks: no limit of this machine

  /// What it reaches of its limit; 0 where there is none.
  double shareOfLimit() const { return waits || seconds <= 0 ? 0 : leastSeconds / seconds; }
};

/// 0: a limit was not measured.
double leastSeconds(const KernelCost &cost, const MachineRates &limits) {
  const bool computes = cost.operations > 0;
  const double limit = computes ? limits.flopsIn(cost.multiplied) : limits.bytesPerSecond;
  return limit > 0 ? (computes ? cost.operations : cost.bytes) / limit : 0;
}

std::vector<Row> rowsOf(const Executable &executable, const RunTimes &times, const MachineRates &limits) {
  const Program &program = times.program();
  std::map<std::string, Row> rows;
  for (const ItemTimes &item : times.items())
    for (size_t i = 0; i < item.ends.size(); ++i) {
      const Command &command = program.commands[program.actions[item.item.action].firstCommand + i];
      KernelCost cost;
      cost.bytes = 2.0 * static_cast<double>(command.copyBytes);
      std::string name = "copy";
      if (command.kind == CommandKind::Launch) {
        const KernelCall &call = executable.kernels[command.kernel].call;
        name = call.name;
        cost = costOf(call).value_or(KernelCost());
      }
      Row &row = rows[name];
      row.kernel = name;
      row.waits = meetsOtherRanks(name);
      ++row.calls;
      row.seconds += static_cast<double>(item.of(i)) * 1e-9;
      row.cost.operations += cost.operations;
      row.cost.bytes += cost.bytes;
      row.leastSeconds += leastSeconds(cost, limits);
    }
  std::vector<Row> sorted;
  for (auto &[name, row] : rows)
    sorted.push_back(std::move(row));
  std::sort(sorted.begin(), sorted.end(), [](const Row &a, const Row &b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.kernel < b.kernel;
  });
  return sorted;
}

/// The kernel that would save the step most time at its limit.
std::string furthest(const std::vector<Row> &rows) {
  const Row *most = nullptr;
  double saved = 0;
  for (const Row &row : rows) {
    const double share = row.shareOfLimit();
    if (share > 0 && row.seconds * (1 - share) > saved)
      most = &row, saved = row.seconds * (1 - share);
  }
  if (!most)
    return "";
  return absl::StrFormat(
      "\nfurthest from its limit: %s, at %.0f%% of the machine's %s; at it, a step takes %.1f ms less",
      most->kernel, 100 * most->shareOfLimit(), most->cost.operations > 0 ? "products" : "memory",
      saved * 1e3);
}

} // namespace

std::string profileTable(const Executable &executable, const RunTimes &times, const MachineRates &limits) {
  const std::vector<Row> rows = rowsOf(executable, times, limits);
  double total = 0;
  for (const Row &row : rows)
    total += row.seconds;
  // Products of mixed types are float32, whatever the recipe.
  const std::string wide = limits.float32Flops != limits.flops
                               ? absl::StrFormat(" (in float32 %.1f)", limits.float32Flops * 1e-9)
                               : "";
  std::string text = absl::StrFormat(
      "profile: one step, %.1f ms in kernels; limits: products %.1f GFLOP/s%s, memory %.1f GB/s"
      "\n  %-40s %8s %12s %8s %8s %8s %9s",
      total * 1e3, limits.flops * 1e-9, wide, limits.bytesPerSecond * 1e-9, "kernel", "calls", "ms", "share",
      "GFLOP/s", "GB/s", "of limit");
  for (const Row &row : rows) {
    const double seconds = std::max(row.seconds, 1e-9), share = row.shareOfLimit();
    absl::StrAppendFormat(
        &text, "\n  %-40s %8d %12.3f %7.1f%% %8s %8.1f %9s", row.kernel, row.calls, row.seconds * 1e3,
        100 * row.seconds / std::max(total, 1e-9),
        row.cost.operations > 0 ? absl::StrFormat("%.1f", row.cost.operations / seconds * 1e-9) : "",
        row.cost.bytes / seconds * 1e-9, share > 0 ? absl::StrFormat("%.0f%%", 100 * share) : "");
  }
  return text + furthest(rows);
}

} // namespace weft
