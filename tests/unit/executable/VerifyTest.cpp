#include "runtime/executable/Verify.h"
#include "tests/unit/executable/SampleExecutable.h"
#include "tests/unit/executable/SampleMeshExecutable.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace weft::testing {
namespace {

struct Broken {
  const char *name;
  std::function<void(Executable &)> change;
  const char *message;
};

Program &step(Executable &executable) { return executable.programs[0]; }

class VerifyRefuses : public ::testing::TestWithParam<Broken> {};

TEST_P(VerifyRefuses, WithItsMessage) {
  Executable executable = sampleExecutable();
  GetParam().change(executable);
  absl::Status status = verify(executable);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), GetParam().message);
}

TEST(Verify, AcceptsTheSample) { EXPECT_EQ(verify(sampleExecutable()), absl::OkStatus()); }

TEST(Verify, AcceptsAnActionThatRunsOnceAndReachesEverySlot) {
  Executable executable = sampleExecutable();
  step(executable).arguments[0] = {kInputs, 64}; // the second microbatch's slot, from prepare
  EXPECT_EQ(verify(executable), absl::OkStatus());
}

const Broken kMemory[] = {
    {"InstructionSet", [](Executable &e) { e.target.instructionSet = ""; },
     "target: no instruction set is named"},
    {"BaseKind", [](Executable &e) { e.memory.bases[3].kind = BaseKind{9}; }, "base 'step': unknown kind 9"},
    {"SlotCount", [](Executable &e) { e.memory.bases[2].slotCount = 0; },
     "base 'inputs': slot_count is 0, a base has at least 1 slot"},
    {"SlotBytes", [](Executable &e) { e.memory.bases[3].slotBytes = 65; },
     "base 'step': slot_bytes 65 is not a multiple of 64"},
    {"BaseSize", [](Executable &e) { e.memory.bases[3].slotBytes = uint64_t{1} << 63; },
     "base 'step': larger than 2^56 bytes"},
    {"PlanSize", [](Executable &e) { e.memory.bases[3].slotBytes = uint64_t{1} << 56; },
     "base 'step': with it the plan is larger than 2^56 bytes"},
    {"ConstantSlots", [](Executable &e) { e.memory.bases[0].slotCount = 2; },
     "base 'constants': constants have 1 slot, not 2"},
    {"ConstantContents", [](Executable &e) { e.memory.bases[0].contents.pop_back(); },
     "base 'constants': 127 bytes of contents, expected 128"},
    {"OtherContents", [](Executable &e) { e.memory.bases[1].contents = "x"; },
     "base 'parameters': 1 bytes of contents, expected 0"},
    {"BaseNames", [](Executable &e) { e.memory.bases[1].name = "constants"; },
     "base 'constants': names of bases must be unique and not empty"},
    {"SecondSnapshot",
     [](Executable &e) {
       e = withSnapshot(withSnapshot(e));
       e.memory.bases.back().name = "again";
     },
     "base 'again': a second snapshot beside 'snapshot'"},
    {"SnapshotSize",
     [](Executable &e) {
       e = withSnapshot(e);
       e.memory.bases.back().slotBytes = 128;
     },
     "base 'snapshot': 128 bytes, and the one base of parameters that it is a copy of would have 64"},
    {"RowSum", [](Executable &e) { e.memory.rows[0].bytes = 63; },
     "memory: the rows inside the arena add up to 511 bytes, the bases to 512"},
    {"RowOverflow", [](Executable &e) { e.memory.rows[1].bytes = ~uint64_t{0}; },
     "memory row gradients 'model': with it the table is larger than 2^56 bytes"},
};

