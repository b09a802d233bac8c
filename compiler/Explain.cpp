//===- Explain.cpp - What --explain prints, and what would fit ------------------===//
#include "compiler/Compile.h"

#include "runtime/executable/Communication.h"
#include "runtime/executable/PersistentBytes.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace weft {
namespace {
std::string mebibytes(int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

constexpr const char *kCategories[] = {"parameters", "optimizer",   "gradients",  "prepared",
                                       "cache",      "activations", "workspaces", "snapshot",
                                       "inputs",     "constants",   "other"};

/// One way to need less memory: what to write in the config, and the config with it.
struct Change {
  std::string text;
  Config config;
};

/// What can be changed without another model: each alone, where it applies.
std::vector<Change> possibleChanges(const Config &config) {
  std::vector<Change> changes;
  auto add = [&](std::string text, const std::function<void(Config &)> &apply) {
    Change change{std::move(text), config};
    change.config.launch.fusion = FusionKind::Blocks; // only the bytes are looked at
    apply(change.config);
    changes.push_back(std::move(change));
  };
  const ParallelConfig &parallel = config.parallel;
  const int64_t samples = config.train.globalBatch / parallel.dataRanks();
  int64_t smaller = config.train.microBatch - 1;
  while (smaller > 1 && (smaller > config.train.microBatch / 2 || samples % smaller != 0))
    --smaller;
  if (smaller >= 1)
    add(absl::StrCat("train.micro_batch: ", smaller), [&](Config &c) { c.train.microBatch = smaller; });
  if (smaller > 1)
    add("train.micro_batch: 1", [](Config &c) { c.train.microBatch = 1; });
  if (config.precision.recipe == PrecisionRecipe::Fp32)
    add("precision.recipe: bf16", [](Config &c) { c.precision.recipe = PrecisionRecipe::Bf16; });
  if (config.train.reduction == ReductionKind::Canonical)
    add("train.reduction: fast", [](Config &c) { c.train.reduction = ReductionKind::Fast; });
  if (config.optimizer.kind == OptimizerKind::Adamw)
    add("optimizer.kind: lion", [](Config &c) { c.optimizer.kind = OptimizerKind::Lion; });
  if (config.checkpoint.takesSnapshots())
    add("checkpoint.asynchronous: false", [](Config &c) { c.checkpoint.asynchronous = false; });
  for (int64_t level = parallel.zero + 1; parallel.dataShard * parallel.context.size > 1 && level <= 3;
       ++level)
    add(absl::StrCat("parallel.zero: ", level), [&](Config &c) { c.parallel.zero = level; });
  for (const char *schedule : {"1f1b", "v_half", "v_min"}) // which hold few microbatches in flight
    if (parallel.pipeline.size > 1 && parallel.pipeline.schedule != schedule)
      add(absl::StrCat("parallel.pipeline.schedule: ", schedule),
          [&](Config &c) { c.parallel.pipeline.schedule = schedule; });
  if (parallel.tensor > 1 && !parallel.sequence &&
      config.data.sequenceLength % (parallel.sequenceUnit() * parallel.tensor) == 0)
    add("parallel.sequence: true", [](Config &c) { c.parallel.sequence = true; });
  if (config.data.sequenceLength >= 2 && config.data.sequenceLength / 2 % parallel.sequenceUnit() == 0)
    add(absl::StrCat("data.sequence_length: ", config.data.sequenceLength / 2),
        [](Config &c) { c.data.sequenceLength /= 2; });
  return changes;
}
} // namespace

/// A row for each pipeline rank, a column for each category that any of them has.
static std::string tableOfParts(const Compiled &compiled) {
  std::vector<std::string> categories;
  for (const char *category : kCategories)
    if (std::any_of(compiled.memory.begin(), compiled.memory.end(),
                    [&](const MemoryReport &report) { return report.categoryBytes(category) > 0; }))
      categories.push_back(category);
  std::string text = absl::StrFormat("  %-32s", "MiB");
  for (const std::string &category : categories)
    absl::StrAppendFormat(&text, " %11s", category);
  absl::StrAppendFormat(&text, " %11s %16s\n", "in all", "bytes");
  for (size_t part = 0; part < compiled.parts.size(); ++part) {
    const MemoryReport &report = compiled.memory[part];
    const auto column = [&](int64_t bytes) {
      absl::StrAppendFormat(&text, " %11.1f", static_cast<double>(bytes) / (1 << 20));
    };
    absl::StrAppendFormat(&text, "  %-32s", partText(compiled.parts, part));
    for (const std::string &category : categories)
      column(report.categoryBytes(category));
    column(report.peakBytes);
    absl::StrAppendFormat(&text, " %16d\n", report.peakBytes);
  }
  return text;
}

/// What one part needs, by category, and what is live where it needs most.
static std::string explainReport(const MemoryReport &report) {
  std::string text;
  for (const char *category : kCategories)
    if (int64_t bytes = report.categoryBytes(category))
      absl::StrAppendFormat(&text, "  %-12s %14d bytes  %10s  %5.1f %%\n", category, bytes, mebibytes(bytes),
                            100.0 * static_cast<double>(bytes) / static_cast<double>(report.peakBytes));
  if (report.levelBytes > 0)
    absl::StrAppendFormat(
        &text, "  canonical: %d bytes of the gradients are subtrees that wait for their neighbors\n",
        report.levelBytes);
  if (report.cacheBytes > 0)
    absl::StrAppendFormat(&text,
                          "  generation: %d bytes of keys and values, in the memory of a step's values\n",
                          report.cacheBytes);
  absl::StrAppendFormat(
      &text, "lower bound: %s (%d bytes), less than which no offsets need; the plan is %.3f of it\n",
      mebibytes(report.lowerBound), report.lowerBound,
      static_cast<double>(report.peakBytes) / static_cast<double>(report.lowerBound));
  absl::StrAppendFormat(&text, "values of a step at their peak, in %s:\n", report.peakAction);
  size_t shown = std::min<size_t>(report.peakHolders.size(), 20);
  for (size_t index = 0; index < shown; ++index)
    absl::StrAppendFormat(&text, "  %14d bytes  %s\n", report.peakHolders[index].second,
                          report.peakHolders[index].first);
  if (report.peakHolders.size() > shown)
    absl::StrAppendFormat(&text, "  and %d smaller ones\n", report.peakHolders.size() - shown);
  if (report.inFlightBytes > 0) {
    absl::StrAppendFormat(&text, "in flight, where most is: %d bytes", report.inFlightLowerBound);
    if (report.inFlightBytes > report.inFlightLowerBound)
      absl::StrAppendFormat(&text, "; the places found for all take %d", report.inFlightBytes);
    text += "\n";
    for (const auto &[what, bytes] : report.inFlightHolders)
      absl::StrAppendFormat(&text, "  %14d bytes  %s\n", bytes, what);
  }
  return text;
}

std::string explainMemory(const Compiled &compiled) {
  const std::vector<Executable> &parts = compiled.parts;
  const size_t largest = largestPart(parts);
  const MemoryReport &report = compiled.memory[largest];
  std::string text;
  if (parts.size() == 1)
    absl::StrAppendFormat(&text, "memory: %s in all, known before the job starts (%d bytes)\n",
                          mebibytes(report.peakBytes), report.peakBytes);
  else
    absl::StrAppendFormat(&text,
                          "memory: %s per rank on %s, which needs most, known before the job starts "
                          "(%d bytes)\n%s%s:\n",
                          mebibytes(report.peakBytes), partText(parts, largest), report.peakBytes,
                          tableOfParts(compiled), partText(parts, largest));
  absl::StrAppend(&text, explainReport(report));
  if (parts.front().mesh.ranks() == 1)
    return text;
  const PersistentBytes bytes = persistentBytesOf(parts);
  absl::StrAppend(&text, "persistent: ",
                  parts.size() == 1 ? absl::StrCat(bytes.onRank(), " bytes on each of ", bytes.ranks,
                                                   " ranks, which all together hold ")
                                    : absl::StrCat("all ", bytes.ranks, " ranks together hold "));
  absl::StrAppendFormat(
      &text, "%d = %d of the whole + %d of further copies + %d of uneven parts + %d of alignment\n",
      bytes.onAll(), bytes.whole, bytes.copies, bytes.uneven, bytes.alignment);
  return text;
}

std::string explainCommunication(const Compiled &compiled) {
  const std::vector<Program> &programs = compiled.parts.front().programs;
  for (size_t program = 0; program < programs.size(); ++program)
    if (programs[program].name == "step")
      return explainCommunication(compiled.parts, program);
  return "communication: there is no program step\n";
}

absl::Status checkMemoryLimit(const Config &config, const Compiled &compiled, const MemoryLimits &limits) {
  const std::optional<MemoryOverrun> overrun = overrunOf(compiled.parts, limits);
  if (!overrun)
    return absl::OkStatus();
  const MemoryReport &report = compiled.memory[overrun->part];
  std::string text = describeOverrun(compiled.parts, *overrun, limits) + "\n   ";
  for (const char *category : kCategories)
    if (int64_t bytes = report.categoryBytes(category))
      absl::StrAppendFormat(&text, " %s %s  ", category, mebibytes(bytes));
  struct Saving {
    std::string text;
    int64_t bytes;
    bool fits;
  };
  std::vector<Saving> savings;
  for (const Change &change : possibleChanges(config)) {
    absl::StatusOr<Compiled> other = compileJob(change.config, "", {compiled.parts.front().target, "", ""});
    if (!other.ok())
      continue;
    if (int64_t bytes = peakOfRanks(other->parts, 1); bytes < report.peakBytes)
      savings.push_back({change.text, bytes, !overrunOf(other->parts, limits)});
  }
  std::stable_sort(savings.begin(), savings.end(),
                   [](const Saving &a, const Saving &b) { return a.bytes < b.bytes; });
  if (savings.size() > 3)
    savings.resize(3);
  absl::StrAppend(&text, "\n  What saves most:");
  for (const Saving &saving : savings)
    absl::StrAppendFormat(&text, "\n    %s -> %s (%d bytes)%s", saving.text, mebibytes(saving.bytes),
                          saving.bytes, saving.fits ? ", fits" : "");
  if (overrun->isShared && limits.ranks > 1)
    absl::StrAppend(&text,
                    "\n  If the ranks run elsewhere, launch.memory_per_rank says what each has there.");
  return withExitCode(absl::ResourceExhaustedError(text), ExitCode::OutOfMemory);
}

} // namespace weft
