#include "runtime/executable/PlanRules.h"

#include "absl/container/flat_hash_set.h"

#include <algorithm>

namespace weft {
namespace {

/// Checks one program: inputs and outputs, then commands action by action, then the schedule.
class ProgramVerifier {
public:
  ProgramVerifier(const Executable &executable, const Program &program,
                  std::span<const std::vector<uint64_t>> kernelBytes)
      : executable(executable), plan(executable.memory), program(program), kernelBytes(kernelBytes) {}

  absl::Status verify();

private:
  absl::Status verifyInputs() const;
  absl::Status verifyOutputs() const;
  absl::Status verifyActions();
  absl::Status verifySchedule() const;
  absl::Status verifyCommand(uint32_t index, bool perMicrobatch);
  absl::Status verifyCounts(const Command &command) const;
  absl::Status verifyMemoryUse(const Command &command, bool perMicrobatch);
  absl::Status verifyDisjoint(const Command &command);

  std::string inProgram() const { return absl::StrCat("program '", program.name, "'"); }
  BaseKind kindOf(const Range &range) const { return plan.bases[range.reference.base].kind; }
  std::string baseNameOf(const Range &range) const { return plan.bases[range.reference.base].name; }

  const Executable &executable;
  const MemoryPlan &plan;
  const Program &program;
  std::span<const std::vector<uint64_t>> kernelBytes;

