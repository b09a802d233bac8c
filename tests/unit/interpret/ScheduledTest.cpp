// Scheduled programs: actions in the order of the runs, values between them in slots.
#include "tests/unit/interpret/Program.h"

namespace weft::interpret {
namespace {

const char *kProgram = R"(
nn.state @total : tensor<f32> constant
sched.program "train" microbatches(2) {
  sched.slot "input/x" input : tensor<2xf32> {per_microbatch}
  sched.slot "carried/sum" carried : tensor<f32>
  sched.slot "output/sum" output : tensor<f32>
  sched.action "forward" per_microbatch {
    %x = sched.load "input/x" : tensor<2xf32>
    %before = sched.load "carried/sum" : tensor<f32>
    %s = nn.reduce sum %x [0] : tensor<2xf32> -> tensor<f32>
    %after = nn.add %before, %s : tensor<f32>
    sched.store "carried/sum", %after : tensor<f32>
  }
  sched.action "prepare" {
    %zero = nn.constant dense<0.0> : tensor<f32>
    sched.store "carried/sum", %zero : tensor<f32>
  }
  sched.action "update" {
    %sum = sched.load "carried/sum" : tensor<f32>
    %old = nn.read @total : tensor<f32>
    %new = nn.add %old, %sum : tensor<f32>
    nn.write @total, %new : tensor<f32>
    sched.store "output/sum", %sum : tensor<f32>
  }
  RUNS
}
)";

mlir::FailureOr<std::vector<Tensor>> run(Program &program, std::vector<Tensor> inputs) {
  sched::ProgramOp scheduled = *program.module->getBody()->getOps<sched::ProgramOp>().begin();
  Interpreter interpreter(Types::Exact);
  return interpreter.run(scheduled, std::move(inputs), program.variables, &program.written);
}

std::string withRuns(const std::string &runs) {
  std::string text = kProgram;
  return text.replace(text.find("RUNS"), 4, runs);
}

TEST(Scheduled, RunsActionsInOrderAndWritesAtTheEnd) {
  Program program(
      withRuns("sched.run \"prepare\" sched.run \"forward\" 0 sched.run \"forward\" 1 sched.run \"update\""));
  program.variables["total"] = reals({}, {100});
  auto outputs = run(program, {reals({2, 2}, {1, 2, 3, 4})});
  ASSERT_TRUE(mlir::succeeded(outputs)) << program.messages;
  EXPECT_EQ((*outputs)[0], reals({}, {10}));
  EXPECT_EQ(program.variables["total"], reals({}, {110}));
  EXPECT_EQ(program.written, std::vector<std::string>{"total"});
}

TEST(Scheduled, AReadOfAnEmptySlotIsRefused) {
  Program program(
      withRuns("sched.run \"forward\" 0 sched.run \"forward\" 1 sched.run \"prepare\" sched.run \"update\""));
  program.variables["total"] = reals({}, {100});
  EXPECT_TRUE(mlir::failed(run(program, {reals({2, 2}, {1, 2, 3, 4})})));
  EXPECT_EQ(program.messages, "'sched.load' op reads slot \"carried/sum\" before anything is stored there\n");
  EXPECT_EQ(program.variables["total"], reals({}, {100}));
}

TEST(Scheduled, RefusesOtherInputs) {
  Program program(
      withRuns("sched.run \"prepare\" sched.run \"forward\" 0 sched.run \"forward\" 1 sched.run \"update\""));
  EXPECT_TRUE(mlir::failed(run(program, {})));
  EXPECT_TRUE(mlir::failed(run(program, {reals({3, 2}, {1, 2, 3, 4, 5, 6})})));
  EXPECT_TRUE(mlir::failed(run(program, {reals({2, 2}, {1, 2, 3, 4}), reals({}, {1})})));
  EXPECT_EQ(program.messages,
            "'sched.program' op takes more than 0 inputs\n"
            "'sched.program' op slot \"input/x\" takes 2 stacked values, got tensor<3x2xf32>\n"
            "'sched.program' op takes 1 inputs, not 2\n");
}

} // namespace
} // namespace weft::interpret
