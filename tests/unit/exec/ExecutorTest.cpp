#include "runtime/exec/Executor.h"
#include "tests/unit/device/TestKernels.h"
#include "tests/unit/executable/SampleExecutable.h"
#include "tests/unit/executable/SampleInFlight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::testing {
namespace {

using ::testing::ElementsAre;

class ExecutorTest : public ::testing::Test {
protected:
  std::unique_ptr<Device> device = createTestDevice(2);

  std::unique_ptr<Executor> load(Executable executable) {
    absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::create(std::move(executable), *device);
    EXPECT_EQ(executor.status(), absl::OkStatus());
    return *std::move(executor);
  }
  absl::Status refusal(Executable executable) {
    return Executor::create(std::move(executable), *device).status();
  }
};

std::vector<float> values(const HostTensor &tensor) {
  std::span<float> all = tensor.as<float>();
  return {all.begin(), all.end()};
}
void fill(const HostTensor &tensor, std::vector<float> numbers) {
  std::copy(numbers.begin(), numbers.end(), tensor.as<float>().begin());
}

/// w = 1 2 3 4, x = 1 1 1 1 in the first microbatch and 2 2 2 2 in the second.
void fillSample(Executor &executor) {
  ProgramHandle step = *executor.program("step");
  fill(*executor.variable("w"), {1, 2, 3, 4});
  fill(*executor.input(step, "x", 0), {1, 1, 1, 1});
  fill(*executor.input(step, "x", 1), {2, 2, 2, 2});
}

TEST_F(ExecutorTest, RunsPrepareThenEachMicrobatchThenUpdate) {
  std::unique_ptr<Executor> executor = load(sampleExecutable());
  ProgramHandle step = *executor->program("step");
  fillSample(*executor);
  ASSERT_EQ(executor->run(step), absl::OkStatus());
  EXPECT_THAT(values(*executor->output(step, "gradient")), ElementsAre(3, 6, 9, 12)); // (1 + 2) w
  EXPECT_THAT(values(executor->variable(0)), ElementsAre(-0.5, -1, -1.5, -2));        // w - 0.5 * 3 w
  ASSERT_EQ(executor->run("step"), absl::OkStatus());
  EXPECT_THAT(values(*executor->variable("w")), ElementsAre(0.25, 0.5, 0.75, 1));
}

TEST_F(ExecutorTest, WhoeverReadsVariablesIsWaitedForBeforeTheyAreWritten) {
  std::unique_ptr<Executor> executor = load(sampleExecutable());
  fillSample(*executor);
  int waits = 0;
  std::vector<float> seen;
  executor->setBeforeWrites([&] {
    ++waits;
    seen = values(executor->variable(0));
  });
  ASSERT_EQ(executor->run("step"), absl::OkStatus());
  EXPECT_EQ(waits, 1);
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values(executor->variable(0)), ElementsAre(-0.5, -1, -1.5, -2));
  executor->setBeforeWrites(nullptr);
  ASSERT_EQ(executor->run("step"), absl::OkStatus());
  EXPECT_EQ(waits, 1);
}

TEST_F(ExecutorTest, AProgramThatWritesNoVariableWaitsForNobody) {
  Executable executable = sampleExecutable();
  executable.programs[0].arguments.back() = {kScratch, 0}; // what the update writes
  std::unique_ptr<Executor> executor = load(std::move(executable));
  fillSample(*executor);
  executor->setBeforeWrites([] { ADD_FAILURE() << "it waited"; });
  ASSERT_EQ(executor->run("step"), absl::OkStatus());
}

TEST_F(ExecutorTest, AllocatesExactlyThePlan) {
  Executable executable = sampleExecutable();
  uint64_t planned = executable.memory.arenaBytes();
  std::unique_ptr<Executor> executor = load(std::move(executable));
  EXPECT_EQ(executor->allocatedBytes(), planned);
  EXPECT_EQ(executor->allocatedBytes(), 512u);
}