  uint64_t nextArgument = 0;  ///< arguments of commands follow each other without gaps
  std::vector<Range> ranges;  ///< of the command at hand: operands, results, then the workspace if any
  std::vector<Range> written; ///< of the command at hand, sorted: results and the workspace
};

absl::Status ProgramVerifier::verify() {
  if (program.microbatches < 1)
    return broken(inProgram(), ": microbatches is 0, at least 1 is needed");
  if (absl::Status status = verifyInputs(); !status.ok())
    return status;
  if (absl::Status status = verifyOutputs(); !status.ok())
    return status;
  if (absl::Status status = verifyActions(); !status.ok())
    return status;
  if (absl::Status status = verifySchedule(); !status.ok())
    return status;
  return verifyInFlight(executable, program);
}

absl::Status ProgramVerifier::verifyInputs() const {
  absl::flat_hash_set<std::string> names;
  for (const ProgramInput &input : program.inputs) {
    std::string what = absl::StrCat(inProgram(), ", input '", input.name, "'");
    if (input.name.empty() || !names.insert(input.name).second)
      return broken(what, ": names of inputs must be unique and not empty");
    absl::StatusOr<uint64_t> bytes = checkedBytes(input.type);
    if (!bytes.ok())
      return broken(what, ": ", bytes.status().message());
    if (absl::Status status = checkPlacement(executable.mesh, input.placement, input.type); !status.ok())
      return broken(what, ": ", status.message());
    Range range{input.reference, *bytes};
    if (absl::Status status = checkRange(plan, range, input.perMicrobatch); !status.ok())
      return broken(what, ": ", status.message());
    if (kindOf(range) != BaseKind::Inputs)
      return broken(what, ": base '", baseNameOf(range), "' is of kind ", std::string(name(kindOf(range))),
                    ", inputs live in inputs");
    uint32_t slots = plan.bases[input.reference.base].slotCount;
    if (input.perMicrobatch && slots < program.microbatches)
      return broken(what, ": base '", baseNameOf(range), "' has ", slots, " slots for ", program.microbatches,
                    " microbatches");
  }
  return absl::OkStatus();
}

absl::Status ProgramVerifier::verifyOutputs() const {
  absl::flat_hash_set<std::string> names;
  for (const ProgramOutput &output : program.outputs) {
    std::string what = absl::StrCat(inProgram(), ", output '", output.name, "'");
    if (output.name.empty() || !names.insert(output.name).second)
      return broken(what, ": names of outputs must be unique and not empty");
    absl::StatusOr<uint64_t> bytes = checkedBytes(output.type);
    if (!bytes.ok())
      return broken(what, ": ", bytes.status().message());
    Range range{output.reference, *bytes};
    if (absl::Status status = checkRange(plan, range, false); !status.ok())
      return broken(what, ": ", status.message());
    BaseKind kind = kindOf(range);
    if (kind == BaseKind::Slots || kind == BaseKind::Scratch || kind == BaseKind::Workspace ||
        kind == BaseKind::Snapshot)
      return broken(what, ": base '", baseNameOf(range), "' is of kind ", std::string(name(kind)),
                    ", which does not live to the end of the program");
  }
  return absl::OkStatus();
}

absl::Status ProgramVerifier::verifyActions() {
  absl::flat_hash_set<std::string> names;
  uint64_t nextCommand = 0;
  for (const Action &action : program.actions) {
    std::string what = absl::StrCat(inProgram(), ", action '", action.name, "'");
    if (action.name.empty() || !names.insert(action.name).second)
      return broken(what, ": names of actions must be unique and not empty");
    if (action.firstCommand != nextCommand)
      return broken(what, ": starts at command ", action.firstCommand, ", the actions before it end at ",
                    nextCommand);
    nextCommand += action.commandCount;
    if (nextCommand > program.commands.size())
      return broken(what, ": ends at command ", nextCommand, " of ", program.commands.size());
    for (uint64_t index = action.firstCommand; index < nextCommand; ++index)
      if (absl::Status status = verifyCommand(index, action.perMicrobatch); !status.ok())
        return status;
  }
  if (nextCommand != program.commands.size())
    return broken(inProgram(), ": the actions end at command ", nextCommand, " of ", program.commands.size());
  if (nextArgument != program.arguments.size())
    return broken(inProgram(), ": the commands use ", nextArgument, " of ", program.arguments.size(),
                  " arguments");
  return absl::OkStatus();
}

/// The texts of verifyCounts, verifyMemoryUse and verifyDisjoint begin where "program 'x', command 3
/// (location)" ends: it is put before them only when something is wrong.
absl::Status ProgramVerifier::verifyCommand(uint32_t index, bool perMicrobatch) {
  const Command &command = program.commands[index];
  if (command.location >= executable.locations.size())
    return broken(inProgram(), ", command ", index, ": location ", command.location, " of ",
                  executable.locations.size());
  absl::Status status = verifyCounts(command);
  if (status.ok())
    status = verifyMemoryUse(command, perMicrobatch);
  if (status.ok())
    status = verifyDisjoint(command);
  if (!status.ok())
    return broken(inProgram(), ", command ", index, " (", executable.locations[command.location], ")",
                  status.message());
  nextArgument += command.operandCount + command.resultCount;
  return absl::OkStatus();
}

/// Checks kind, kernel, and the number and place of the arguments.
absl::Status ProgramVerifier::verifyCounts(const Command &command) const {
  if (command.firstArgument != nextArgument)
    return broken(": its arguments start at ", command.firstArgument, ", those before it end at ",
                  nextArgument);
  if (uint64_t end = nextArgument + command.operandCount + command.resultCount;
      end > program.arguments.size())
    return broken(": its arguments end at ", end, " of ", program.arguments.size());
  if (command.kind == CommandKind::Copy) {
    if (command.operandCount != 1 || command.resultCount != 1)
      return broken(": a copy has 1 operand and 1 result, not ", command.operandCount, " and ",
                    command.resultCount);
    if (command.copyBytes < 1 || command.copyBytes > kMaximumBytes)
      return broken(": a copy of ", command.copyBytes, " bytes");
    if (command.kernel != kNone || command.workspace != Reference{})
      return broken(": a copy has no kernel and no workspace");
    return absl::OkStatus();
  }
  if (command.kind != CommandKind::Launch)
    return broken(": unknown kind ", static_cast<int>(command.kind));
  if (command.kernel >= executable.kernels.size())
    return broken(": kernel ", command.kernel, " of ", executable.kernels.size());
  const KernelEntry &kernel = executable.kernels[command.kernel];
  if (command.operandCount != kernel.call.operands.size() ||
      command.resultCount != kernel.call.results.size())
    return broken(": ", command.operandCount, " operands and ", command.resultCount, " results, kernel ",
                  kernel.call.name, " takes ", kernel.call.operands.size(), " and ",
                  kernel.call.results.size());
  if (command.copyBytes != 0)
    return broken(": a launch copies no bytes");
  if (kernel.workspaceBytes == 0 && command.workspace != Reference{})
    return broken(": kernel ", kernel.call.name, " needs no workspace");
  return absl::OkStatus();
}

/// Fills `ranges`, and checks that each is inside its base and that nothing writes what is read-only.
absl::Status ProgramVerifier::verifyMemoryUse(const Command &command, bool perMicrobatch) {
  ranges.clear();
  bool isLaunch = command.kind == CommandKind::Launch;
  uint32_t arguments = command.operandCount + command.resultCount;
  for (uint32_t i = 0; i < arguments; ++i) {
    bool isResult = i >= command.operandCount;
    Range range{program.arguments[command.firstArgument + i],
                isLaunch ? kernelBytes[command.kernel][i] : command.copyBytes};
    absl::Status status = checkRange(plan, range, perMicrobatch);
    if (status.ok() && kindOf(range) == BaseKind::Snapshot)
      status = broken("base '", baseNameOf(range), "' is of kind snapshot, which no command uses");
    if (status.ok() && isResult &&
        (kindOf(range) == BaseKind::Constants || kindOf(range) == BaseKind::Inputs))
      status = broken("base '", baseNameOf(range), "' is of kind ", std::string(name(kindOf(range))),
                      ", which no command writes");
    if (!status.ok())
      return broken(isResult ? ", result " : ", operand ", isResult ? i - command.operandCount : i, ": ",
                    status.message());
    ranges.push_back(range);
  }
  if (!isLaunch || executable.kernels[command.kernel].workspaceBytes == 0)
    return absl::OkStatus();
  Range range{command.workspace, executable.kernels[command.kernel].workspaceBytes};
  if (absl::Status status = checkRange(plan, range, perMicrobatch); !status.ok())
    return broken(", workspace: ", status.message());
  if (kindOf(range) == BaseKind::Constants || kindOf(range) == BaseKind::Inputs ||
      kindOf(range) == BaseKind::Parameters || kindOf(range) == BaseKind::Snapshot)
    return broken(", workspace: base '", baseNameOf(range), "' is of kind ", std::string(name(kindOf(range))),
                  ", which holds no workspace");
  ranges.push_back(range);
  return absl::OkStatus();
}

/// Results and the workspace share no memory, the workspace none with operands, nor a copy's two ends. (A
/// launch's operand may be its result's memory where the kernel allows: the executor asks the kernel.)
absl::Status ProgramVerifier::verifyDisjoint(const Command &command) {
  uint32_t arguments = command.operandCount + command.resultCount;
  written.assign(ranges.begin() + command.operandCount, ranges.end());
  std::sort(written.begin(), written.end(), [](const Range &left, const Range &right) {
    return std::pair(left.reference.base, left.reference.offset) <
           std::pair(right.reference.base, right.reference.offset);
  });
  for (size_t i = 1; i < written.size(); ++i)
    if (written[i - 1].overlaps(written[i]))
      return broken(": two results, or a result and the workspace, share memory in base '",
                    baseNameOf(written[i]), "'");
  for (uint32_t i = 0; i < command.operandCount && ranges.size() > arguments; ++i)
    if (ranges[i].overlaps(ranges.back()))
      return broken(", operand ", i, ": shares memory with the workspace in base '", baseNameOf(ranges[i]),
                    "'");
  if (command.kind == CommandKind::Copy && ranges[0].overlaps(ranges[1]))
    return broken(": source and destination of a copy share memory in base '", baseNameOf(ranges[0]), "'");
  return absl::OkStatus();
}

absl::Status ProgramVerifier::verifySchedule() const {
  std::vector<uint32_t> next(program.actions.size(), 0);
  for (size_t i = 0; i < program.schedule.size(); ++i) {
    const ScheduleItem &item = program.schedule[i];
    std::string what = absl::StrCat(inProgram(), ", schedule item ", i);
    if (item.action >= program.actions.size())
      return broken(what, ": action ", item.action, " of ", program.actions.size());
    const Action &action = program.actions[item.action];
    if (action.perMicrobatch && item.microbatch != next[item.action])
      return broken(what, ": action '", action.name, "' takes microbatches in ascending order, expected ",
                    next[item.action], ", found ",
                    item.microbatch == kNone ? "none" : absl::StrCat(item.microbatch));
    if (!action.perMicrobatch && item.microbatch != kNone)
      return broken(what, ": action '", action.name, "' is not per microbatch, found microbatch ",
                    item.microbatch);
    ++next[item.action];
  }
  for (size_t i = 0; i < program.actions.size(); ++i) {
    const Action &action = program.actions[i];
    if (action.perMicrobatch && next[i] != program.microbatches)
      return broken(inProgram(), ": action '", action.name, "' is scheduled for ", next[i], " of ",
                    program.microbatches, " microbatches");
    if (!action.perMicrobatch && next[i] == 0)
      return broken(inProgram(), ": action '", action.name, "' is never scheduled");
  }
  return absl::OkStatus();
}

} // namespace

absl::Status verifyProgram(const Executable &executable, const Program &program,
                           std::span<const std::vector<uint64_t>> kernelBytes) {
  return ProgramVerifier(executable, program, kernelBytes).verify();
}

} // namespace weft
