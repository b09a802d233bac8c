//===- LoadExecutable.cpp - Executor::create ------------------------------===//
//
// All that is decided before the first run: target, kernels, aliasing, arena, constants, pointers. Checks
// come before the arena is allocated.
//
//===----------------------------------------------------------------------===//
#include "kernels/collective/Collective.h"
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/comm/MeshContext.h"
#include "runtime/exec/Executor.h"
#include "runtime/executable/Verify.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace weft {
namespace {

/// Pointers of one program: what real schedules need is far below; a file that asks for more would fill the
/// memory.
constexpr uint64_t kMostPointers = uint64_t{1} << 26;

constexpr const char *kRecompile = "Compile it here: weft compile RUN.yaml -o RUN.weft";

absl::Status checkTarget(const Target &target, const Device &device) {
  if (target.instructionSet == device.instructionSet())
    return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the executable is for ", target.instructionSet,
                                                    ", device ", device.name(), " is ",
                                                    device.instructionSet(), ". ", kRecompile));
}

std::pair<uint32_t, uint64_t> place(const Reference &reference) { return {reference.base, reference.offset}; }

} // namespace

absl::StatusOr<std::unique_ptr<Executor>> Executor::create(Executable executable, Device &device,
                                                           const RankContext *context) {
  if (absl::Status status = verify(executable); !status.ok())
    return status;
  if (absl::Status status = checkTarget(executable.target, device); !status.ok())
    return status;
  std::unique_ptr<Executor> executor(new Executor(std::move(executable)));
  if (absl::Status status = executor->enterMesh(context); !status.ok())
    return status;
  if (absl::Status status = executor->load(device); !status.ok())
    return status;
  return executor;
}

/// Decides which rank this is.
absl::Status Executor::enterMesh(const RankContext *given) {
  const Mesh &mesh = loaded.mesh;
  if (given == nullptr) {
    if (mesh.ranks() != 1)
      return absl::FailedPreconditionError(
          absl::StrCat("the executable is for ", mesh.ranks(),
                       " ranks, which run it together: one alone needs one compiled for launch.ranks=1"));
    soleCommunicator = createLocalCommunicator();
    absl::StatusOr<std::unique_ptr<RankContext>> context = createRankContext(mesh, *soleCommunicator);
    if (!context.ok())
      return context.status();
    soleContext = *std::move(context);
    rank = soleContext.get();
    return absl::OkStatus();
  }
  auto sizes = [](size_t count, auto sizeOf) {
    std::string text;
    for (uint32_t axis = 0; axis < count; ++axis)
      absl::StrAppend(&text, axis == 0 ? "" : " x ", sizeOf(axis));
    return text.empty() ? std::string("1") : text;
  };
  std::string compiled = sizes(mesh.axes.size(), [&](uint32_t axis) { return mesh.axes[axis].size; });
  std::string here = sizes(given->axisCount(), [&](uint32_t axis) { return given->axisSize(axis); });
  if (compiled != here)
    return absl::FailedPreconditionError(absl::StrCat("the executable is for a mesh of ", compiled,
                                                      " ranks, this is one of ", here, ". ", kRecompile));
  rank = given;
  return absl::OkStatus();
}

absl::Status Executor::load(Device &device) {
  if (absl::Status status = createKernels(device); !status.ok())
    return status;
  for (const Program &program : loaded.programs)
    for (const Command &command : program.commands)
      if (absl::Status status = checkAliasing(command, program); !status.ok())
        return status;
  absl::StatusOr<std::unique_ptr<Memory>> memory = device.allocate(loaded.memory.arenaBytes());
  if (!memory.ok())
    return memory.status();
  arena = *std::move(memory);
  starts = loaded.memory.starts();
  for (size_t i = 0; i < loaded.memory.bases.size(); ++i) {
    MemoryBase &base = loaded.memory.bases[i];
    if (!base.contents.empty())
      std::memcpy(arena->data() + starts[i], base.contents.data(), base.contents.size());
    base.contents = std::string(); // the arena has them now
  }
  for (const Program &program : loaded.programs)
    if (absl::Status status = prepare(program); !status.ok())
      return status;
  for (size_t i = 0; i < loaded.variables.size(); ++i)
    variableIndices[loaded.variables[i].name] = i;
  absl::StatusOr<std::unique_ptr<Stream>> created = device.createStream();
  if (!created.ok())
    return created.status();
  stream = *std::move(created);
  return absl::OkStatus();
}

absl::Status Executor::createKernels(Device &device) {
  if (!loaded.object.none()) {
    absl::StatusOr<std::unique_ptr<DeviceCode>> taken = device.loadCode(loaded.object.bytes.str());
    if (!taken.ok())
      return taken.status();
    code = *std::move(taken);
  }
  for (size_t i = 0; i < loaded.kernels.size(); ++i) {
    const KernelEntry &entry = loaded.kernels[i];
    absl::StatusOr<std::unique_ptr<Kernel>> kernel = isRankKernel(entry.call.name)
                                                         ? createRankKernel(entry.call, rank)
                                                         : device.createKernel(entry.call, code.get());
    if (!kernel.ok())
      return absl::Status(kernel.status().code(),
                          absl::StrCat("kernel ", i, " ", entry.call.str(), ": ", kernel.status().message()));
    int64_t needed = (*kernel)->workspaceBytes();
    if (needed < 0 || static_cast<uint64_t>(needed) != entry.workspaceBytes)
      return absl::FailedPreconditionError(
          absl::StrCat("kernel ", i, " ", entry.call.str(), ": the plan holds ", entry.workspaceBytes,
                       " bytes of workspace, this device's kernel uses ", needed, ". ", kRecompile));
    kernels.push_back(*std::move(kernel));
  }
  return absl::OkStatus();
}