const Broken kVariablesAndKernels[] = {
    {"VariableName", [](Executable &e) { e.variables.push_back(e.variables[0]); },
     "variable 'w': names of variables must be unique and not empty"},
    {"CheckpointName", [](Executable &e) { e.variables[0].checkpointName = ""; },
     "variable 'w': checkpoint name '' must be unique and not empty"},
    {"VariableBase", [](Executable &e) { e.variables[0].reference = {kStep, 0}; },
     "variable 'w': base 'step' is of kind step, variables live in parameters"},
    {"VariableEnd", [](Executable &e) { e.variables[0].type.shape = {17}; },
     "variable 'w': 68 bytes at offset 0 pass the end of base 'parameters' (64 bytes)"},
    {"SharedMemory",
     [](Executable &e) {
       e.variables.push_back(e.variables[0]);
       e.variables[1].name = e.variables[1].checkpointName = "v";
     },
     "variables 'w' and 'v' share memory"},
    {"ElementType", [](Executable &e) { e.variables[0].type.dtype = DType{7}; },
     "variable 'w': unknown element type 7"},
    {"EmptyDimension", [](Executable &e) { e.variables[0].type.shape = {4, 0}; },
     "variable 'w': tensor<4x0xf32> has a dimension of size 0, sizes start at 1"},
    {"NegativeDimension", [](Executable &e) { e.variables[0].type.shape = {-4}; },
     "variable 'w': tensor<-4xf32> has a dimension of size -4, sizes start at 1"},
    {"Overflow", [](Executable &e) { e.variables[0].type.shape = {1ll << 40, 1ll << 40}; },
     "variable 'w': tensor<1099511627776x1099511627776xf32> is larger than 2^56 bytes"},
    {"Rank", [](Executable &e) { e.variables[0].type.shape.assign(33, 1); },
     "variable 'w': rank 33, at most 32 is allowed"},
    {"Initializer", [](Executable &e) { e.variables[0].initializer.kind = InitializerKind{6}; },
     "variable 'w': unknown initializer 6"},
    {"InitializerNumbers", [](Executable &e) { e.variables[0].initializer.numbers = {1}; },
     "variable 'w': initializer normal takes 2 numbers, not 1"},
    {"InitializerFinite",
     [](Executable &e) { e.variables[0].initializer.numbers[0] = std::numeric_limits<double>::infinity(); },
     "variable 'w': initializer normal has a number that is not finite"},
    {"InitializerDeviation", [](Executable &e) { e.variables[0].initializer.numbers[1] = -1; },
     "variable 'w': initializer normal has standard deviation -1"},
    {"InitializerBounds",
     [](Executable &e) { e.variables[0].initializer = {InitializerKind::Uniform, {2, 1}}; },
     "variable 'w': initializer uniform has lowest value 2 above highest value 1"},
    {"CacheName", [](Executable &e) { e.caches.push_back(e.caches[0]); },
     "cache 'seen': names of caches must be unique and not empty"},
    {"CacheBase", [](Executable &e) { e.caches[0].reference = {kParameters, 0}; },
     "cache 'seen': base 'parameters' is of kind parameters, caches live in step"},
    {"CacheEnd", [](Executable &e) { e.caches[0].type.shape = {17}; },
     "cache 'seen': 68 bytes at offset 0 pass the end of base 'step' (64 bytes)"},
    {"CacheType", [](Executable &e) { e.caches[0].type.dtype = DType{7}; },
     "cache 'seen': unknown element type 7"},
    {"CachesShareMemory",
     [](Executable &e) {
       e.caches.push_back(e.caches[0]);
       e.caches[1].name = "other";
     },
     "caches 'seen' and 'other' share memory"},
    {"KernelName", [](Executable &e) { e.kernels[1].call.name = ""; }, "kernel 1 '': a kernel has a name"},
    {"KernelWorkspace", [](Executable &e) { e.kernels[1].workspaceBytes = ~uint64_t{0}; },
     "kernel 1 'add': workspace of 18446744073709551615 bytes, at most 2^56 are allowed"},
    {"KernelType", [](Executable &e) { e.kernels[1].call.results[0].dtype = DType{200}; },
     "kernel 1 'add': unknown element type 200"},
};

