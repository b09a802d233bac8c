#include "runtime/executable/Parts.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <functional>
#include <set>

namespace weft {

const Executable &partOf(const std::vector<Executable> &parts, int64_t rank) {
  return parts[static_cast<size_t>(parts.front().mesh.pipelineRank(rank))];
}

std::vector<const Variable *> variablesOf(const std::vector<Executable> &parts) {
  std::vector<const Variable *> variables;
  for (size_t part = 0; part < parts.size(); ++part)
    for (const Variable &variable : parts[part].variables)
      if (variable.pipelineOwner == part)
        variables.push_back(&variable);
  return variables;
}

/// Ranks that run the same part.
static int64_t ranksOfEach(const std::vector<Executable> &parts) {
  return parts.front().mesh.ranks() / static_cast<int64_t>(parts.size());
}

int64_t allocatedOnAll(const std::vector<Executable> &parts) {
  int64_t bytes = 0;
  for (const Executable &part : parts)
    bytes += ranksOfEach(parts) * static_cast<int64_t>(part.memory.arenaBytes());
  return bytes;
}

size_t largestPart(const std::vector<Executable> &parts) {
  const auto largest =
      std::max_element(parts.begin(), parts.end(), [](const Executable &a, const Executable &b) {
        return a.memory.peakBytes() < b.memory.peakBytes();
      });
  return static_cast<size_t>(largest - parts.begin());
}

int64_t peakOfRanks(const std::vector<Executable> &parts, int64_t ranks) {
  std::vector<int64_t> peaks;
  for (const Executable &part : parts)
    peaks.push_back(static_cast<int64_t>(part.memory.peakBytes()));
  std::sort(peaks.begin(), peaks.end(), std::greater<>());
  int64_t bytes = 0;
  for (int64_t peak : peaks) {
    const int64_t taken = std::min(ranks, ranksOfEach(parts));
    bytes += taken * peak;
    ranks -= taken;
  }
  return bytes;
}

std::vector<int64_t> stagesOf(const Executable &part) {
  std::set<int64_t> stages;
  for (const Program &program : part.programs)
    for (const Action &action : program.actions) {
      const auto letter = std::find_if_not(action.name.begin(), action.name.end(), absl::ascii_isdigit);
      int64_t stage;
      if (letter != action.name.end() && absl::ascii_isupper(*letter) &&
          absl::SimpleAtoi(action.name.substr(0, letter - action.name.begin()), &stage))
        stages.insert(stage);
    }
  return {stages.begin(), stages.end()};
}

std::string partText(const std::vector<Executable> &parts, size_t part) {
  const std::vector<int64_t> stages = stagesOf(parts[part]);
  return absl::StrCat("pipeline rank ", part,
                      stages.empty() ? ""
                                     : absl::StrCat(stages.size() == 1 ? " (stage " : " (stages ",
                                                    absl::StrJoin(stages, ", "), ")"));
}

} // namespace weft
