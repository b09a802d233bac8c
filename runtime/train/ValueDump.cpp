//===- ValueDump.cpp - The values of a step, by name, in a file -----------===//
//
// Names and sizes are known from the executable, so the header is written first and every value has its place
// before the step runs.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/ValueDump.h"

#include "runtime/checkpoint/SafetensorsHeader.h"
#include "runtime/support/ExitCode.h"
#include "runtime/train/VariableState.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

namespace weft {
namespace {

using checkpoint::SafetensorsEntry;
using checkpoint::SafetensorsHeader;

/// A file under a temporary name, which takes its own name when it is whole.
class DumpFile {
public:
  explicit DumpFile(std::string path)
      : path(std::move(path)), temporary(this->path + ".tmp"),
        descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor < 0)
      fail();
  }
  DumpFile(const DumpFile &) = delete;
  DumpFile &operator=(const DumpFile &) = delete;
  ~DumpFile() {
    if (descriptor >= 0)
      ::close(descriptor);
    if (!named)
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

  absl::Status finish() {
    if (error.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
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
  absl::Status error;
  int descriptor;
  bool named = false;
};

bool matches(const std::string &name, const std::vector<std::string> &patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string &pattern) {
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

/// The matching values in a header, and where in the file each of them goes.
struct Layout {
  SafetensorsHeader header;
  int64_t values = 0;
  /// By command, then run of it, then result.
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, int64_t> places;
};

absl::StatusOr<Layout> layOut(const std::vector<NamedValue> &all, const std::vector<std::string> &patterns,
                              const Mesh &mesh, const std::string &file) {
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
  if (mesh.ranks() > 1)
    metadata[kDumpRankKey] = absl::StrCat("rank 0 of ", printMesh(mesh));
  absl::StatusOr<SafetensorsHeader> header =
      checkpoint::layOutSafetensors(std::move(entries), std::move(metadata), file);
  if (!header.ok())
    return header.status();
  Layout layout{*std::move(header), static_cast<int64_t>(order.size()), {}};
  for (const SafetensorsEntry &entry : layout.header.entries) {
    const NamedValue &value = *byName[entry.name];
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

std::vector<NamedValue> namedValues(const Executable &executable, ProgramHandle program) {
  std::vector<NamedValue> values;
  absl::flat_hash_map<std::string, int64_t> seen;
  const Program &source = executable.programs[program.index];
  std::vector<uint32_t> runs(source.actions.size());
  for (const ScheduleItem &item : source.schedule) {
    const uint32_t run = runs[item.action]++;
    const Action &action = source.actions[item.action];
    for (uint32_t i = 0; i < action.commandCount; ++i) {
      const Command &command = source.commands[action.firstCommand + i];
      if (command.kind != CommandKind::Launch)
        continue;
      const KernelCall &call = executable.kernels[command.kernel].call;
      std::string name =
          absl::StrCat(placeOf(executable, program, item.action, action.firstCommand + i), "/", call.name);
      if (item.microbatch != kNone)
        absl::StrAppend(&name, "/microbatch.", item.microbatch);
      if (int64_t occurrence = ++seen[name]; occurrence > 1)
        absl::StrAppend(&name, "#", occurrence);
      for (uint32_t result = 0; result < command.resultCount; ++result)
        values.push_back({result == 0 ? name : absl::StrCat(name, ".", result), call.results[result],
                          action.firstCommand + i, run, result});
    }
  }
  return values;
}

absl::StatusOr<int64_t> dumpStep(Executor &executor, StepProgram &step,
                                 const std::vector<std::string> &patterns, const std::string &file,
                                 const CommandObserver &also) {
  absl::StatusOr<Layout> layout =
      layOut(namedValues(executor.executable(), step.handle()), patterns, executor.executable().mesh, file);
  if (!layout.ok())
    return layout.status();
  DumpFile output(file);
  const std::string head = checkpoint::formatSafetensorsHeader(layout->header);
  output.write(head.data(), head.size(), 0);
  absl::flat_hash_map<uint32_t, uint32_t> runs;
  executor.setObserver([&](const CommandRecord &record) {
    const uint32_t run = runs[record.command]++;
    for (uint32_t result = 0; record.call && result < record.results.size(); ++result) {
      auto place = layout->places.find({record.command, run, result});
      if (place != layout->places.end())
        output.write(record.results[result], static_cast<size_t>(record.call->results[result].bytes()),
                     place->second);
    }
    if (also)
      also(record);
  });
  absl::Status status = step.run();
  executor.setObserver(nullptr);
  if (!status.ok())
    return status;
  if (absl::Status written = output.finish(); !written.ok())
    return written;
  return layout->values;
}

} // namespace weft