const Broken kProgram[] = {
    {"ProgramNames", [](Executable &e) { e.programs.push_back(e.programs[0]); },
     "program 'step': names of programs must be unique and 1 to 255 bytes long"},
    {"Microbatches", [](Executable &e) { step(e).microbatches = 0; },
     "program 'step': microbatches is 0, at least 1 is needed"},
    {"InputNames", [](Executable &e) { step(e).inputs.push_back(step(e).inputs[0]); },
     "program 'step', input 'x': names of inputs must be unique and not empty"},
    {"InputBase", [](Executable &e) { step(e).inputs[0].reference = {kStep, 0}; },
     "program 'step', input 'x': base 'step' is of kind step, inputs live in inputs"},
    {"InputSlots", [](Executable &e) { step(e).microbatches = 3; },
     "program 'step', input 'x': base 'inputs' has 2 slots for 3 microbatches"},
    {"InputInSlot", [](Executable &e) { step(e).inputs[0].reference = {kInputs, 64}; },
     "program 'step', input 'x': 16 bytes at offset 64 pass the end of a slot of base 'inputs' (64 bytes)"},
    {"OutputNames", [](Executable &e) { step(e).outputs[0].name = ""; },
     "program 'step', output '': names of outputs must be unique and not empty"},
    {"OutputBase", [](Executable &e) { step(e).outputs[0].reference = {kScratch, 0}; },
     "program 'step', output 'gradient': base 'scratch' is of kind scratch, which does not live to the end "
     "of the "
     "program"},
    {"ActionNames", [](Executable &e) { step(e).actions[2].name = "prepare"; },
     "program 'step', action 'prepare': names of actions must be unique and not empty"},
    {"ActionStart", [](Executable &e) { step(e).actions[1].firstCommand = 2; },
     "program 'step', action 'forward_backward': starts at command 2, the actions before it end at 1"},
    {"ActionEnd", [](Executable &e) { step(e).actions[2].commandCount = ~0u; },
     "program 'step', action 'update': ends at command 4294967298 of 5"},
    {"ActionCover", [](Executable &e) { step(e).actions[2].commandCount = 1; },
     "program 'step': the actions end at command 4 of 5"},
    {"ArgumentCover", [](Executable &e) { step(e).arguments.push_back({}); },
     "program 'step': the commands use 14 of 15 arguments"},
    {"ScheduleAction", [](Executable &e) { step(e).schedule[0].action = 3; },
     "program 'step', schedule item 0: action 3 of 3"},
    {"ScheduleOrder", [](Executable &e) { std::swap(step(e).schedule[1], step(e).schedule[2]); },
     "program 'step', schedule item 1: action 'forward_backward' takes microbatches in ascending order, "
     "expected 0, "
     "found 1"},
    {"ScheduleNone", [](Executable &e) { step(e).schedule[1].microbatch = kNone; },
     "program 'step', schedule item 1: action 'forward_backward' takes microbatches in ascending order, "
     "expected 0, "
     "found none"},
    {"ScheduleMicrobatch", [](Executable &e) { step(e).schedule[0].microbatch = 0; },
     "program 'step', schedule item 0: action 'prepare' is not per microbatch, found microbatch 0"},
    {"ScheduleCount", [](Executable &e) { step(e).schedule.erase(step(e).schedule.begin() + 2); },
     "program 'step': action 'forward_backward' is scheduled for 1 of 2 microbatches"},
    {"ScheduleNever", [](Executable &e) { step(e).schedule.pop_back(); },
     "program 'step': action 'update' is never scheduled"},
};