TEST_F(ExecutorTest, AFourthMicrobatchUsesTheFirstSlotOfThree) {
  // Slots colored for 3 microbatches in flight, 6 microbatches: `kept` is microbatch m's x, in slot m mod 3.
  Executable executable = sampleExecutable();
  executable.memory.bases[kInputs].slotCount = 6;
  executable.memory.bases.push_back({"kept", BaseKind::Slots, 3, 64});
  executable.memory.rows.push_back({"activations", "kept", 192 + 4 * 64});
  Program &step = executable.programs[0];
  step.microbatches = 6;
  step.schedule = {{0, kNone}};
  for (uint32_t m = 0; m < 6; ++m)
    step.schedule.push_back({1, m});
  step.schedule.push_back({2, kNone});
  step.commands[1] = {CommandKind::Copy, 1, 1, kNone, 2, 1, {}, 16}; // kept = x
  step.arguments = {{kConstants, 0},  {kStep, 0},    {kInputs, 0},    {6, 0},           {kStep, 0},
                    {6, 0},           {kStep, 0},    {kStep, 0},      {kConstants, 64}, {kScratch, 0},
                    {kParameters, 0}, {kScratch, 0}, {kParameters, 0}};
  step.commands[2].firstArgument = 4;
  step.commands[3].firstArgument = 7;
  step.commands[4].firstArgument = 10;
  std::unique_ptr<Executor> executor = load(std::move(executable));
  ProgramHandle handle = *executor->program("step");
  for (uint32_t m = 0; m < 6; ++m)
    fill(*executor->input(handle, "x", m), {1.0f * m, 0, 0, 10.0f * m});
  std::vector<const void *> slots;
  executor->setObserver([&](const CommandRecord &record) {
    if (record.command == 1)
      slots.push_back(record.results[0]);
  });
  ASSERT_EQ(executor->run(handle), absl::OkStatus());
  EXPECT_THAT(values(*executor->output(handle, "gradient")), ElementsAre(15, 0, 0, 150));
  ASSERT_EQ(slots.size(), 6u);
  EXPECT_NE(slots[0], slots[1]);
  EXPECT_NE(slots[1], slots[2]);
  EXPECT_EQ(slots[3], slots[0]);
  EXPECT_EQ(slots[5], slots[2]);
}

TEST_F(ExecutorTest, ValuesInFlightLieWhereTheirMicrobatchHasItsPlace) {
  Executable executable = sampleInFlight();
  const uint64_t region = executable.memory.starts()[kFlightRegion];
  std::unique_ptr<Executor> executor = load(std::move(executable));
  EXPECT_EQ(executor->allocatedBytes(), 448u); // three values in flight take two places
  ProgramHandle step = *executor->program("step");
  for (uint32_t m = 0; m < 3; ++m)
    fill(*executor->input(step, "x", m), {1.0f * m, 1, 10, 100.0f * m});
  std::vector<ptrdiff_t> places;
  executor->setObserver([&](const CommandRecord &record) {
    if (record.command != 0)
      places.push_back(
          static_cast<const std::byte *>(record.command == 1 ? record.results[0] : record.operands[1]) -
          executor->output(step, "sum")->bytes.data() + 256);
  });
  ASSERT_EQ(executor->run(step), absl::OkStatus());
  const auto first = static_cast<ptrdiff_t>(region), second = first + 64;
  EXPECT_THAT(places, ElementsAre(first, second, first, first, second, first)); // F0 F1 B0 F2 B1 B2
  EXPECT_THAT(values(*executor->output(step, "sum")), ElementsAre(6, 6, 60, 600));
  executor->setObserver(nullptr);
  ASSERT_EQ(executor->run(step), absl::OkStatus());
  EXPECT_THAT(values(*executor->output(step, "sum")), ElementsAre(6, 6, 60, 600));
}

