//===- SampleExecutable.h - One small executable with every feature -------===//
//
// A step of gradient descent on four numbers, in two microbatches: prepare zeroes the gradient (a copy from
// constants), forward_backward adds x * w to it, update adds gradient * -0.5 to w. It has every kind of
// command, a workspace, an aliased result, a slotted input, a cache where the step has its gradient. The
// kernels are those of tests/unit/device/TestKernels.h.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEEXECUTABLE_H
#define WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEEXECUTABLE_H

#include "runtime/executable/Executable.h"

#include <cstring>

namespace weft::testing {

enum SampleBase : uint32_t { kConstants, kParameters, kInputs, kStep, kScratch, kWorkspace };

inline Program sampleStep() {
  TensorType four{DType::F32, {4}};
  Program step;
  step.name = "step";
  step.microbatches = 2;
  step.inputs = {{"x", four, {kInputs, 0}, true}};
  step.outputs = {{"gradient", four, {kStep, 0}}};
  step.arguments = {{kConstants, 0},  {kStep, 0},                          // 0: gradient = 0
                    {kInputs, 0},     {kParameters, 0}, {kScratch, 0},     // 1: scratch = x * w
                    {kStep, 0},       {kScratch, 0},    {kStep, 0},        // 2: gradient += scratch
                    {kStep, 0},       {kConstants, 64}, {kScratch, 0},     // 3: scratch = gradient * -0.5
                    {kParameters, 0}, {kScratch, 0},    {kParameters, 0}}; // 4: w += scratch
  step.commands = {{CommandKind::Copy, 1, 1, kNone, 0, 0, {}, 16},
                   {CommandKind::Launch, 2, 1, 0, 2, 1, {kWorkspace, 0}, 0},
                   {CommandKind::Launch, 2, 1, 1, 5, 1, {}, 0},
                   {CommandKind::Launch, 2, 1, 0, 8, 2, {kWorkspace, 0}, 0},
                   {CommandKind::Launch, 2, 1, 1, 11, 2, {}, 0}};
  step.actions = {{"prepare", false, 0, 1}, {"forward_backward", true, 1, 2}, {"update", false, 3, 2}};
  step.schedule = {{0, kNone}, {1, 0}, {1, 1}, {2, kNone}};
  return step;
}

inline Executable sampleExecutable() {
  TensorType four{DType::F32, {4}};
  Executable executable;
  executable.weftVersion = "0.1.0";
  executable.target = {"test"};
  executable.config = "train: {steps: 3}\n";
  executable.tokenizer = "bytes";
  float constants[32] = {};
  for (int i = 16; i < 20; ++i)
    constants[i] = -0.5f;
  std::string contents(reinterpret_cast<const char *>(constants), sizeof(constants));
  executable.memory.bases = {{"constants", BaseKind::Constants, 1, 128, contents},
                             {"parameters", BaseKind::Parameters, 1, 64},
                             {"inputs", BaseKind::Inputs, 2, 64},
                             {"step", BaseKind::Step, 1, 64},
                             {"scratch", BaseKind::Scratch, 1, 64},
                             {"workspace", BaseKind::Workspace, 1, 64}};
  executable.memory.rows = {
      {"parameters", "model", 64},         {"gradients", "model", 64},   {"inputs", "x", 128},
      {"workspaces", "multiply", 64},      {"activations", "x * w", 64}, {"constants", "all", 128},
      {"libraries", "packing", 1000, true}};
  executable.variables = {
      {"w", four, {kParameters, 0}, {InitializerKind::Normal, {0, 0.02}}, true, false, "w.weight"}};
  executable.caches = {{"seen", four, {kStep, 0}}};
  KernelCall multiply{"multiply", {four, four}, {four}, {}};
  multiply.setInteger("workspace", 64);
  multiply.setNumber("epsilon", 1e-6);
  multiply.setText("equation", "a,a->a");
  executable.kernels = {{multiply, 64}, {{"add", {four, four}, {four}, {}}, 0}};
  executable.locations = {"prepare", "layer 0 (model.mlir:3)", "update"};
  executable.programs = {sampleStep()};
  return executable;
}

/// With room for a copy of the variables.
inline Executable withSnapshot(Executable executable) {
  executable.memory.bases.push_back({"snapshot", BaseKind::Snapshot, 1, 64});
  executable.memory.rows.push_back({"snapshot", "all", 64});
  return executable;
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEEXECUTABLE_H