const Broken kCommands[] = {
    {"Location", [](Executable &e) { step(e).commands[1].location = 3; },
     "program 'step', command 1: location 3 of 3"},
    {"Kind", [](Executable &e) { step(e).commands[1].kind = CommandKind{2}; },
     "program 'step', command 1 (layer 0 (model.mlir:3)): unknown kind 2"},
    {"Kernel", [](Executable &e) { step(e).commands[1].kernel = 2; },
     "program 'step', command 1 (layer 0 (model.mlir:3)): kernel 2 of 2"},
    {"OperandCount", [](Executable &e) { step(e).commands[1].operandCount = 1; },
     "program 'step', command 1 (layer 0 (model.mlir:3)): 1 operands and 1 results, kernel multiply takes 2 "
     "and 1"},
    {"FirstArgument", [](Executable &e) { step(e).commands[1].firstArgument = 0; },
     "program 'step', command 1 (layer 0 (model.mlir:3)): its arguments start at 0, those before it end at "
     "2"},
    {"ArgumentEnd", [](Executable &e) { step(e).commands[4].resultCount = 2; },
     "program 'step', command 4 (update): its arguments end at 15 of 14"},
    {"LaunchCopies", [](Executable &e) { step(e).commands[1].copyBytes = 4; },
     "program 'step', command 1 (layer 0 (model.mlir:3)): a launch copies no bytes"},
    {"NoWorkspace", [](Executable &e) { step(e).commands[2].workspace = {kWorkspace, 0}; },
     "program 'step', command 2 (layer 0 (model.mlir:3)): kernel add needs no workspace"},
    {"WorkspaceBase", [](Executable &e) { step(e).commands[1].workspace = {kInputs, 0}; },
     "program 'step', command 1 (layer 0 (model.mlir:3)), workspace: base 'inputs' is of kind inputs, which "
     "holds no "
     "workspace"},
    {"WorkspaceEnd", [](Executable &e) { step(e).commands[1].workspace = {kWorkspace, 64}; },
     "program 'step', command 1 (layer 0 (model.mlir:3)), workspace: 64 bytes at offset 64 pass the end of a "
     "slot of "
     "base 'workspace' (64 bytes)"},
    {"CopyCounts", [](Executable &e) { step(e).commands[0].operandCount = 2; },
     "program 'step', command 0 (prepare): a copy has 1 operand and 1 result, not 2 and 1"},
    {"CopyBytes", [](Executable &e) { step(e).commands[0].copyBytes = 0; },
     "program 'step', command 0 (prepare): a copy of 0 bytes"},
    {"CopyKernel", [](Executable &e) { step(e).commands[0].kernel = 0; },
     "program 'step', command 0 (prepare): a copy has no kernel and no workspace"},
    {"CopyOverlap", [](Executable &e) { step(e).arguments[0] = {kStep, 0}; },
     "program 'step', command 0 (prepare): source and destination of a copy share memory in base 'step'"},
    {"Base", [](Executable &e) { step(e).arguments[2].base = 6; },
     "program 'step', command 1 (layer 0 (model.mlir:3)), operand 0: base 6 of 6"},
    {"Alignment", [](Executable &e) { step(e).arguments[2].offset = 4; },
     "program 'step', command 1 (layer 0 (model.mlir:3)), operand 0: offset 4 in base 'inputs' is not a "
     "multiple of "
     "64"},
    {"OffsetOverflow", [](Executable &e) { step(e).arguments[2].offset = ~uint64_t{63}; },
     "program 'step', command 1 (layer 0 (model.mlir:3)), operand 0: 16 bytes at offset 18446744073709551552 "
     "pass the "
     "end of a slot of base 'inputs' (64 bytes)"},
    {"WritesInputs", [](Executable &e) { step(e).arguments[4] = {kInputs, 0}; },
     "program 'step', command 1 (layer 0 (model.mlir:3)), result 0: base 'inputs' is of kind inputs, which "
     "no command "
     "writes"},
    {"WritesConstants", [](Executable &e) { step(e).arguments[13] = {kConstants, 0}; },
     "program 'step', command 4 (update), result 0: base 'constants' is of kind constants, which no command "
     "writes"},
    {"ResultInWorkspace", [](Executable &e) { step(e).arguments[4] = {kWorkspace, 0}; },
     "program 'step', command 1 (layer 0 (model.mlir:3)): two results, or a result and the workspace, share "
     "memory in "
     "base 'workspace'"},
    {"OperandInWorkspace", [](Executable &e) { step(e).arguments[3] = {kWorkspace, 0}; },
     "program 'step', command 1 (layer 0 (model.mlir:3)), operand 1: shares memory with the workspace in "
     "base "
     "'workspace'"},
};

class VerifyMeshRefuses : public ::testing::TestWithParam<Broken> {};

TEST_P(VerifyMeshRefuses, WithItsMessage) {
  Executable executable = sampleMeshExecutable();
  ASSERT_EQ(verify(executable), absl::OkStatus());
  GetParam().change(executable);
  absl::Status status = verify(executable);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), GetParam().message);
}

void addSend(Executable &executable, int64_t axis, int64_t peer) {
  KernelCall send{"send", {{DType::F32, {4}}}, {}, {}};
  send.setIntegers("axes", {axis});
  send.setInteger("peer", peer);
  executable.kernels.push_back({send, 0});
}

