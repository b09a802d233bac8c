//===- Interpreter.h - The meaning of a program, op by op -------------------===//
//
// Runs functions, steps and scheduled programs (before `fuse`) with the float64 reference. It is what every
// pass and every kernel is held against. A program in the local view runs on all ranks of its mesh in
// lockstep, nn ops rank by rank on parts, collectives between ranks; in the global view placements say
// nothing, and a pending value is its final one. What goes in and comes out is always whole. Errors are MLIR
// diagnostics at the op.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_INTERPRET_INTERPRETER_H
#define WEFT_COMPILER_INTERPRET_INTERPRETER_H

#include "compiler/interpret/Ranks.h"
#include "compiler/interpret/Variables.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

#include <deque>

namespace weft::interpret {

template <typename V> class BlockWalk;

/// Sees the values of a run as they arise.
class Observer {
public:
  virtual ~Observer() = default;
  /// The values of an op's results; that of a token is what the collective gives.
  virtual void computed(mlir::Operation *op, llvm::ArrayRef<MeshValue> operands,
                        llvm::ArrayRef<MeshValue> results, const Ranks &ranks) = 0;
  /// What was carried over all microbatches under this name.
  virtual void carried(llvm::StringRef name, mlir::Type type, const MeshValue &value, const Ranks &ranks) = 0;
};

class Interpreter {
public:
  /// The IR must not change while the interpreter lives.
  explicit Interpreter(Types types, Observer *observer = nullptr)
      : types(types), observer(observer), evaluator(types) {}

  /// The results of a function; `arguments` have the types of its arguments, whole. nn.read sees `variables`,
  /// and what the function writes replaces entries of them, as for a step.
  mlir::FailureOr<std::vector<Tensor>> run(mlir::func::FuncOp function, std::vector<Tensor> arguments,
                                           Variables &variables, std::vector<std::string> *written = nullptr);
  /// Where nobody asks what it writes.
  mlir::FailureOr<std::vector<Tensor>> run(mlir::func::FuncOp function, std::vector<Tensor> arguments,
                                           const Variables &variables) {
    Variables after = variables;
    return run(function, std::move(arguments), after);
  }

  /// One step: `inputs` in the order of its input names, with the types of prepare's arguments. Returns the
  /// values that update yields, in the order of their names. What the step writes replaces the entries of
  /// `variables` when all has succeeded, and `written`, if given, lists those symbols in program order.
  mlir::FailureOr<std::vector<Tensor>> run(nn::StepOp step, std::vector<Tensor> inputs, Variables &variables,
                                           std::vector<std::string> *written = nullptr);

  /// One run of a scheduled program: `inputs` in the order of its input slots; those that are per microbatch
  /// have the microbatches stacked along a new first dimension. Returns the output slots, in order; variables
  /// as for a step. Of a pipeline, the program of any rank stands for those of all (PipelinePrograms.h): they
  /// run side by side, and slots and variables come in the order of their first appearance.
  mlir::FailureOr<std::vector<Tensor>> run(sched::ProgramOp program, std::vector<Tensor> inputs,
                                           Variables &variables, std::vector<std::string> *written = nullptr);

private:
  using Values = llvm::SmallVector<MeshValue>;
  using WholeWrites = llvm::MapVector<llvm::StringRef, Tensor>;
  struct Context;
  struct ProgramRun;

  mlir::FailureOr<MeshValue> enter(mlir::Operation *op, const llvm::Twine &what, mlir::Type type,
                                   Tensor value, const Ranks &ranks) const;
  mlir::FailureOr<Values> enterAll(mlir::Operation *op, llvm::StringRef what, mlir::TypeRange types,
                                   std::vector<Tensor> values, const Ranks &ranks) const;
  mlir::FailureOr<Tensor> leave(mlir::Operation *op, const llvm::Twine &what, mlir::Type type,
                                const MeshValue &value, const Ranks &ranks) const;
  mlir::FailureOr<std::vector<Tensor>> leaveAll(mlir::Operation *op, mlir::TypeRange types,
                                                const Values &values, const Ranks &ranks) const;
  mlir::LogicalResult keepWrites(mlir::Operation *op, Context &context, Variables &variables,
                                 std::vector<std::string> *written) const;
  static void keep(WholeWrites writes, Variables &variables, std::vector<std::string> *written);

  mlir::LogicalResult fillInputs(llvm::ArrayRef<sched::ProgramOp> programs, std::vector<Tensor> inputs,
                                 std::deque<ProgramRun> &runs) const;
  mlir::FailureOr<Tensor> leave(const ProgramRun &run, const llvm::Twine &what, mlir::Type type,
                                const MeshValue &value) const;
  mlir::FailureOr<std::vector<Tensor>> takeOutputs(llvm::ArrayRef<sched::ProgramOp> programs,
                                                   std::deque<ProgramRun> &runs) const;
  mlir::LogicalResult keepWrites(std::deque<ProgramRun> &runs, Variables &variables,
                                 std::vector<std::string> *written) const;
  mlir::LogicalResult runSideBySide(std::deque<ProgramRun> &runs);
  mlir::FailureOr<bool> goOn(ProgramRun &run);
  mlir::LogicalResult endAction(Context &context) const;

  mlir::LogicalResult walkOn(BlockWalk<MeshValue> &walk, Context &context);
  mlir::FailureOr<Values> runBlock(mlir::Block &block, llvm::ArrayRef<MeshValue> arguments, Context &context);
  mlir::FailureOr<Values> evaluate(mlir::Operation *op, llvm::ArrayRef<MeshValue> operands, Context &context);
  mlir::FailureOr<Values> evaluateOnRanks(mlir::Operation *op, llvm::ArrayRef<MeshValue> operands,
                                          const Context &context);
  mlir::FailureOr<Values> evaluateRing(dist::RingOp ring, llvm::ArrayRef<MeshValue> operands,
                                       Context &context);
  mlir::FailureOr<Values> evaluateCall(mlir::func::CallOp call, llvm::ArrayRef<MeshValue> operands,
                                       Context &context);
  mlir::FailureOr<MeshValue> readVariable(nn::ReadOp op, const Context &context) const;
  mlir::FailureOr<MeshValue> slotValue(mlir::Operation *op, llvm::StringRef name, int64_t microbatch,
                                       Context &context) const;
  mlir::LogicalResult takeArrived(mlir::Operation *op, llvm::MutableArrayRef<MeshValue> operands,
                                  const Context &context) const;
  std::optional<mlir::FailureOr<Values>>
  evaluateTraffic(mlir::Operation *op, llvm::ArrayRef<MeshValue> operands, Context &context);
  mlir::FailureOr<Values> evaluateSend(dist::SendOp send, const MeshValue &value, Context &context) const;
  mlir::LogicalResult verifyLine(mlir::Operation *op, const Context &context) const;
  mlir::FailureOr<Values> runMicrobatches(nn::StepOp step, const Values &inputs, const Values &prepared,
                                          Context &context);
  mlir::LogicalResult foldCarried(nn::CarryOp carry, llvm::SmallVectorImpl<Values> &given) const;
  mlir::FailureOr<MeshValue> fold(nn::CarryOp carry, llvm::StringRef combiner,
                                  llvm::ArrayRef<MeshValue> leaves) const;
  mlir::FailureOr<MeshValue> combine(nn::CarryOp carry, llvm::StringRef combiner, const MeshValue &so,
                                     const MeshValue &next) const;

  Types types;
  Observer *observer;
  Evaluator evaluator;
};

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_INTERPRETER_H