TEST_F(ExecutorTest, TheObserverSeesEveryCommandOnceItIsDone) {
  std::unique_ptr<Executor> executor = load(sampleExecutable());
  fillSample(*executor);
  std::vector<std::string> seen;
  std::vector<float> firstResults;
  executor->setObserver([&](const CommandRecord &record) {
    seen.push_back(absl::StrCat(record.command, " ", record.microbatch == kNone ? -1 : int(record.microbatch),
                                " ", record.call == nullptr ? "copy" : record.call->name, " ",
                                std::string(record.location)));
    firstResults.push_back(*static_cast<const float *>(record.results[0]));
  });
  ASSERT_EQ(executor->run("step"), absl::OkStatus());
  EXPECT_THAT(seen, ElementsAre("0 -1 copy prepare", "1 0 multiply layer 0 (model.mlir:3)",
                                "2 0 add layer 0 (model.mlir:3)", "1 1 multiply layer 0 (model.mlir:3)",
                                "2 1 add layer 0 (model.mlir:3)", "3 -1 multiply update", "4 -1 add update"));
  EXPECT_THAT(firstResults, ElementsAre(0, 1, 1, 2, 3, -1.5, -0.5));
  executor->setObserver(nullptr);
  ASSERT_EQ(executor->run("step"), absl::OkStatus());
  EXPECT_EQ(seen.size(), 7u);
}

TEST_F(ExecutorTest, TimesAreThoseOfEachItemAndCommandInOrder) {
  std::unique_ptr<Executor> executor = load(sampleExecutable());
  fillSample(*executor);
  const Program &step = executor->executable().programs[0];
  RunTimes times(step);
  for (int run = 0; run < 2; ++run) {
    int64_t last = monotonicNanoseconds();
    ASSERT_EQ(executor->run(*executor->program("step"), &times), absl::OkStatus());
    const int64_t end = monotonicNanoseconds();
    std::vector<ScheduleItem> seen;
    for (const ItemTimes &item : times.items()) {
      seen.push_back(item.item);
      EXPECT_LE(last, item.start);
      last = item.start;
      ASSERT_EQ(item.ends.size(), step.actions[item.item.action].commandCount);
      for (size_t i = 0; i < item.ends.size(); ++i) {
        EXPECT_EQ(item.of(i), item.ends[i] - last);
        EXPECT_LE(last, item.ends[i]);
        last = item.ends[i];
      }
      EXPECT_EQ(item.end(), last);
    }
    EXPECT_LE(last, end);
    EXPECT_EQ(seen, step.schedule);
  }
  EXPECT_THAT(values(executor->variable(0)), ElementsAre(0.25, 0.5, 0.75, 1)) << "as without times";
}

TEST_F(ExecutorTest, TimesOfAnotherProgramAreRefused) {
  std::unique_ptr<Executor> executor = load(sampleExecutable());
  Program other = sampleStep();
  other.name = "evaluate";
  RunTimes times(other);
  absl::Status status = executor->run(*executor->program("step"), &times);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "program 'step': the times are made for another, 'evaluate'. Make them for the program "
            "that runs");
}

TEST_F(ExecutorTest, TwoExecutorsOnOneDeviceShareNothing) {
  std::unique_ptr<Executor> one = load(sampleExecutable()), other = load(sampleExecutable());
  fillSample(*one);
  ASSERT_EQ(one->run("step"), absl::OkStatus());
  EXPECT_THAT(values(*other->variable("w")), ElementsAre(0, 0, 0, 0));
}

TEST_F(ExecutorTest, UnknownNamesAreAnsweredWithTheKnownOnes) {
  std::unique_ptr<Executor> executor = load(sampleExecutable());
  ProgramHandle step = *executor->program("step");
  EXPECT_EQ(executor->program("evaluate").status().message(), "no program 'evaluate'. There are: step");
  EXPECT_EQ(executor->run("evaluate").message(), "no program 'evaluate'. There are: step");
  EXPECT_EQ(executor->input(step, "y").status().message(), "program 'step' has no input 'y'. There are: x");
  EXPECT_EQ(executor->output(step, "loss").status().message(),
            "program 'step' has no output 'loss'. There are: gradient");
  EXPECT_EQ(executor->variable("v").status().message(), "no variable 'v' in this executable");
  EXPECT_EQ(executor->input(step, "x", 2).status().message(), "program 'step', input 'x': microbatch 2 of 2");
}

