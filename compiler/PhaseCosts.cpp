#include "compiler/PhaseCosts.h"

#include "absl/strings/str_format.h"

#include <algorithm>
#include <sys/resource.h>

namespace weft {
namespace {
struct ProcessUse {
  double processorSeconds;
  int64_t peakBytes;
};

ProcessUse processUse() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), int64_t{1024} * usage.ru_maxrss};
}
} // namespace

PhaseClock::PhaseClock()
    : begin(std::chrono::steady_clock::now()), processorBegin(processUse().processorSeconds) {}

void PhaseClock::finish(std::string phase, int64_t ops) {
  auto now = std::chrono::steady_clock::now();
  ProcessUse use = processUse();
  finished.push_back({std::move(phase), std::chrono::duration<double>(now - begin).count(),
                      use.processorSeconds - processorBegin, ops, use.peakBytes});
  begin = now;
  processorBegin = use.processorSeconds;
}

std::string explainCompilation(const std::vector<PhaseCost> &costs) {
  PhaseCost total{"in all"};
  for (const PhaseCost &cost : costs) {
    total.seconds += cost.seconds;
    total.processorSeconds += cost.processorSeconds;
    total.peakBytes = std::max(total.peakBytes, cost.peakBytes);
  }
  std::string text = absl::StrFormat("compilation: %-16s %10s %10s %10s %12s\n", "phase", "seconds",
                                     "processor", "ops", "peak MiB");
  auto add = [&](const PhaseCost &cost) {
    absl::StrAppendFormat(&text, "  %-27s %10.3f %10.3f %10s %12.1f\n", cost.phase, cost.seconds,
                          cost.processorSeconds, cost.ops > 0 ? absl::StrFormat("%d", cost.ops) : "",
                          static_cast<double>(cost.peakBytes) / (1 << 20));
  };
  for (const PhaseCost &cost : costs)
    add(cost);
  add(total);
  return text;
}

} // namespace weft
