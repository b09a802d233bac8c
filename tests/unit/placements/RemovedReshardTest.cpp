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

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

#include <iostream>

namespace weft {
namespace {

/// A model on a mesh: what its run file adds to the smallest one.
struct Job {
  const char *name;
  std::vector<std::string> settings;
};

const std::vector<Job> &jobs() {
  static const std::vector<Job> list = {
      {"data_parallel", {"parallel.data_shard=2"}},
      {"zero_1", {"parallel.data_shard=4", "parallel.zero=1"}},
      {"zero_2", {"parallel.data_shard=2", "parallel.zero=2", "precision.recipe=bf16"}},
      {"zero_3", {"parallel.data_shard=2", "parallel.zero=3", "precision.recipe=bf16"}},
      {"hybrid_zero_3", {"parallel.data_replicate=2", "parallel.data_shard=2", "parallel.zero=3"}},
      {"canonical", {"parallel.data_shard=4", "train.reduction=canonical"}},
      {"canonical_hybrid_zero_3",
       {"parallel.data_replicate=2", "parallel.data_shard=2", "parallel.zero=3", "train.reduction=canonical",
        "model.tie_word_embeddings=true"}},
      {"tensor", {"parallel.tensor=2", "model.tie_word_embeddings=true"}},
      {"tensor_sequence_zero_1",
       {"parallel.data_shard=2", "parallel.tensor=2", "parallel.zero=1", "parallel.sequence=true"}},
      {"tied_embeddings_zero_2",
       {"parallel.data_shard=2", "parallel.tensor=2", "parallel.zero=2", "parallel.sequence=true",
        "model.tie_word_embeddings=true"}},
      {"ring_zero_1", {"parallel.context.size=2", "parallel.context.method=ring", "parallel.zero=1"}},
      {"query_groups_fewer_than_tensor", {"parallel.tensor=4", "parallel.sequence=true"}},
      {"odd_vocabulary",
       {"parallel.data_shard=3", "parallel.tensor=2", "parallel.zero=3", "model.vocab_size=259",
        "train.global_batch=12"}},
      {"pipeline", {"parallel.pipeline.size=2", "parallel.data_shard=2"}},
      {"pipeline_there_and_back",
       {"parallel.pipeline={size: 2, schedule: zb_v}", "model.num_hidden_layers=4", "parallel.tensor=2",
        "model.tie_word_embeddings=true"}},
      {"pipeline_canonical",
       {"parallel.pipeline={size: 3, schedule: zb_h1}", "model.num_hidden_layers=4", "parallel.data_shard=2",
        "parallel.zero=1", "train.reduction=canonical"}},
      {"pipeline_tensor_sequence_zero_3",
       {"parallel.pipeline={size: 2, schedule: interleaved}", "model.num_hidden_layers=4",
        "parallel.data_shard=2", "parallel.zero=3", "parallel.tensor=2", "parallel.sequence=true"}},
      {"pipeline_ring",
       {"parallel.pipeline={size: 2, schedule: gpipe}", "parallel.context.size=2",
        "parallel.context.method=ring"}},
  };
  return list;
}

constexpr char smallRun[] = R"(
model: {family: llama, hidden_size: 16, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2,
        intermediate_size: 32, vocab_size: 258}
tokenizer: {kind: bytes}
data: {train: [{path: corpus.txt}], sequence_length: 8}
optimizer: {kind: adamw, lr: 1.0e-3}
train: {steps: 4, micro_batch: 2, global_batch: 16}
)";

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