/// An operand may share memory with a result only where the kernel says so, and then exactly. Results are
/// disjoint (verify), so at most one of them starts before an operand and reaches into it.
absl::Status Executor::checkAliasing(const Command &command, const Program &program) const {
  if (command.kind != CommandKind::Launch)
    return absl::OkStatus();
  const KernelCall &call = loaded.kernels[command.kernel].call;
  const Reference *operands = program.arguments.data() + command.firstArgument;
  const Reference *results = operands + command.operandCount;
  std::vector<uint32_t> order(command.resultCount);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t left, uint32_t right) { return place(results[left]) < place(results[right]); });
  for (uint32_t i = 0; i < command.operandCount; ++i) {
    uint64_t bytes = static_cast<uint64_t>(call.operands[i].bytes());
    auto after =
        std::upper_bound(order.begin(), order.end(), operands[i], [&](const Reference &at, uint32_t result) {
          return place(at) < place(results[result]);
        });
    for (auto result = after == order.begin() ? after : after - 1; result != order.end(); ++result) {
      const Reference &to = results[*result];
      uint64_t written = static_cast<uint64_t>(call.results[*result].bytes());
      if (to.base != operands[i].base && result >= after)
        break;
      if (to.base != operands[i].base || to.offset + written <= operands[i].offset)
        continue; // ends before the operand starts
      if (to.offset >= operands[i].offset + bytes)
        break;
      if (to == operands[i] && written == bytes &&
          kernels[command.kernel]->mayAlias(static_cast<int>(i), static_cast<int>(*result)))
        continue;
      return absl::FailedPreconditionError(
          absl::StrCat("program '", program.name, "', command ", &command - program.commands.data(), " (",
                       loaded.locations[command.location], "): result ", *result, " overwrites operand ", i,
                       " of ", call.str(), ", which this device's kernel does not allow. ", kRecompile));
    }
  }
  return absl::OkStatus();
}

/// The number of microbatches after which the command's pointers repeat.
uint32_t Executor::slotPeriod(const Command &command, const Program &program, bool perMicrobatch) const {
  if (!perMicrobatch)
    return 1;
  uint64_t period = 1;
  auto include = [&](const Reference &reference) {
    period = std::lcm(period, uint64_t{loaded.memory.bases[reference.base].slotCount});
    period = std::min(period, uint64_t{program.microbatches});
  };
  for (uint32_t i = 0; i < uint32_t{command.operandCount} + command.resultCount; ++i)
    include(program.arguments[command.firstArgument + i]);
  if (command.kind == CommandKind::Launch && loaded.kernels[command.kernel].workspaceBytes != 0)
    include(command.workspace);
  return static_cast<uint32_t>(period);
}

absl::Status Executor::prepare(const Program &program) {
  PreparedProgram &prepared = programs.emplace_back();
  for (const Action &action : program.actions)
    for (uint32_t i = 0; i < action.commandCount; ++i) {
      const Command &command = program.commands[action.firstCommand + i];
      bool isLaunch = command.kind == CommandKind::Launch;
      PreparedCommand &now = prepared.commands.emplace_back();
      now.kernel = isLaunch ? kernels[command.kernel].get() : nullptr;
      now.operandCount = command.operandCount;
      now.resultCount = command.resultCount;
      now.period = slotPeriod(command, program, action.perMicrobatch);
      const auto results =
          std::span(program.arguments).subspan(command.firstArgument + now.operandCount, now.resultCount);
      now.writesVariables = std::any_of(results.begin(), results.end(), [&](const Reference &result) {
        return loaded.memory.bases[result.base].kind == BaseKind::Parameters;
      });
      now.firstPointer = prepared.pointers.size();
      now.copyBytes = command.copyBytes;
      uint32_t arguments = now.operandCount + now.resultCount;
      if (uint64_t{now.period} * (arguments + 1) > kMostPointers - prepared.pointers.size())
        return absl::ResourceExhaustedError(absl::StrCat("program '", program.name, "' needs more than ",
                                                         kMostPointers,
                                                         " pointers: too many slots and microbatches"));
      auto pointer = [&](const Reference &reference, uint32_t microbatch) {
        return address(reference, microbatch % loaded.memory.bases[reference.base].slotCount);
      };
      for (uint32_t microbatch = 0; microbatch < now.period; ++microbatch) {
        for (uint32_t k = 0; k < arguments; ++k)
          prepared.pointers.push_back(pointer(program.arguments[command.firstArgument + k], microbatch));
        bool hasWorkspace = isLaunch && loaded.kernels[command.kernel].workspaceBytes != 0;
        prepared.pointers.push_back(hasWorkspace ? pointer(command.workspace, microbatch) : nullptr);
      }
    }
  return absl::OkStatus();
}

} // namespace weft
