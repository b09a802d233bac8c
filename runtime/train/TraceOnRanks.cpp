//===- TraceOnRanks.cpp - One trace of all ranks --------------------------===//
//
// Why the barrier bounds the clocks: a rank leaves it after every rank has come, so between the moments at
// which two ranks leave, both are in it. A first barrier lets all arrive at nearly the same time. Texts go to
// rank 0 one after another, so that no rank holds those of all.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/TraceOnRanks.h"

#include "runtime/device/Device.h"
#include "runtime/train/StepTrace.h"
#include "runtime/train/VariableState.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json &json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

absl::Status reduce(Communicator &communicator, int64_t &value, ReduceKind kind) {
  return communicator.allReduce(std::as_writable_bytes(std::span(&value, 1)), DType::I64, kind);
}

/// The text of rank `from`, on all ranks.
absl::Status share(Communicator &communicator, std::string &text, int from) {
  uint64_t length = text.size();
  if (absl::Status status = communicator.broadcast(std::as_writable_bytes(std::span(&length, 1)), from);
      !status.ok())
    return status;
  text.resize(length);
  return communicator.broadcast(std::as_writable_bytes(std::span(text)), from);
}

std::string head(const Executable &executable, const TraceClock &clock, const TraceSubject &subject) {
  const std::string shared = "one monotonic clock for all ranks",
                    apart = "a monotonic clock in each process, all counted from a barrier before the step";
  const Json about = {{"run", subject.run},
                      {"step", subject.step},
                      {"steps", 1},
                      {"ranks", executable.mesh.ranks()},
                      {"mesh", printMesh(executable.mesh)},
                      {"clock", clock.isShared ? shared : apart},
                      {"clock_apart_us_at_most", static_cast<double>(clock.uncertainty) / 1000}};
  const Json process = {
      {"name", "process_name"},
      {"ph", "M"},
      {"pid", 1},
      {"tid", 1},
      {"args", {{"name", absl::StrCat("measured: step ", subject.step, " of ", subject.run)}}}};
  return absl::StrCat("{\"displayTimeUnit\":\"ms\",\"otherData\":", dumped(about), ",\"traceEvents\":[\n",
                      dumped(process));
}

double milliseconds(double nanoseconds) { return nanoseconds * 1e-6; }

/// The mean use of some ranks.
struct TableRow {
  std::string title;
  int64_t ranks = 0;
  double busy = 0, exchanging = 0, bubble = 0;

  void add(const RankUse &use) {
    const double weight = 1.0 / static_cast<double>(++ranks);
    busy += weight * (static_cast<double>(use.busy) - busy);
    exchanging += weight * (static_cast<double>(use.exchanging) - exchanging);
    bubble += weight * (use.bubble() - bubble);
  }
};

std::string tableOf(const Mesh &mesh, const std::vector<RankUse> &uses, const TraceSubject &subject) {
  const std::span<const uint32_t> pipeline = mesh.axesOf("pipeline");
  const bool isLong = uses.size() > static_cast<size_t>(kMostRankLines);
  std::map<int64_t, TableRow> rows;
  int64_t longest = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    const int64_t rank = static_cast<int64_t>(i), place = mesh.indexOf(rank, pipeline);
    TableRow &row = rows[isLong ? place : rank];
    row.add(uses[i]);
    row.title = !isLong            ? rankTitle(mesh, rank)
                : pipeline.empty() ? absl::StrCat("mean of ", row.ranks, " ranks")
                                   : absl::StrCat("pipeline ", place, ", mean of ", row.ranks, " ranks");
    longest = std::max(longest, uses[i].end - uses[i].start);
  }
  size_t width = 4;
  for (const auto &[place, row] : rows)
    width = std::max(width, row.title.size());
  std::string text = absl::StrFormat("trace: step %d, %.1f ms\n  %-*s %12s %14s %8s", subject.step,
                                     milliseconds(static_cast<double>(longest)), width, "rank", "busy ms",
                                     "exchanging ms", "bubble");
  for (const auto &[place, row] : rows)
    absl::StrAppendFormat(&text, "\n  %-*s %12.3f %14.3f %7.1f%%", width, row.title, milliseconds(row.busy),
                          milliseconds(row.exchanging), 100 * row.bubble);
  return text;
}

} // namespace

absl::StatusOr<TraceClock> startTraceClock(Communicator &communicator, bool isShared) {
  TraceClock clock;
  clock.isShared = isShared;
  if (absl::Status status = communicator.barrier(); !status.ok())
    return status;
  const int64_t entered = monotonicNanoseconds();
  if (absl::Status status = communicator.barrier(); !status.ok())
    return status;
  clock.origin = monotonicNanoseconds();
  clock.uncertainty = isShared ? 0 : clock.origin - entered;
  return clock;
}

absl::StatusOr<TraceReport> gatherTrace(Communicator &communicator, const Executable &executable,
                                        const RunTimes &times, const TraceClock &clock,
                                        const TraceSubject &subject) {
  TraceClock agreed = clock;
  if (absl::Status status = reduce(communicator, agreed.uncertainty, ReduceKind::Max); !status.ok())
    return status;
  if (clock.isShared)
    if (absl::Status status = reduce(communicator, agreed.origin, ReduceKind::Min); !status.ok())
      return status;
  const int rank = communicator.rank();
  const RankUse mine = useOf(executable, times);
  std::vector<RankUse> uses(static_cast<size_t>(communicator.size()));
  if (absl::Status status =
          communicator.allGather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(uses)));
      !status.ok())
    return status;
  TraceReport report;
  if (rank == 0)
    report = {head(executable, agreed, subject), tableOf(executable.mesh, uses, subject)};
  for (int from = 0; from < communicator.size(); ++from) {
    std::string text = from == rank ? traceEvents(executable, times, rank, agreed.origin) : std::string();
    if (absl::Status status = share(communicator, text, from); !status.ok())
      return status;
    if (rank == 0)
      absl::StrAppend(&report.file, ",\n", text);
  }
  if (rank == 0)
    absl::StrAppend(&report.file, "\n]}\n");
  return report;
}

} // namespace weft
