//===- Executor.h - Runs the programs of an executable on a device --------===//
//
// At load everything is decided: the arena is allocated (exactly the plan), constants are filled in, every
// kernel is created once and compared with the plan, and the pointers of every command are computed, for
// every slot that its references can mean. run() then walks schedule -> action -> commands and does nothing
// else: no allocation, no lookup, no formatting. An executor belongs to one thread at a time; there is no
// state outside it.
//
// An executable over a mesh is run by all of its ranks, each with an executor of its own: rank kernels and
// collectives are created for the rank of the context, all others by the device. A collective that fails (a
// peer lost, calls that differ) does not stop the stream: the context keeps the failure, later collectives
// fail at once, and run() returns it. The contents of the arena are then without a meaning.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXEC_EXECUTOR_H
#define WEFT_RUNTIME_EXEC_EXECUTOR_H

#include "kernels/collective/RankContext.h"
#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"
#include "runtime/exec/RunTimes.h"
#include "runtime/executable/Executable.h"

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// Names a program of one executor: an index into Executable::programs.
struct ProgramHandle {
  uint32_t index = 0;
};

/// A tensor in the arena, as the host sees it between runs. Valid as long as the executor: look it up once,
/// before the loop (looking up formats and searches).
struct HostTensor {
  const TensorType *type = nullptr;
  std::span<std::byte> bytes;

  /// The elements; T must be as wide as the tensor's element type.
  template <typename T> std::span<T> as() const {
    return {reinterpret_cast<T *>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// A command that has just finished. Everything in it belongs to the executor and is valid during the call.
struct CommandRecord {
  ProgramHandle program;
  uint32_t action = 0;
  uint32_t microbatch = kNone;
  uint32_t command = 0;
  std::string_view location;
  const KernelCall *call = nullptr; ///< null for a copy: it has no types, only bytes
  uint64_t copyBytes = 0;
  std::span<const void *const> operands;
  std::span<void *const> results; ///< an operand may have been overwritten by a result that aliases it
};
using CommandObserver = std::function<void(const CommandRecord &)>;

class Executor {
public:
  /// Takes the executable and uses the device and the context, which must outlive the executor. Without a
  /// context the executable must be for one rank. Fails as verify() does; FailedPrecondition when the
  /// executable is for another target, naming both and the command that recompiles, for another mesh than
  /// the context's, or when a kernel of this device disagrees with the plan (workspace bytes, aliasing);
  /// ResourceExhausted when the arena cannot be had.
  static absl::StatusOr<std::unique_ptr<Executor>> create(Executable executable, Device &device,
                                                          const RankContext *context = nullptr);

  /// NotFound names the programs that there are.
  absl::StatusOr<ProgramHandle> program(std::string_view name) const;
  /// With `times`, made for this program of executable(), also takes the times of the run; InvalidArgument
  /// when they are made for another.
  absl::Status run(ProgramHandle program, RunTimes *times = nullptr);
  absl::Status run(std::string_view name);

  /// Input slot of a microbatch; for an input that is not per microbatch, `microbatch` must be 0.
  absl::StatusOr<HostTensor> input(ProgramHandle program, std::string_view name,
                                   uint32_t microbatch = 0) const;
  absl::StatusOr<HostTensor> output(ProgramHandle program, std::string_view name) const;
  absl::StatusOr<HostTensor> variable(std::string_view name) const;
  /// What a program left there means something until a program runs that does not use it.
  absl::StatusOr<HostTensor> cache(std::string_view name) const;
  /// By index into Executable::variables.
  HostTensor variable(size_t index) const;
  /// Its place in the snapshot, which no program touches; no bytes where the plan has none.
  std::span<std::byte> snapshot(size_t index) const;

  /// Called after each command, which the executor then waits for. Null (as at first): run() is undisturbed.
  void setObserver(CommandObserver observer);
  /// Called once a run, on its thread, before its first command that writes a variable: until it returns they
  /// are as they were. Null (as at first): nothing is waited for.
  void setBeforeWrites(std::function<void()> wait);

  /// Bytes that the device allocated: equal to executable().memory.arenaBytes().
  uint64_t allocatedBytes() const { return arena->bytes(); }
  /// What runs. The contents of constants are in the arena only.
  const Executable &executable() const { return loaded; }

private:
  /// A command with its kernel found; its pointers are in PreparedProgram::pointers.
  struct PreparedCommand {
    const Kernel *kernel = nullptr; ///< null for a copy
    uint32_t operandCount = 0;
    uint32_t resultCount = 0;
    uint32_t period = 1; ///< microbatch m uses the pointers of m mod period
    bool writesVariables = false;
    uint64_t firstPointer = 0; ///< operands, results, workspace; then the same for the next of the period
    uint64_t copyBytes = 0;
  };
  struct PreparedProgram {
    std::vector<PreparedCommand> commands;
    std::vector<void *> pointers;
  };

  explicit Executor(Executable executable) : loaded(std::move(executable)) {}
  absl::Status enterMesh(const RankContext *given);
  absl::Status load(Device &device);
  absl::Status createKernels(Device &device);
  absl::Status prepare(const Program &program);
  absl::Status checkAliasing(const Command &command, const Program &program) const;
  uint32_t slotPeriod(const Command &command, const Program &program, bool perMicrobatch) const;
  std::byte *address(const Reference &reference, uint32_t slot) const;
  HostTensor view(const TensorType &type, const Reference &reference, uint32_t slot) const;
  void runCommand(const PreparedProgram &prepared, uint32_t command, uint32_t microbatch);
  void observe(ProgramHandle program, const ScheduleItem &item, uint32_t command) const;

  Executable loaded;
  // Who this rank is: the caller's context, or that of a group of one.
  std::unique_ptr<Communicator> soleCommunicator;
  std::unique_ptr<RankContext> soleContext;
  const RankContext *rank = nullptr;
  std::vector<uint64_t> starts; ///< of the bases in the arena
  std::unique_ptr<Memory> arena;
  std::unique_ptr<DeviceCode> code;             ///< of generated kernels; null without any
  std::vector<std::unique_ptr<Kernel>> kernels; ///< as Executable::kernels
  std::vector<PreparedProgram> programs;        ///< as Executable::programs
  absl::flat_hash_map<std::string, size_t> variableIndices;
  CommandObserver observer;
  std::function<void()> beforeWrites;
  std::unique_ptr<Stream> stream; ///< last: it stops before what it uses goes
};

} // namespace weft

#endif // WEFT_RUNTIME_EXEC_EXECUTOR_H
