//===- Executable.h - What a compiled job holds, in memory ----------------===//
//
// An executable is all that a node needs to run: the resolved config, the tokenizer, the memory plan, the
// variables with their initial values' recipes, the kernels, and the programs (`step`, `evaluate`,
// `prefill`, `decode`, ...) as lists of commands. The compiler fills these structs, ExecutableFile.h moves
// them to and from a file, Verify.h says whether they may be run, and runtime/exec runs them. All offsets and
// sizes are in bytes.
//
// The ranks of a pipeline run different programs: a job is a vector of executables, its parts, one for each
// place along the pipeline and for all ranks there. Without a pipeline it has one. See Parts.h.
//
// Addresses: the runtime allocates ONE arena of MemoryPlan::arenaBytes(). The bases tile it in order. A base
// has slotCount slots of slotBytes each; microbatch m uses slot m mod slotCount. A reference from an action
// that runs per microbatch is relative to that slot; any other reference (actions that run once, variables,
// outputs, inputs that are not per microbatch) is relative to the start of the base, and so reaches every
// slot.
//
// A base that lies `within` another, its region, takes no room of its own: its slot m is at offsets[m] of the
// region, where slots of other bases lie at other times. Which of them may share bytes follows from the order
// of the schedule, and verify() holds the offsets against it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_EXECUTABLE_H
#define WEFT_RUNTIME_EXECUTABLE_EXECUTABLE_H

#include "kernels/common/KernelCall.h"
#include "runtime/executable/Mesh.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// Alignment of bases, slots and references, in bytes: what kernels may rely on.
inline constexpr uint64_t kAlignment = 64;

/// No index: of a base, a kernel, a microbatch.
inline constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

/// What a base is for: data for reports and for the rules of Verify.h; the address mechanism is the same for
/// all. The values are part of the format: append, never renumber.
enum class BaseKind : uint8_t {
  Constants = 0,  ///< initialized from the file, never written
  Parameters = 1, ///< variables: parameters and optimizer state; persists over steps
  Inputs = 2,     ///< written by the host before a program runs; never written by commands
  Step = 3,       ///< lives through one run of a program; caches at its front until another program runs
  Slots = 4,      ///< lives through one microbatch, over several actions (boundary, F->B, ... slots)
  Scratch = 5,    ///< lives inside one action
  Workspace = 6,  ///< kernels' workspaces: lives inside one command
  Snapshot = 7, ///< the variables of one step, laid out as in Parameters, while they are saved; no command's
};
inline constexpr uint8_t kBaseKinds = 8;
std::string_view name(BaseKind kind);

struct MemoryBase {
  std::string name; ///< unique, for messages
  BaseKind kind = BaseKind::Step;
  uint32_t slotCount = 1;    ///< at least 1
  uint64_t slotBytes = 0;    ///< a multiple of kAlignment
  std::string contents = {}; ///< Constants only: slotBytes bytes; empty for every other kind
  uint32_t within = kNone; ///< Slots only: the base that is its region; kNone for a base with room of its own
  std::vector<uint64_t> offsets = {}; ///< in the region, one per slot; empty without one

  /// Bytes of the arena that are this base's own.
  uint64_t bytes() const { return within == kNone ? slotCount * slotBytes : 0; }
  /// Where a slot starts, from the base's start in the arena.
  uint64_t slotOffset(uint32_t slot) const { return within == kNone ? slot * slotBytes : offsets[slot]; }
  bool operator==(const MemoryBase &) const = default;
};

/// One row of the table that people read (`--explain memory`).
struct MemoryRow {
  std::string category; ///< parameters, gradients, optimizer, activations, workspaces, snapshot, inputs, ...
  std::string name;     ///< which of them: a parameter group, the op that holds it
  uint64_t bytes = 0;
  bool outsideArena = false; ///< memory that a library allocates by itself (oneDNN's packing buffers)
  bool operator==(const MemoryRow &) const = default;
};

struct MemoryPlan {
  std::vector<MemoryBase> bases; ///< in the order of the arena
  std::vector<MemoryRow> rows;   ///< those inside the arena add up to arenaBytes()

  /// Bytes that the runtime allocates.
  uint64_t arenaBytes() const;
  /// arenaBytes() and what the rows say of libraries' own memory.
  uint64_t peakBytes() const;
  /// Offset of each base from the start of the arena; of one within a region, the region's.
  std::vector<uint64_t> starts() const;
  bool operator==(const MemoryPlan &) const = default;
};

/// A place in the memory plan; `base` is an index into MemoryPlan::bases, `offset` a multiple of kAlignment.
struct Reference {
  uint32_t base = 0;
  uint64_t offset = 0;
  bool operator==(const Reference &) const = default;
};

/// How a variable gets its first value. The random ones draw from Philox keyed by (seed, hash of the name).
/// The values are part of the format: append, never renumber.
enum class InitializerKind : uint8_t {
  Zeros = 0,           ///< no numbers
  Ones = 1,            ///< no numbers
  Constant = 2,        ///< value
  Normal = 3,          ///< mean, standard deviation
  TruncatedNormal = 4, ///< mean, standard deviation, lowest, highest value
  Uniform = 5,         ///< lowest, highest value
};
inline constexpr uint8_t kInitializerKinds = 6;
std::string_view name(InitializerKind kind);
/// How many numbers an initializer of this kind takes.
size_t initializerNumbers(InitializerKind kind);

