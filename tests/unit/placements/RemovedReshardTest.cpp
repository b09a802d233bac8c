// Nothing that moves or reduces a value can be lost unseen: in programs of the model zoo, on several meshes,
// any single dist.reshard after `place`, and any single collective, slice, keep_first or mask after
// `partition`, is taken out (its users read its operand instead), and the verifier must refuse what is left.
// Of programs of pipeline ranks so is any single message, and any wait for one.
#include "compiler/Pipeline.h"
#include "compiler/model/BuildPrograms.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/pipeline/VerifyMessages.h"
#include "runtime/config/ConfigLoader.h"
#include "tests/unit/placements/Zoo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

#include <iostream>

namespace weft {
namespace {

bool isAccepted(mlir::ModuleOp module) {
  mlir::ScopedDiagnosticHandler quiet(module.getContext(),
                                      [](mlir::Diagnostic &) { return mlir::success(); });
  return mlir::succeeded(mlir::verify(module)) && mlir::succeeded(verifyMessages(module));
}

/// A message, or a wait for one: without it, and without the store of what it would have given.
bool isAcceptedWithoutMessage(mlir::ModuleOp module, mlir::Operation *op) {
  llvm::SmallVector<mlir::Operation *> removed(op->user_begin(), op->user_end());
  removed.push_back(op);
  llvm::SmallVector<std::pair<mlir::Block *, mlir::Operation *>> behind;
  for (mlir::Operation *each : removed) {
    behind.push_back({each->getBlock(), each->getNextNode()});
    each->remove();
  }
  bool accepted = isAccepted(module);
  for (size_t i = removed.size(); i-- > 0;) {
    auto [block, next] = behind[i];
    block->getOperations().insert(next ? next->getIterator() : block->end(), removed[i]);
  }
  return accepted;
}

bool isMessage(mlir::Operation *op) {
  return llvm::isa<dist::SendOp, dist::SendWaitOp, dist::ReceiveOp, dist::ReceiveWaitOp>(op);
}

/// Whether the program is still accepted when the users of `op` read its operand.
bool isAcceptedWithout(mlir::ModuleOp module, mlir::Operation *op) {
  if (isMessage(op))
    return isAcceptedWithoutMessage(module, op);
  mlir::Value result = op->getResult(0), operand = op->getOperand(0);
  if (auto wait = llvm::dyn_cast<dist::WaitOp>(op))
    operand = wait.getToken().getDefiningOp()->getOperand(0);
  llvm::SmallVector<mlir::OpOperand *> uses;
  for (mlir::OpOperand &use : result.getUses())
    uses.push_back(&use);
  for (mlir::OpOperand *use : uses)
    use->set(operand);
  bool accepted = isAccepted(module);
  for (mlir::OpOperand *use : uses)
    use->set(result);
  return accepted;
}

class RemovedReshard : public testing::TestWithParam<Job> {
protected:
  /// Takes out one op after another; how many there were.
  int64_t removeEach(const std::string &phase) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<nn::NnDialect, sched::SchedDialect, mlir::func::FuncDialect>();
    absl::StatusOr<LoadedConfig> loaded = loadConfigText(smallRun, "run.yaml", "/runs", GetParam().settings);
    if (!loaded.ok()) {
      ADD_FAILURE() << loaded.status();
      return 0;
    }
    mlir::OwningOpRef<mlir::ModuleOp> module = buildPrograms(&context, loaded->config);
    if (!module || failed(runPhases(*module, loaded->config, {.stopAfter = phase}))) {
      ADD_FAILURE() << GetParam().name << " does not compile to " << phase;
      return 0;
    }
    llvm::SmallVector<mlir::Operation *> removable;
    module->walk([&](mlir::Operation *op) {
      if ((llvm::isa<dist::ReshardOp, dist::WaitOp, dist::SliceOp, dist::KeepFirstOp, dist::MaskOp,
                     dist::TermOp>(op) &&
           !op->use_empty()) ||
          isMessage(op))
        removable.push_back(op);
    });
    for (mlir::Operation *op : removable)
      if (isAcceptedWithout(*module, op)) {
        std::string text;
        llvm::raw_string_ostream stream(text);
        op->print(stream);
        ADD_FAILURE() << GetParam().name << " after " << phase << " is accepted without " << text;
      }
    EXPECT_TRUE(isAccepted(*module));
    std::cout << GetParam().name << " after " << phase << ": " << removable.size() << " removals\n";
    return static_cast<int64_t>(removable.size());
  }
};

TEST_P(RemovedReshard, IsRefusedInTheGlobalView) { EXPECT_GT(removeEach("place"), 0); }
TEST_P(RemovedReshard, IsRefusedInTheLocalView) { EXPECT_GT(removeEach("partition"), 0); }
TEST_P(RemovedReshard, IsRefusedInScheduledPrograms) { EXPECT_GT(removeEach("schedule"), 0); }

INSTANTIATE_TEST_SUITE_P(Zoo, RemovedReshard, testing::ValuesIn(jobs()),
                         [](const testing::TestParamInfo<Job> &job) { return job.param.name; });

} // namespace
} // namespace weft
