//===- RunComparison.cpp - The first place where two runs differ ----------===//
//
// Losses and dumps are paired by step.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/RunComparison.h"

#include "runtime/metrics/StepMetrics.h"
#include "runtime/support/ExitCode.h"
#include "runtime/train/RunFolder.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>

namespace weft {
namespace {

namespace fs = std::filesystem;

bool isFolder(const std::string &path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// The dumps of a run by step.
std::map<int64_t, std::string> dumpsOf(const std::string &run) {
  std::map<int64_t, std::string> dumps;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(RunFolder{run}.dumps(), error)) {
    const std::string name = entry.path().filename().string();
    absl::string_view digits = name;
    int64_t step = 0;
    if (absl::StartsWith(name, "step-") && absl::EndsWith(name, ".safetensors") &&
        absl::SimpleAtoi(digits.substr(5, digits.size() - 5 - 12), &step))
      dumps[step] = entry.path().string();
  }
  return dumps;
}

absl::StatusOr<std::optional<LossComparison>> compareLosses(const std::string &first,
                                                            const std::string &second) {
  std::error_code error;
  const std::string files[] = {RunFolder{first}.metrics(), RunFolder{second}.metrics()};
  if (!fs::exists(files[0], error) || !fs::exists(files[1], error))
    return std::optional<LossComparison>();
  std::map<int64_t, double> losses[2];
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<std::vector<StepMetrics>> records = readMetrics(files[i]);
    if (!records.ok())
      return withExitCode(records.status(), ExitCode::Data);
    for (const StepMetrics &record : *records)
      losses[i][record.step] = record.loss;
  }
  LossComparison comparison;
  for (const auto &[step, a] : losses[0]) {
    auto other = losses[1].find(step);
    if (other == losses[1].end())
      continue;
    const double b = other->second;
    ++comparison.steps;
    if (std::isfinite(a) && std::isfinite(b))
      comparison.maxDifference = std::max(comparison.maxDifference, std::abs(a - b));
    if (std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || comparison.firstDifferent)
      continue;
    comparison.firstDifferent = step;
    comparison.first = a;
    comparison.second = b;
  }
  return comparison;
}

absl::StatusOr<std::string> dumpOf(const std::string &path, std::optional<int64_t> step) {
  if (!isFolder(path))
    return path;
  const std::map<int64_t, std::string> dumps = dumpsOf(path);
  if (!step && dumps.size() == 1)
    return dumps.begin()->second;
  if (step && dumps.count(*step))
    return dumps.at(*step);
  std::string known;
  for (const auto &[number, file] : dumps)
    absl::StrAppend(&known, known.empty() ? "" : ", ", number);
  return withExitCode(
      absl::NotFoundError(absl::StrCat(
          path, step ? absl::StrCat(": step ", *step, " was not dumped") : ": which step? --step",
          known.empty() ? ". No step was: set train.dump.steps." : " (dumped: " + known + ")")),
      ExitCode::Config);
}

std::string lossText(const LossComparison &losses) {
  if (losses.steps == 0)
    return "losses: no step in both\n";
  if (!losses.firstDifferent)
    return absl::StrFormat("losses: equal in all %d steps\n", losses.steps);
  return absl::StrFormat("losses: of %d steps the first that differs is %d: %.9g and %.9g; max |a-b| %.3g\n",
                         losses.steps, *losses.firstDifferent, losses.first, losses.second,
                         losses.maxDifference);
}

std::string dumpText(const DumpComparison &dump) {
  std::string text = absl::StrCat(dump.first, "\n", dump.second, "\n");
  if (dump.firstDifferent)
    absl::StrAppendFormat(&text, "  %d of %d values differ; the first in program order is\n  %s: %s\n",
                          dump.different, dump.compared, dump.firstDifferent->name,
                          dump.firstDifferent->what);
  else
    absl::StrAppendFormat(&text, "  equal: %d values\n", dump.compared);
  if (dump.onlyInFirst + dump.onlyInSecond > 0)
    absl::StrAppendFormat(&text, "  not compared: %d only in the first, %d only in the second\n",
                          dump.onlyInFirst, dump.onlyInSecond);
  return text;
}

} // namespace

bool RunComparison::equal() const {
  return !(losses && losses->firstDifferent) &&
         std::all_of(dumps.begin(), dumps.end(),
                     [](const DumpComparison &dump) { return dump.different == 0; });
}

std::string RunComparison::text() const {
  std::string text = losses ? lossText(*losses) : "";
  for (const DumpComparison &dump : dumps)
    absl::StrAppend(&text, dumpText(dump));
  return text;
}

absl::StatusOr<RunComparison> compareRuns(const std::string &first, const std::string &second,
                                          std::optional<int64_t> step, double tolerance) {
  RunComparison comparison;
  std::vector<std::pair<std::string, std::string>> pairs;
  if (isFolder(first) && isFolder(second)) {
    absl::StatusOr<std::optional<LossComparison>> losses = compareLosses(first, second);
    if (!losses.ok())
      return losses.status();
    comparison.losses = *losses;
    const std::map<int64_t, std::string> others = dumpsOf(second);
    for (const auto &[number, file] : dumpsOf(first))
      if (others.count(number) && (!step || *step == number))
        pairs.emplace_back(file, others.at(number));
    if (!comparison.losses && pairs.empty())
      return withExitCode(
          absl::NotFoundError(
              absl::StrCat(first, " and ", second, " have neither metrics nor dumps of one step in common")),
          ExitCode::Config);
  } else {
    absl::StatusOr<std::string> a = dumpOf(first, step), b = dumpOf(second, step);
    if (!a.ok())
      return a.status();
    if (!b.ok())
      return b.status();
    pairs.emplace_back(*a, *b);
  }
  for (const auto &[a, b] : pairs) {
    absl::StatusOr<DumpComparison> dump = compareDumps(a, b, tolerance);
    if (!dump.ok())
      return dump.status();
    comparison.dumps.push_back(*std::move(dump));
  }
  return comparison;
}

} // namespace weft
