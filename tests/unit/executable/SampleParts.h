//===- SampleParts.h - One program in two parts ---------------------------===//
//
// A step of a pipeline of two ranks p0, each of which is two ranks d0, written by hand. The first part holds
// `embedding` (6 elements, split over d0), the second `head` (6 elements, whole), and both hold `shared`.
//
//   part 0                                part 1
//   whole = all_gather(embedding)         local = head + head
//   local = x + whole
//   total = all_reduce(local)             total = all_reduce(local)       sum over p0, d0
//   shared = shared + total               shared = shared + total
//
// So total is 2 embedding + 4 head + the samples of the two ranks of the first part. The kernels are those of
// tests/unit/device/TestKernels.h and of kernels/collective.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEPARTS_H
#define WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEPARTS_H

#include "runtime/executable/Executable.h"

namespace weft::testing {

/// What both parts have: the mesh, the shared variable, the addition to it.
inline Executable samplePart() {
  const TensorType whole{DType::F32, {6}};
  Executable part;
  part.weftVersion = "0.1.0";
  part.target = {"test"};
  part.mesh.axes = {{"p0", 2}, {"d0", 2}};
  part.mesh.roles = {{"pipeline", {0}}, {"data", {1}}, {"tensor", {}}};
  part.config = "train: {steps: 3}\n";
  part.memory.bases = {{"parameters", BaseKind::Parameters, 1, 128}, {"step", BaseKind::Step, 1, 192}};
  part.memory.rows = {{"parameters", "all", 128}, {"activations", "all", 192}};
  KernelCall sum{"all_reduce", {whole}, {whole}, {}};
  sum.setIntegers("axes", {0, 1});
  sum.setText("kind", "sum");
  part.kernels = {{sum, 0}, {{"add", {whole, whole}, {whole}, {}}, 0}};
  part.locations = {"exchange", "layer"};
  part.variables = {
      {"shared", whole, {0, 64}, {InitializerKind::Constant, {100}}, true, false, "tied.weight"}};
  return part;
}

inline Executable sampleFirstPart() {
  const TensorType whole{DType::F32, {6}}, half{DType::F32, {3}}, row{DType::F32, {1, 6}};
  const Reference embedding{0, 0}, shared{0, 64}, gathered{1, 0}, local{1, 64}, total{1, 128}, x{2, 0};
  Executable part = samplePart();
  part.memory.bases.push_back({"inputs", BaseKind::Inputs, 1, 64});
  part.memory.rows.push_back({"inputs", "x", 64});
  part.variables.insert(part.variables.begin(),
                        {"embedding", half, embedding, {}, true, false, "embedding.weight", {{6}, {{{1}}}}});
  KernelCall gather{"all_gather", {half}, {whole}, {}};
  gather.setIntegers("axes", {1});
  gather.setInteger("dimension", 0);
  part.kernels.push_back({gather, 0});
  part.kernels.push_back({{"add", {row, whole}, {whole}, {}}, 0});
  Program step;
  step.name = "step";
  step.inputs = {{"x", row, x, false, {{2, 6}, {{{1}}, {{}}}}}};
  step.outputs = {{"total", whole, total}};
  step.arguments = {embedding, gathered, x, gathered, local, local, total, shared, total, shared};
  step.commands = {{CommandKind::Launch, 1, 1, 2, 0, 0, {}, 0},
                   {CommandKind::Launch, 2, 1, 3, 2, 1, {}, 0},
                   {CommandKind::Launch, 1, 1, 0, 5, 0, {}, 0},
                   {CommandKind::Launch, 2, 1, 1, 7, 1, {}, 0}};
  step.actions = {{"0F", false, 0, 2}, {"update.exchange", false, 2, 1}, {"update", false, 3, 1}};
  step.schedule = {{0, kNone}, {1, kNone}, {2, kNone}};
  part.programs = {step};
  return part;
}

inline Executable sampleSecondPart() {
  const TensorType whole{DType::F32, {6}};
  const Reference head{0, 0}, shared{0, 64}, local{1, 64}, total{1, 128};
  Executable part = samplePart();
  part.variables.push_back(
      {"head", whole, head, {InitializerKind::Ones, {}}, true, false, "head.weight", {}, 1});
  Program step;
  step.name = "step";
  step.outputs = {{"total", whole, total}};
  step.arguments = {head, head, local, local, total, shared, total, shared};
  step.commands = {{CommandKind::Launch, 2, 1, 1, 0, 1, {}, 0},
                   {CommandKind::Launch, 1, 1, 0, 3, 0, {}, 0},
                   {CommandKind::Launch, 2, 1, 1, 5, 1, {}, 0}};
  step.actions = {{"1F", false, 0, 1}, {"update.exchange", false, 1, 1}, {"update", false, 2, 1}};
  step.schedule = {{0, kNone}, {1, kNone}, {2, kNone}};
  part.programs = {step};
  return part;
}

inline std::vector<Executable> sampleParts() { return {sampleFirstPart(), sampleSecondPart()}; }

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEPARTS_H