const Broken kMesh[] = {
    {"AxisName", [](Executable &e) { e.mesh.axes[1].name = "d0"; },
     "mesh: axis 'd0': names of axes must be unique and not empty"},
    {"AxisSize", [](Executable &e) { e.mesh.axes[1].size = 0; },
     "mesh: axis 'd1' has size 0, sizes start at 1"},
    {"Ranks", [](Executable &e) { e.mesh.axes[1].size = ~0u; },
     "mesh: with axis 'd1' there are more than 16777216 ranks"},
    {"Axes", [](Executable &e) { e.mesh.axes.assign(65, {"a", 1}); },
     "mesh: 65 axes, at most 64 are allowed"},
    {"RoleName", [](Executable &e) { e.mesh.roles[1].name = "data"; },
     "mesh: role 'data': names of roles must be unique and not empty"},
    {"RoleAxis", [](Executable &e) { e.mesh.roles[1].axes = {2}; }, "mesh: role 'tensor': axis 2 of 2"},
    {"RoleAxisTwice", [](Executable &e) { e.mesh.roles[1].axes = {1, 1}; },
     "mesh: role 'tensor': axis 'd1' is named twice"},
    {"PlacementSplits", [](Executable &e) { e.variables[0].placement.dimensions = {}; },
     "variable 'w': placement: 0 splits for 1 dimensions"},
    {"PlacementDimensions", [](Executable &e) { e.variables[0].placement = {{6, 1}, {{{0, 1}}, {{}}}}; },
     "variable 'w': placement: 2 dimensions, tensor<2xf32> has 1"},
    {"PlacementSize", [](Executable &e) { e.variables[0].placement.globalShape = {0}; },
     "variable 'w': placement: tensor<0xf32> has a dimension of size 0, sizes start at 1"},
    {"PlacementAxis", [](Executable &e) { e.variables[0].placement.dimensions[0].axes = {0, 2}; },
     "variable 'w': placement: axis 2 of 2"},
    {"PlacementPart", [](Executable &e) { e.variables[0].placement.globalShape = {9}; },
     "variable 'w': placement: a part of tensor<9xf32> is tensor<3xf32>, not tensor<2xf32>"},
    {"ZigzagPart", [](Executable &e) { e.variables[0].placement.dimensions[0].zigzag = true; },
     "variable 'w': placement: dimension 0 of tensor<6xf32> is in zigzag over 4 ranks, and no multiple of 8"},
    {"ZigzagVariable", [](Executable &e) { e.variables[0].placement = {{8}, {{{0, 1}, true}}}; },
     "variable 'w': it is stored in zigzag; the parts of variables are contiguous"},
    {"InputAxisTwice",
     [](Executable &e) { e.programs[0].inputs[0].placement = {{4, 12}, {{{0, 1}}, {{1}}}}; },
     "program 'step', input 'x': placement: axis 'd1' is named twice"},
    {"KernelAxis", [](Executable &e) { e.kernels[0].call.setIntegers("axes", {0, 2}); },
     "kernel 0 'all_gather': axis 2 of 2"},
    {"KernelNegativeAxis", [](Executable &e) { e.kernels[4].call.setIntegers("axes", {-1}); },
     "kernel 4 'all_reduce': axis -1 of 2"},
    {"PlacementOverThePipeline", [](Executable &e) { e.mesh.roles.push_back({"pipeline", {0}}); },
     "variable 'w': placement: axis 'd0' is of the pipeline, which splits no tensor"},
    {"LineAxes", [](Executable &e) { addSend(e, 0, 1); },
     "kernel 5 'send': its axes are not those of the role pipeline"},
    {"LinePeer",
     [](Executable &e) {
       e.mesh.axes.push_back({"p0", 2});
       e.mesh.roles.push_back({"pipeline", {2}});
       addSend(e, 2, 2);
     },
     "kernel 5 'send': peer 2 is none of 2 pipeline ranks"},
    {"NoMesh", [](Executable &e) { e.mesh = {}; }, "variable 'w': placement: axis 0 of 0"},
};

std::string caseName(const ::testing::TestParamInfo<Broken> &info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Memory, VerifyRefuses, ::testing::ValuesIn(kMemory), caseName);
INSTANTIATE_TEST_SUITE_P(VariablesAndKernels, VerifyRefuses, ::testing::ValuesIn(kVariablesAndKernels),
                         caseName);
INSTANTIATE_TEST_SUITE_P(Program, VerifyRefuses, ::testing::ValuesIn(kProgram), caseName);
INSTANTIATE_TEST_SUITE_P(Mesh, VerifyMeshRefuses, ::testing::ValuesIn(kMesh), caseName);
INSTANTIATE_TEST_SUITE_P(Commands, VerifyRefuses, ::testing::ValuesIn(kCommands), caseName);

} // namespace
} // namespace weft::testing
