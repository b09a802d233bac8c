//===- EmitTest.cpp - The modules of pipeline ranks become parts of a job --------===//
//
// A job of two pipeline ranks, written by hand: each holds a parameter of its own and one that both share.
//
//===----------------------------------------------------------------------===//
#include "passes/emit/Emit.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/memory/Memory.h"
#include "runtime/executable/Verify.h"

#include "absl/strings/str_replace.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace weft {
namespace {

using ::testing::ElementsAre;

const char *const kTwoRanks = R"(
#mesh = #dist.mesh<p0 = 2, d0 = 2 : pipeline = [p0], data = [d0]>
module attributes {dist.mesh = #mesh} {
  module @pipeline_rank_0 attributes {dist.mesh = #mesh, sched.pipeline_rank = 0 : i64} {
    nn.parameter @first : tensor<4xf32> constant {mean = 1.0}
    nn.parameter @shared : tensor<4xf32> constant {mean = 8.0}
    sched.program "step" microbatches(1) {
      sched.slot "input/x" input : tensor<4xf32>
      sched.slot "output/total" output : tensor<4xf32>
      sched.action "0F" {
        %x = sched.load "input/x" : tensor<4xf32>
        %shared = nn.read @shared : tensor<4xf32>
        %total = sched.launch "all_reduce"(%x) {settings = {axes = array<i64: 0>, kind = "sum"}} : (tensor<4xf32>) -> tensor<4xf32>
        sched.store "output/total", %total : tensor<4xf32>
      }
      sched.run "0F"
    }
  }
  module @pipeline_rank_1 attributes {dist.mesh = #mesh, sched.pipeline_rank = 1 : i64} {
    nn.parameter @last : tensor<4xf32> constant {mean = 2.0}
    nn.parameter @shared : tensor<4xf32> constant {mean = 8.0}
    sched.program "step" microbatches(1) {
      sched.slot "output/total" output : tensor<4xf32>
      sched.action "1F" {
        %last = nn.read @last : tensor<4xf32>
        %total = sched.launch "all_reduce"(%last) {settings = {axes = array<i64: 0>, kind = "sum"}} : (tensor<4xf32>) -> tensor<4xf32>
        sched.store "output/total", %total : tensor<4xf32>
      }
      sched.run "1F"
    }
  }
}
)";

class Emit : public ::testing::Test {
protected:
  Emit() {
    context.loadDialect<nn::NnDialect, dist::DistDialect, sched::SchedDialect>();
    context.disableMultithreading();
  }

  /// The parts of a job whose ranks' modules have no memory plan yet.
  FailureOr<std::vector<Executable>> emit(const std::string &text) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    PassManager manager(&context);
    manager.nest<ModuleOp>().addPass(createMemory());
    EXPECT_TRUE(succeeded(manager.run(*module)));
    ScopedDiagnosticHandler handler(&context, [this](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    return emitExecutables(*module);
  }

  MLIRContext context;
  std::string message;
};

TEST_F(Emit, EachRanksModuleIsAPart) {
  FailureOr<std::vector<Executable>> parts = emit(kTwoRanks);
  ASSERT_TRUE(succeeded(parts)) << message;
  ASSERT_EQ(parts->size(), 2u);
  for (Executable &part : *parts)
    part.target = {"avx2"};
  EXPECT_EQ(weft::verify(*parts), absl::OkStatus());
  EXPECT_EQ((*parts)[0].mesh.pipelineRanks(), 2);
  EXPECT_EQ((*parts)[0].programs[0].inputs.size(), 1u);
  EXPECT_EQ((*parts)[1].programs[0].inputs.size(), 0u);
  EXPECT_EQ((*parts)[1].programs[0].actions[0].name, "1F");
  EXPECT_EQ((*parts)[0].memory.arenaBytes(), (*parts)[1].memory.arenaBytes() + 64); // the input
}

TEST_F(Emit, AVariableBelongsToTheFirstRankThatHoldsIt) {
  FailureOr<std::vector<Executable>> parts = emit(kTwoRanks);
  ASSERT_TRUE(succeeded(parts)) << message;
  std::vector<std::pair<std::string, uint32_t>> owners;
  for (const Executable &part : *parts)
    for (const Variable &variable : part.variables)
      owners.emplace_back(variable.name, variable.pipelineOwner);
  EXPECT_THAT(owners, ElementsAre(std::pair("first", 0), std::pair("shared", 0), std::pair("last", 1),
                                  std::pair("shared", 0)));
}

TEST_F(Emit, RanksComeInTheirOrder) {
  EXPECT_TRUE(
      failed(emit(absl::StrReplaceAll(kTwoRanks, {{"sched.pipeline_rank = 1", "sched.pipeline_rank = 2"}}))));
  EXPECT_EQ(message, "is not that of pipeline rank 1, whose turn it is");
}

} // namespace
} // namespace weft
