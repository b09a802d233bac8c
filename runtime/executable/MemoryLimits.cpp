#include "runtime/executable/MemoryLimits.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft {

std::optional<MemoryOverrun> overrunOf(const std::vector<Executable> &parts, const MemoryLimits &limits) {
  const size_t largest = largestPart(parts);
  std::optional<MemoryOverrun> ofRank, ofAll;
  if (limits.perRank)
    if (int64_t needed = peakOfRanks(parts, 1); needed > *limits.perRank)
      ofRank = {false, needed, *limits.perRank, largest};
  if (limits.shared)
    if (int64_t needed = peakOfRanks(parts, limits.ranks); needed > *limits.shared)
      ofAll = {true, needed, *limits.shared, largest};
  return ofRank && (!ofAll || *limits.perRank <= limits.share()) ? ofRank : ofAll;
}

static std::string mebibytes(int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string describeOverrun(const std::vector<Executable> &parts, const MemoryOverrun &overrun,
                            const MemoryLimits &limits) {
  const char *key = overrun.isShared ? "launch.memory_limit" : "launch.memory_per_rank";
  const std::string over =
      overrun.isShared && limits.ranks > 1 ? absl::StrCat(" over ", limits.ranks, " ranks") : "";
  const int64_t peak = peakOfRanks(parts, 1);
  if (parts.size() == 1)
    return absl::StrFormat("memory: this plan needs %s%s (%d bytes), the limit is %s (%s%s).",
                           mebibytes(peak), parts.front().mesh.ranks() == 1 ? "" : " per rank", peak,
                           mebibytes(overrun.isShared ? limits.share() : overrun.limit), key, over);
  if (!overrun.isShared)
    return absl::StrFormat("memory: %s needs %s per rank (%d bytes), the limit is %s (%s).",
                           partText(parts, overrun.part), mebibytes(peak), peak, mebibytes(overrun.limit),
                           key);
  return absl::StrFormat(
      "memory: this plan needs %s on %d ranks (%d bytes), the limit is %s (%s%s); %s needs "
      "most, %s per rank.",
      mebibytes(overrun.needed), limits.ranks, overrun.needed, mebibytes(overrun.limit), key, over,
      partText(parts, overrun.part), mebibytes(peak));
}

} // namespace weft