TEST_F(ExecutorTest, AnotherTargetIsRefused) {
  Executable executable = sampleExecutable();
  executable.target = {"avx512"};
  EXPECT_EQ(refusal(executable).message(),
            "the executable is for avx512, device cpu is test. Compile it here: weft "
            "compile RUN.yaml -o RUN.weft");
}

TEST_F(ExecutorTest, WhatDoesNotVerifyIsRefused) {
  Executable executable = sampleExecutable();
  executable.programs[0].schedule.pop_back();
  EXPECT_EQ(refusal(executable).message(), "program 'step': action 'update' is never scheduled");
}

TEST_F(ExecutorTest, AKernelThatTheDeviceLacksIsNamed) {
  Executable executable = sampleExecutable();
  executable.kernels[1].call.name = "subtract";
  EXPECT_EQ(refusal(executable).message(),
            "kernel 1 subtract(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>): no "
            "kernel 'subtract' on this device");
}

TEST_F(ExecutorTest, AKernelWithAnotherWorkspaceIsRefused) {
  Executable executable = sampleExecutable();
  executable.kernels[0].call.setInteger("workspace", 128);
  EXPECT_EQ(refusal(executable).message(),
            "kernel 0 multiply(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>): the plan holds 64 bytes of "
            "workspace, "
            "this device's kernel uses 128. Compile it here: weft compile RUN.yaml -o RUN.weft");
}

TEST_F(ExecutorTest, AnAliasThatTheKernelDoesNotAllowIsRefused) {
  Executable executable = sampleExecutable();
  executable.programs[0].arguments[10] = {kStep, 0}; // multiply into its own operand
  EXPECT_EQ(
      refusal(executable).message(),
      "program 'step', command 3 (update): result 0 overwrites operand 0 of multiply(tensor<4xf32>, "
      "tensor<4xf32>) -> (tensor<4xf32>), which this device's kernel does not allow. Compile it here: weft "
      "compile RUN.yaml -o RUN.weft");
}

TEST_F(ExecutorTest, APartialOverlapIsRefusedEvenWhereTheKernelAllowsAliases) {
  Executable executable = sampleExecutable();
  TensorType large{DType::F32, {32}};
  executable.memory.bases[kStep].slotBytes = 192;
  executable.memory.rows[1].bytes += 128;
  executable.memory.bases[kScratch].slotBytes = 128;
  executable.memory.rows[4].bytes += 64;
  executable.kernels[1].call = {"add", {large, large}, {large}, {}};
  executable.programs[0].arguments[7] = {kStep,
                                         64}; // command 2: add(step+0, scratch) -> step+64, 128 bytes each
  executable.programs[0].arguments[11] = {kStep, 0}; // command 4: within their bases
  executable.programs[0].arguments[12] = {kStep, 0};
  executable.programs[0].arguments[13] = {kStep, 0};
  absl::Status status = refusal(executable);
  EXPECT_EQ(status.message().substr(0, 88),
            "program 'step', command 2 (layer 0 (model.mlir:3)): result 0 overwrites operand 0 of add");
}

TEST_F(ExecutorTest, MemoryThatCannotBeHadIsRefused) {
  Executable executable = sampleExecutable();
  executable.memory.bases[kScratch].slotBytes = uint64_t{1} << 55;
  executable.memory.rows[4].bytes = uint64_t{1} << 55;
  EXPECT_EQ(refusal(executable).code(), absl::StatusCode::kResourceExhausted);
}

} // namespace
} // namespace weft::testing
