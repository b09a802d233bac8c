#include "tests/fuzz/executable/ExerciseExecutable.h"

#include "kernels/common/ThreadPool.h"
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/comm/MeshContext.h"
#include "runtime/exec/Executor.h"
#include "runtime/executable/Dump.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/executable/FileHeader.h"
#include "runtime/executable/Parts.h"
#include "tests/fuzz/Require.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <xxhash.h>

namespace weft::testing {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 22;    // of an arena
constexpr uint64_t kMostCommands = uint64_t{1} << 10; // of a run
constexpr uint64_t kMostTouched = uint64_t{1} << 22;  // by a kernel
constexpr int64_t kMostRanks = 4;                     // each a thread

/// Memory of exactly the size asked for, with nothing after it.
class ExactMemory : public Memory {
public:
  explicit ExactMemory(uint64_t bytes) : size(bytes) {
    if (::posix_memalign(&start, 64, size) != 0)
      std::abort();
    std::memset(start, 0, size);
  }
  ~ExactMemory() override { std::free(start); }
  std::byte *data() const override { return static_cast<std::byte *>(start); }
  uint64_t bytes() const override { return size; }

private:
  void *start = nullptr;
  uint64_t size;
};

/// Reads all of its operands, writes all of its results and its workspace.
class TouchingKernel : public Kernel {
public:
  explicit TouchingKernel(const KernelCall &call) : call(call) {}
  void run(const KernelArguments &arguments, ThreadPool &) const override {
    uint8_t sum = 0;
    for (size_t i = 0; i < call.operands.size(); ++i)
      for (int64_t k = 0; k < call.operands[i].bytes(); ++k)
        sum += static_cast<const uint8_t *>(arguments.operands[i])[k];
    for (size_t i = 0; i < call.results.size(); ++i)
      std::memset(arguments.results[i], sum, static_cast<size_t>(call.results[i].bytes()));
    if (workspaceBytes() > 0)
      std::memset(arguments.workspace, sum, static_cast<size_t>(workspaceBytes()));
  }
  int64_t workspaceBytes() const override { return call.integerOr("workspace", 0); }
  bool mayAlias(int, int) const override { return true; }

private:
  KernelCall call;
};

/// Does everything at once.
class ImmediateStream : public Stream {
public:
  void launch(const Kernel &kernel, const KernelArguments &arguments) override {
    kernel.run(arguments, threads);
  }
  void copy(void *to, const void *from, uint64_t bytes) override { std::memcpy(to, from, bytes); }
  void signal(Event &event, uint64_t value) override { event.signal(value); }
  void wait(Event &, uint64_t) override {}
  void stamp(int64_t &nanoseconds) override { nanoseconds = 0; }
  absl::Status synchronize() override { return absl::OkStatus(); }

private:
  ThreadPool threads{1};
};

class TouchingDevice : public Device {
public:
  explicit TouchingDevice(const Target &target) : target(target) {}
  const std::string &name() const override { return deviceName; }
  const std::string &instructionSet() const override { return target.instructionSet; }
  absl::StatusOr<std::unique_ptr<Memory>> allocate(uint64_t bytes) override {
    if (bytes > kMostBytes)
      return absl::ResourceExhaustedError("too large to try");
    return std::make_unique<ExactMemory>(bytes);
  }
  absl::StatusOr<std::unique_ptr<Event>> createEvent() override {
    return absl::UnimplementedError("no events");
  }
  absl::StatusOr<std::unique_ptr<Stream>> createStream() override {
    return std::make_unique<ImmediateStream>();
  }
  /// Machine code is not run here: its kernels touch what the others do.
  absl::StatusOr<std::unique_ptr<DeviceCode>> loadCode(std::string_view) override {
    return std::make_unique<DeviceCode>();
  }
  absl::StatusOr<std::unique_ptr<Kernel>> createKernel(const KernelCall &call, const DeviceCode *) override {
    return std::make_unique<TouchingKernel>(call);
  }

private:
  std::string deviceName = "touching";
  Target target;
};

/// What running the program costs: commands, and bytes that one command touches.
bool isSmall(const Executable &executable, const Program &program) {
  uint64_t commands = 0;
  for (const ScheduleItem &item : program.schedule)
    commands += program.actions[item.action].commandCount;
  auto touches = [&](const Command &command) {
    uint64_t bytes = command.copyBytes;
    if (command.kind == CommandKind::Launch)
      for (const TensorType &type : executable.kernels[command.kernel].call.operands)
        bytes += static_cast<uint64_t>(type.bytes());
    return bytes;
  };
  return commands <= kMostCommands &&
         std::all_of(program.commands.begin(), program.commands.end(),
                     [&](const Command &c) { return touches(c) <= kMostTouched; });
}

/// One rank of the executable's mesh. With `mayFail` a run may end with a message: ranks of other parts need
/// not come to the same calls.
Exercised runPrograms(const Executable &executable, bool mayFail, Communicator &communicator) {
  TouchingDevice device(executable.target);
  std::unique_ptr<RankContext> context = *createRankContext(executable.mesh, communicator);
  absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::create(executable, device, context.get());
  if (!executor.ok())
    return Exercised::Loaded;
  Exercised result = Exercised::Loaded;
  for (uint32_t i = 0; i < executable.programs.size(); ++i)
    if (isSmall(executable, executable.programs[i])) {
      require((*executor)->run(ProgramHandle{i}).ok() || mayFail, "an executable that was read fails to run");
      result = Exercised::Ran;
    }
  return result;
}

} // namespace

