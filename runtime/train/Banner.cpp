//===- Banner.cpp - What a run says before its first step -----------------===//
//
// Memory is summed by the categories of the plan's rows, in the order in which they first occur.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/Banner.h"

#include "runtime/config/ModelFamilies.h"
#include "runtime/config/StageLayout.h"
#include "runtime/metrics/HumanFormat.h"
#include "runtime/train/VariableState.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace weft {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

std::string countText(int64_t count) {
  if (count >= 1'000'000'000)
    return absl::StrFormat("%.1f B", static_cast<double>(count) * 1e-9);
  if (count >= 100'000)
    return absl::StrFormat("%.1f M", static_cast<double>(count) * 1e-6);
  return formatCount(count);
}

const char *recipeText(PrecisionRecipe recipe) {
  switch (recipe) {
  case PrecisionRecipe::Fp32:
    return "float32";
  case PrecisionRecipe::Bf16:
    return "bfloat16";
  case PrecisionRecipe::Fp16:
    return "float16";
  }
  return "";
}

const char *methodText(ContextMethod method) {
  switch (method) {
  case ContextMethod::Gather:
    return "gather";
  case ContextMethod::AllToAll:
    return "all-to-all";
  case ContextMethod::Ring:
    return "ring";
  }
  return "";
}

/// (category, bytes) of the plan's rows.
std::vector<std::pair<std::string, uint64_t>> categories(const MemoryPlan &plan) {
  std::vector<std::pair<std::string, uint64_t>> sums;
  for (const MemoryRow &row : plan.rows) {
    auto found =
        std::find_if(sums.begin(), sums.end(), [&](const auto &sum) { return sum.first == row.category; });
    if (found == sums.end())
      found = sums.insert(sums.end(), {row.category, 0});
    found->second += row.bytes;
  }
  return sums;
}

} // namespace

/// "pipeline 4 (zb_v, 2 stages a rank)"; a schedule of the user's own by its file's name.
static std::string describePipeline(const PipelineConfig &pipeline) {
  const std::string schedule = pipeline.schedule.substr(pipeline.schedule.rfind('/') + 1);
  const int64_t stages = stagesOfRank(pipeline).value_or(1);
  return absl::StrCat("pipeline ", pipeline.size, " (", schedule,
                      stages > 1 ? absl::StrCat(", ", stages, " stages a rank") : "", ")");
}

std::string describeRanks(const ParallelConfig &parallel) {
  const int64_t ranks = parallel.ranks();
  if (ranks == 1)
    return "1 rank";
  std::vector<std::string> factors;
  if (parallel.pipeline.size > 1)
    factors.push_back(describePipeline(parallel.pipeline));
  if (parallel.dataReplicate > 1 && parallel.dataShard > 1)
    factors.insert(factors.end(), {absl::StrCat("data_replicate ", parallel.dataReplicate),
                                   absl::StrCat("data_shard ", parallel.dataShard)});
  else if (parallel.dataRanks() > 1)
    factors.push_back(absl::StrCat("data ", parallel.dataRanks()));
  if (parallel.tensor > 1)
    factors.push_back(
        absl::StrCat("tensor ", parallel.tensor, parallel.sequence ? " (sequence parallel)" : ""));
  if (parallel.context.size > 1)
    factors.push_back(
        absl::StrCat("context ", parallel.context.size, " (", methodText(parallel.context.method), ")"));
  std::string text = absl::StrCat(ranks, " ranks: ", absl::StrJoin(factors, " x "));
  if (parallel.dataShard > 1 || parallel.context.size > 1)
    absl::StrAppend(&text, ", zero ", parallel.zero);
  return text;
}

std::string bannerLine(const Config &config, const std::vector<Executable> &parts, int threads,
                       bool areSeparate) {
  const Target &target = parts.front().target;
  return absl::StrFormat(
      "weft %s   %s %s parameters   %s   %s   %s, %d thread%s%s", WEFT_VERSION,
      config.model.program.empty() ? traitsOf(config.model.family).name : config.model.program,
      countText(parameterCount(parts)), describeRanks(config.parallel), recipeText(config.precision.recipe),
      target.instructionSet, threads, threads == 1 ? "" : "s", areSeparate ? " each" : "");
}

std::string peakText(const std::vector<Executable> &parts) {
  const size_t largest = largestPart(parts);
  const MemoryPlan &plan = parts[largest].memory;
  std::string text =
      absl::StrCat("peak ", formatBytes(static_cast<int64_t>(plan.peakBytes())),
                   parts.front().mesh.ranks() == 1 ? "" : " per rank",
                   parts.size() == 1 ? "" : absl::StrCat(" on ", partText(parts, largest)), " (");
  const char *comma = "";
  for (const auto &[category, bytes] : categories(plan)) {
    absl::StrAppendFormat(&text, "%s%s %.1f", comma, category, static_cast<double>(bytes) / kMebibyte);
    comma = ", ";
  }
  return text + ")";
}

std::string programLine(const std::string &peak, int64_t planned, int64_t allocated, double compileSeconds,
                        double peakFlops) {
  std::string text;
  if (compileSeconds > 0)
    absl::StrAppendFormat(&text, "compiled in %.1f s   ", compileSeconds);
  absl::StrAppendFormat(&text, "%s, allocated %s of %s bytes planned", peak, formatCount(allocated),
                        formatCount(planned));
  if (peakFlops > 0)
    absl::StrAppendFormat(&text, "   machine %.1f GFLOP/s", peakFlops * 1e-9);
  return text;
}

} // namespace weft