struct Initializer {
  InitializerKind kind = InitializerKind::Zeros;
  std::vector<double> numbers = {};
  bool operator==(const Initializer &) const = default;
};

/// A parameter or a piece of optimizer state: what persists over steps and goes into checkpoints.
struct Variable {
  std::string name;    ///< unique
  TensorType type;     ///< of a rank's part
  Reference reference; ///< into a base of kind Parameters
  Initializer initializer;
  bool trainable = false;
  bool isState = false;       ///< optimizer state, counters, loss scale: not a weight of the model
  std::string checkpointName; ///< unique; the tensor's name in checkpoints
  TensorPlacement placement = {};
  uint32_t pipelineOwner = 0; ///< the lowest pipeline rank that holds it
  bool operator==(const Variable &) const = default;
};

/// What programs leave to those that run after them, until one runs that knows nothing of it and uses its
/// memory: keys and values in generation. No part of checkpoints.
struct Cache {
  std::string name;    ///< unique
  TensorType type;     ///< of a rank's part
  Reference reference; ///< into a base of kind Step
  bool operator==(const Cache &) const = default;
};

/// A kernel that some command launches. Programs share them: each is created once, at load.
struct KernelEntry {
  KernelCall call;
  uint64_t workspaceBytes = 0; ///< what the compiler planned; the loaded kernel must agree
  bool operator==(const KernelEntry &) const = default;
};

struct ProgramInput {
  std::string name; ///< unique among the program's inputs
  TensorType type;  ///< of a rank's part, and of one microbatch where perMicrobatch
  Reference reference;
  bool perMicrobatch = false; ///< the base has a slot for every microbatch of the program
  TensorPlacement placement = {};
  bool operator==(const ProgramInput &) const = default;
};

struct ProgramOutput {
  std::string name; ///< unique among the program's outputs
  TensorType type;
  Reference reference;
  bool operator==(const ProgramOutput &) const = default;
};

/// The values are part of the format: append, never renumber. 2 and 3 are reserved for start and wait on
/// streams.
enum class CommandKind : uint8_t { Launch = 0, Copy = 1 };

/// One command. Its operands, then its results, are arguments[firstArgument ...] of the program.
struct Command {
  CommandKind kind = CommandKind::Launch;
  uint16_t operandCount = 0;
  uint16_t resultCount = 0;
  uint32_t kernel = kNone; ///< Launch: index into Executable::kernels. Copy: kNone
  uint32_t firstArgument = 0;
  uint32_t location = 0;  ///< index into Executable::locations
  Reference workspace;    ///< Launch: where the kernel's workspaceBytes are; {0, 0} when it needs none
  uint64_t copyBytes = 0; ///< Copy: bytes from the one operand to the one result. Launch: 0
  bool operator==(const Command &) const = default;
};

/// A contiguous run of commands: `prepare`, `forward_backward`, `update`, ...
struct Action {
  std::string name; ///< unique in the program
  bool perMicrobatch = false;
  uint32_t firstCommand = 0;
  uint32_t commandCount = 0;
  bool operator==(const Action &) const = default;
};

struct ScheduleItem {
  uint32_t action = 0;
  uint32_t microbatch = kNone; ///< kNone for an action that is not per microbatch
  bool operator==(const ScheduleItem &) const = default;
};

struct Program {
  std::string name; ///< unique: step, evaluate, prefill, decode, ...
  uint32_t microbatches = 1;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramOutput> outputs;
  std::vector<Reference> arguments;
  std::vector<Command> commands;
  std::vector<Action> actions;
  std::vector<ScheduleItem> schedule;
  bool operator==(const Program &) const = default;
};

/// A text of which all copies are one: the parts of a job share theirs, and so do its ranks.
class SharedText {
public:
  SharedText() : SharedText(std::string()) {}
  SharedText(std::string text) : text(std::make_shared<const std::string>(std::move(text))) {}
  SharedText(const char *text) : SharedText(std::string(text)) {}
  SharedText(const SharedText &) = default; // which also moves: a text is never taken from anyone
  SharedText &operator=(const SharedText &) = default;

  const std::string &str() const { return *text; }
  bool operator==(const SharedText &other) const { return *text == *other.text; }

private:
  std::shared_ptr<const std::string> text;
};

/// What the kernels were chosen for.
struct Target {
  std::string instructionSet; ///< as the device spells it: avx2, avx512, ...
  bool operator==(const Target &) const = default;
};

/// Machine code of the kernel calls that name a `symbol`: a shared object (runtime/object), one for all
/// parts, so that equal kernels are in it once.
struct KernelObject {
  std::string target; ///< what it was generated for: see ObjectTarget.h
  SharedText bytes;

  /// Whether there is none.
  bool none() const { return *this == KernelObject(); }
  bool operator==(const KernelObject &) const = default;
};

struct Executable {
  // The same in all parts of a job.
  std::string weftVersion; ///< of the compiler that wrote it
  Target target;
  KernelObject object;  ///< none when no kernel names a symbol
  Mesh mesh;            ///< of the ranks that run it together, all from this one file
  SharedText config;    ///< the resolved config, YAML
  SharedText tokenizer; ///< opaque here: what runtime/tokenizer reads; may be empty
  // Of one part.
  MemoryPlan memory;
  std::vector<Variable> variables;
  std::vector<Cache> caches;
  std::vector<KernelEntry> kernels;
  std::vector<std::string> locations; ///< where commands come from, for messages
  std::vector<Program> programs;
  bool operator==(const Executable &) const = default;
};

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_EXECUTABLE_H
