//===- ValueDump.cpp - The values of a step, by name, in a file -----------===//
//
// Names and sizes are known from the executable, so the header is written first and every value has its place
// before the step runs.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/ValueDump.h"

#include "runtime/checkpoint/SafetensorsHeader.h"
#include "runtime/executable/LogicalTime.h"
#include "runtime/support/ExitCode.h"
#include "runtime/train/RankAgreement.h"
#include "runtime/train/VariableState.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

namespace weft {
namespace {

using checkpoint::SafetensorsEntry;
using checkpoint::SafetensorsHeader;

/// A file under a temporary name, which takes its own name when it is whole. Several ranks may write to it:
/// the one that created it names it, or removes it.
class DumpFile {
public:
  DumpFile(std::string path, bool creates)
      : path(std::move(path)), temporary(this->path + ".tmp"), creates(creates),
        descriptor(
            ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC | (creates ? O_CREAT | O_TRUNC : 0), 0666)) {
    if (descriptor < 0)
      fail();
  }
  DumpFile(const DumpFile &) = delete;
  DumpFile &operator=(const DumpFile &) = delete;
  ~DumpFile() {
    if (descriptor >= 0)
      ::close(descriptor);
    if (creates && !named)
      ::unlink(temporary.c_str());
  }

  void write(const void *data, size_t bytes, int64_t offset) {
    const char *from = static_cast<const char *>(data);
    while (bytes > 0 && error.ok()) {
      const ssize_t written = ::pwrite(descriptor, from, bytes, offset);
      if (written <= 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return fail();
      from += written;
      offset += written;
      bytes -= static_cast<size_t>(written);
    }
  }

  const absl::Status &status() const { return error; }

  /// When all have written.
  absl::Status finish() {
    if (error.ok() && creates && ::rename(temporary.c_str(), path.c_str()) != 0)
      fail();
    named = error.ok();
    return error;
  }

private:
  void fail() {
    error =
        withExitCode(absl::DataLossError(absl::StrCat(path, ": cannot be written: ", std::strerror(errno))),
                     ExitCode::Checkpoint);
  }

  std::string path;
  std::string temporary;
  bool creates;
  absl::Status error;
  int descriptor;
  bool named = false;
};

bool matches(const std::string &name, const std::vector<std::string> &patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string &pattern) {
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

/// The matching values in a header, and where in the file each of them goes that `part` computes.
struct Layout {
  SafetensorsHeader header;
  int64_t values = 0;
  /// By command, then run of it, then result.
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, int64_t> places;
};

/// The axes along which ranks run one program.
Mesh withoutPipeline(const Mesh &mesh) {
  const std::span<const uint32_t> pipeline = mesh.axesOf(kPipelineRole);
  Mesh rest;
  for (uint32_t axis = 0; axis < mesh.axes.size(); ++axis)
    if (std::find(pipeline.begin(), pipeline.end(), axis) == pipeline.end())
      rest.axes.push_back(mesh.axes[axis]);
  return rest;
}

absl::StatusOr<Layout> layOut(const DumpRequest &request, const Mesh &mesh, uint32_t part) {
  const std::vector<NamedValue> &all = request.values;
  const std::vector<std::string> &patterns = request.patterns;
  std::vector<SafetensorsEntry> entries;
  std::vector<std::string> order;
  absl::flat_hash_map<std::string, const NamedValue *> byName;
  for (const NamedValue &value : all) {
    if (!matches(value.name, patterns))
      continue;
    entries.push_back({value.name, checkpoint::toSafetensors(value.type.dtype), value.type.shape});
    order.push_back(value.name);
    byName[value.name] = &value;
  }
  if (entries.empty())
    return withExitCode(
        absl::NotFoundError(absl::StrCat(
            "train.dump.match: no value is called ", absl::StrJoin(patterns, " or "),
            "; the first names are ",
            absl::StrJoin(all.begin(), all.begin() + std::min<size_t>(all.size(), 3), ", ",
                          [](std::string *out, const NamedValue &value) { *out += value.name; }))),
        ExitCode::Config);
  std::map<std::string, std::string> metadata = {{kDumpOrderKey, absl::StrJoin(order, "\n")}};
  if (const Mesh rest = withoutPipeline(mesh); rest.ranks() > 1)
    metadata[kDumpRankKey] = absl::StrCat("rank 0 of ", printMesh(rest));
  absl::StatusOr<SafetensorsHeader> header =
      checkpoint::layOutSafetensors(std::move(entries), std::move(metadata), request.file);
  if (!header.ok())
    return header.status();
  Layout layout{*std::move(header), static_cast<int64_t>(order.size()), {}};
  for (const SafetensorsEntry &entry : layout.header.entries) {
    const NamedValue &value = *byName[entry.name];
    if (value.part == part)
      layout.places[{value.command, value.run, value.result}] = entry.begin;
  }
  return layout;
}

} // namespace

std::string placeOf(const Executable &executable, ProgramHandle program, uint32_t action, uint32_t command) {
  const Program &source = executable.programs[program.index];
  const std::string &location = executable.locations[source.commands[command].location];
  return location.empty() ? source.actions[action].name : location;
}

std::vector<NamedValue> namedValues(const std::vector<Executable> &parts, ProgramHandle program) {
  struct Run {
    int64_t time;
    uint32_t part, item, run; ///< `run`: how often the item's action ran before
  };
  const std::vector<std::vector<int64_t>> times = startTimesOf(parts, program.index);
  std::vector<Run> order;
  for (uint32_t part = 0; part < parts.size(); ++part) {
    const Program &source = parts[part].programs[program.index];
    std::vector<uint32_t> runs(source.actions.size());
    for (uint32_t item = 0; item < source.schedule.size(); ++item)
      order.push_back({times[part][item], part, item, runs[source.schedule[item].action]++});
  }
  std::sort(order.begin(), order.end(), [](const Run &a, const Run &b) {
    return std::tie(a.time, a.part, a.item) < std::tie(b.time, b.part, b.item);
  });
  std::vector<NamedValue> values;
  absl::flat_hash_map<std::pair<uint32_t, std::string>, int64_t> seen; ///< of a part
  absl::flat_hash_map<std::string, uint32_t> firstPart;
  for (const Run &run : order) {
    const Executable &part = parts[run.part];
    const Program &source = part.programs[program.index];
    const ScheduleItem &item = source.schedule[run.item];
    const Action &action = source.actions[item.action];
    for (uint32_t i = 0; i < action.commandCount; ++i) {
      const Command &command = source.commands[action.firstCommand + i];
      if (command.kind != CommandKind::Launch || !hasItsResults(part.kernels[command.kernel].call))
        continue;
      const KernelCall &call = part.kernels[command.kernel].call;
      std::string name =
          absl::StrCat(placeOf(part, program, item.action, action.firstCommand + i), "/", call.name);
      if (item.microbatch != kNone)
        absl::StrAppend(&name, "/microbatch.", item.microbatch);
      if (int64_t occurrence = ++seen[{run.part, name}]; occurrence > 1)
        absl::StrAppend(&name, "#", occurrence);
      // Of what no layer asked for, every part has its own.
      const bool isOwn = parts.size() > 1 && part.locations[command.location].empty();
      if (uint32_t first = firstPart.try_emplace(name, run.part).first->second; isOwn || first != run.part)
        absl::StrAppend(&name, "@", run.part);
      for (uint32_t result = 0; result < command.resultCount; ++result)
        values.push_back({result == 0 ? name : absl::StrCat(name, ".", result), call.results[result],
                          run.part, action.firstCommand + i, run.run, result});
    }
  }
  return values;
}

/// Runs the step and writes what this rank's part gives.
static absl::Status writeRun(Executor &executor, StepProgram &step, const Layout &layout, DumpFile *output,
                             const CommandObserver &also) {
  absl::flat_hash_map<uint32_t, uint32_t> runs;
  executor.setObserver([&](const CommandRecord &record) {
    const uint32_t run = runs[record.command]++;
    for (uint32_t result = 0; output && record.call && result < record.results.size(); ++result) {
      auto place = layout.places.find({record.command, run, result});
      if (place != layout.places.end())
        output->write(record.results[result], static_cast<size_t>(record.call->results[result].bytes()),
                      place->second);
    }
    if (also)
      also(record);
  });
  absl::Status status = step.run();
  executor.setObserver(nullptr);
  return status;
}

absl::StatusOr<int64_t> dumpStep(Executor &executor, StepProgram &step, const DumpRequest &request,
                                 Communicator &communicator, const CommandObserver &also) {
  const Mesh &mesh = executor.executable().mesh;
  const int64_t rank = communicator.rank(), part = mesh.pipelineRank(rank);
  const bool writes = ownsPart(mesh, rank, {}, part); // the first of those that run this part
  absl::StatusOr<Layout> layout =
      writes ? layOut(request, mesh, static_cast<uint32_t>(part)) : absl::StatusOr<Layout>(Layout());
  std::optional<DumpFile> output;
  if (rank == 0 && layout.ok()) {
    output.emplace(request.file, true);
    const std::string head = checkpoint::formatSafetensorsHeader(layout->header);
    output->write(head.data(), head.size(), 0);
  }
  if (absl::Status status = agreeOn(communicator, output ? output->status() : layout.status()); !status.ok())
    return status;
  if (writes && rank != 0)
    output.emplace(request.file, false);
  if (absl::Status status = writeRun(executor, step, *layout, output ? &*output : nullptr, also);
      !status.ok())
    return status;
  if (absl::Status status = agreeOn(communicator, output ? output->status() : absl::OkStatus()); !status.ok())
    return status;
  if (absl::Status written = output ? output->finish() : absl::OkStatus(); !written.ok())
    return written;
  return layout->values;
}

} // namespace weft
