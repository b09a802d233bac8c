#include "runtime/exec/Executor.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace weft {
namespace {

/// The entry of that name, or NotFound: `absent` ("no program"), the name, and the names that there are.
template <typename Entry>
absl::StatusOr<uint32_t> find(const std::vector<Entry> &entries, std::string_view name,
                              const std::string &absent) {
  for (uint32_t i = 0; i < entries.size(); ++i)
    if (entries[i].name == name)
      return i;
  std::string known =
      absl::StrJoin(entries, ", ", [](std::string *out, const Entry &entry) { *out += entry.name; });
  return absl::NotFoundError(
      absl::StrCat(absent, " '", std::string(name), "'. There are: ", known.empty() ? "none" : known));
}

} // namespace

std::byte *Executor::address(const Reference &reference, uint32_t slot) const {
  return arena->data() + starts[reference.base] + loaded.memory.bases[reference.base].slotOffset(slot) +
         reference.offset;
}

HostTensor Executor::view(const TensorType &type, const Reference &reference, uint32_t slot) const {
  return {&type, {address(reference, slot), static_cast<size_t>(type.bytes())}};
}

absl::StatusOr<ProgramHandle> Executor::program(std::string_view name) const {
  absl::StatusOr<uint32_t> index = find(loaded.programs, name, "no program");
  if (!index.ok())
    return index.status();
  return ProgramHandle{*index};
}

absl::Status Executor::run(std::string_view name) {
  absl::StatusOr<ProgramHandle> handle = program(name);
  return handle.ok() ? run(*handle) : handle.status();
}

absl::Status Executor::run(ProgramHandle program, RunTimes *times) {
  const Program &source = loaded.programs[program.index];
  if (times != nullptr && &times->program() != &source)
    return absl::InvalidArgumentError(
        absl::StrCat("program '", source.name, "': the times are made for another, '", times->program().name,
                     "'. Make them for the program that runs"));
  int64_t *stamp = times == nullptr ? nullptr : times->room().data();
  const PreparedProgram &prepared = programs[program.index];
  bool mayWrite = beforeWrites == nullptr;
  for (const ScheduleItem &item : source.schedule) {
    if (!rank->status().ok())
      break; // what is queued already runs to its end, fast: no collective waits any more
    const Action &action = source.actions[item.action];
    if (stamp != nullptr)
      stream->stamp(*stamp++);
    for (uint32_t i = 0; i < action.commandCount; ++i) {
      uint32_t command = action.firstCommand + i;
      if (!mayWrite && prepared.commands[command].writesVariables) {
        beforeWrites();
        mayWrite = true;
      }
      runCommand(prepared, command, item.microbatch == kNone ? 0 : item.microbatch);
      if (stamp != nullptr)
        stream->stamp(*stamp++);
      if (observer == nullptr)
        continue;
      if (absl::Status status = stream->synchronize(); !status.ok())
        return status;
      observe(program, item, command);
    }
  }
  if (absl::Status status = stream->synchronize(); !status.ok())
    return status;
  return rank->status();
}

void Executor::runCommand(const PreparedProgram &prepared, uint32_t command, uint32_t microbatch) {
  const PreparedCommand &now = prepared.commands[command];
  uint32_t stride = now.operandCount + now.resultCount + 1;
  void *const *pointers =
      prepared.pointers.data() + now.firstPointer + uint64_t{microbatch % now.period} * stride;
  if (now.kernel == nullptr) {
    stream->copy(pointers[1], pointers[0], now.copyBytes);
    return;
  }
  KernelArguments arguments;
  arguments.operands = {pointers, now.operandCount};
  arguments.results = {pointers + now.operandCount, now.resultCount};
  arguments.workspace = pointers[stride - 1];
  stream->launch(*now.kernel, arguments);
}

void Executor::observe(ProgramHandle program, const ScheduleItem &item, uint32_t command) const {
  const Command &source = loaded.programs[program.index].commands[command];
  const PreparedProgram &prepared = programs[program.index];
  const PreparedCommand &now = prepared.commands[command];
  uint32_t stride = now.operandCount + now.resultCount + 1;
  uint32_t slot = item.microbatch == kNone ? 0 : item.microbatch % now.period;
  void *const *pointers = prepared.pointers.data() + now.firstPointer + uint64_t{slot} * stride;
  CommandRecord record;
  record.program = program;
  record.action = item.action;
  record.microbatch = item.microbatch;
  record.command = command;
  record.location = loaded.locations[source.location];
  record.call = source.kind == CommandKind::Launch ? &loaded.kernels[source.kernel].call : nullptr;
  record.copyBytes = source.copyBytes;
  record.operands = {pointers, now.operandCount};
  record.results = {pointers + now.operandCount, now.resultCount};
  observer(record);
}

absl::StatusOr<HostTensor> Executor::input(ProgramHandle program, std::string_view name,
                                           uint32_t microbatch) const {
  const Program &source = loaded.programs[program.index];
  absl::StatusOr<uint32_t> index =
      find(source.inputs, name, absl::StrCat("program '", source.name, "' has no input"));
  if (!index.ok())
    return index.status();
  const ProgramInput &input = source.inputs[*index];
  uint32_t count = input.perMicrobatch ? source.microbatches : 1;
  if (microbatch >= count)
    return absl::OutOfRangeError(absl::StrCat("program '", source.name, "', input '", input.name,
                                              "': microbatch ", microbatch, " of ", count));
  return view(input.type, input.reference, microbatch);
}

absl::StatusOr<HostTensor> Executor::output(ProgramHandle program, std::string_view name) const {
  const Program &source = loaded.programs[program.index];
  absl::StatusOr<uint32_t> index =
      find(source.outputs, name, absl::StrCat("program '", source.name, "' has no output"));
  if (!index.ok())
    return index.status();
  return view(source.outputs[*index].type, source.outputs[*index].reference, 0);
}

absl::StatusOr<HostTensor> Executor::variable(std::string_view name) const {
  auto found = variableIndices.find(std::string(name));
  if (found == variableIndices.end())
    return absl::NotFoundError(absl::StrCat("no variable '", std::string(name), "' in this executable"));
  return variable(found->second);
}

absl::StatusOr<HostTensor> Executor::cache(std::string_view name) const {
  absl::StatusOr<uint32_t> index = find(loaded.caches, name, "no cache");
  if (!index.ok())
    return index.status();
  return view(loaded.caches[*index].type, loaded.caches[*index].reference, 0);
}

HostTensor Executor::variable(size_t index) const {
  return view(loaded.variables[index].type, loaded.variables[index].reference, 0);
}

std::span<std::byte> Executor::snapshot(size_t index) const {
  const std::vector<MemoryBase> &bases = loaded.memory.bases;
  const auto found = std::find_if(bases.begin(), bases.end(),
                                  [](const MemoryBase &base) { return base.kind == BaseKind::Snapshot; });
  if (found == bases.end())
    return {};
  const Variable &variable = loaded.variables[index];
  return {address({static_cast<uint32_t>(found - bases.begin()), variable.reference.offset}, 0),
          static_cast<size_t>(variable.type.bytes())};
}

void Executor::setObserver(CommandObserver newObserver) { observer = std::move(newObserver); }

void Executor::setBeforeWrites(std::function<void()> wait) { beforeWrites = std::move(wait); }

} // namespace weft