std::string repairExecutable(std::string_view bytes) {
  std::string repaired(bytes.substr(0, bytes.size()));
  if (repaired.size() < kHeaderBytes)
    return repaired;
  FileHeader header;
  std::memcpy(&header, repaired.data(), sizeof(header));
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.formatVersion = kFormatVersion;
  header.structureOffset = kHeaderBytes;
  header.structureBytes = std::min(header.structureBytes, repaired.size() - kHeaderBytes);
  header.structureChecksum = XXH64(repaired.data() + kHeaderBytes, header.structureBytes, 0);
  header.fileBytes = repaired.size();
  header.headerChecksum = XXH64(&header, offsetof(FileHeader, headerChecksum), 0);
  std::memcpy(repaired.data(), &header, sizeof(header));
  return repaired;
}

Exercised exerciseExecutable(std::string_view bytes) {
  absl::StatusOr<std::vector<Executable>> parts = parseExecutables(bytes, "fuzz.weft");
  if (!parts.ok())
    return Exercised::Refused;
  require(!dump(*parts).empty(), "an executable that was read prints nothing");
  if (absl::StatusOr<std::string> written = serializeExecutables(*parts); written.ok()) {
    absl::StatusOr<std::vector<Executable>> again = parseExecutables(*written, "fuzz.weft");
    require(again.ok(), "an executable that was read is refused once written");
    require(*serializeExecutables(*again) == *written,
            "an executable that was read changes when it is written twice");
  }
  const int64_t ranks = parts->front().mesh.ranks();
  if (ranks > kMostRanks)
    return Exercised::Loaded;
  const bool isPipeline = parts->size() > 1;
  std::vector<Exercised> results(static_cast<size_t>(ranks), Exercised::Loaded);
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Communicator>> communicators = *createLocalGroup(static_cast<int>(ranks));
  for (std::unique_ptr<Communicator> &own : communicators)
    threads.emplace_back([&, communicator = std::move(own)] {
      const auto rank = static_cast<size_t>(communicator->rank());
      results[rank] = runPrograms(partOf(*parts, communicator->rank()), isPipeline, *communicator);
    });
  for (std::thread &thread : threads)
    thread.join();
  require(isPipeline || std::count(results.begin(), results.end(), results[0]) == ranks,
          "an executable that was read loads on some ranks only");
  return *std::min_element(results.begin(), results.end());
}

} // namespace weft::testing
