//===- Context.h - What lives for one run of a program ----------------------===//
#ifndef WEFT_COMPILER_INTERPRET_CONTEXT_H
#define WEFT_COMPILER_INTERPRET_CONTEXT_H

#include "compiler/interpret/BlockWalk.h"
#include "compiler/interpret/Interpreter.h"
#include "compiler/interpret/Meetings.h"
#include "compiler/interpret/Messages.h"

#include "llvm/ADT/MapVector.h"

namespace weft::interpret {

/// One value of a slot: nothing, what was stored, or what a message brings.
struct SlotValue {
  SlotValue() = default;
  explicit SlotValue(MeshValue value, std::shared_ptr<Message> message = nullptr)
      : value(std::move(value)), message(std::move(message)) {}

  MeshValue value;
  std::shared_ptr<Message> message;
  llvm::SmallVector<std::shared_ptr<Message>> sends; ///< that read it

  /// Empty when there is nothing yet.
  const MeshValue &get() const { return message && message->isHere ? message->value : value; }
};

/// The values of one slot: one, or one per microbatch.
struct Slot {
  sched::SlotKind kind;
  llvm::SmallVector<SlotValue> values;

  SlotValue &at(int64_t microbatch) { return values.size() == 1 ? values.front() : values[microbatch]; }
};

/// What an action stores, and where.
struct Store {
  sched::StoreOp op;
  SlotValue value;
};

/// A value that a step writes, and the type under which it does.
struct Write {
  MeshValue value;
  mlir::Type type;
};

/// What programs that run side by side share.
struct Traffic {
  explicit Traffic(const Ranks &ranks) : meetings(ranks) {}
  Messages messages;
  Meetings meetings;
};

struct Interpreter::Context {
  Context(const Variables &variables, Ranks ranks) : variables(variables), ranks(std::move(ranks)) {}

  const Variables &variables;
  Ranks ranks;
  llvm::MapVector<llvm::StringRef, Write> writes; ///< in program order
  int callDepth = 0;

  // Of a scheduled program.
  llvm::StringMap<Slot> slots;
  llvm::StringMap<Store> stores; ///< of the running action: slots get them when it ends
  int64_t microbatch = 0;        ///< of the running action

  // Of one among several that run side by side.
  Traffic *traffic = nullptr;
  int64_t pipelineRank = 0;
  llvm::DenseMap<mlir::Value, std::shared_ptr<Message>> arriving; ///< by what dist.receive gives
  llvm::DenseMap<mlir::Value, std::shared_ptr<Meeting>> meetings; ///< by the token of a collective
  std::string waitsFor; ///< why the op at which evaluation failed cannot be evaluated yet; else empty
};

/// A scheduled program on its way through its runs.
struct Interpreter::ProgramRun {
  ProgramRun(sched::ProgramOp program, const Variables &variables, const Ranks &ranks)
      : program(program), context(variables, ranks) {}

  sched::ProgramOp program;
  Context context;
  llvm::StringMap<sched::ActionOp> actions;
  llvm::SmallVector<sched::RunOp> runs;
  size_t next = 0;                            ///< the first run that has not ended
  std::optional<BlockWalk<MeshValue>> action; ///< of the run that has begun

  bool hasEnded() const { return next == runs.size(); }
};

/// The `index`-th of the tensors that are stacked along the first dimension.
absl::StatusOr<Tensor> partOfStack(const Tensor &stack, int64_t index);

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_CONTEXT_H
