//===- SampleMeshExecutable.h - One program for all ranks of a mesh -------===//
//
// A step of data parallelism over a sharded parameter, written by hand for a mesh d0 x d1: `w` (6 elements)
// is split over both axes, and so are the samples of `x`, of which each rank has one.
//
//   whole = all_gather(w)              over d0, d1
//   local = x + whole
//   w     = w + reduce_scatter(local)  sum over d0, d1
//   highest = all_reduce(w)            max over d1, in place
//
// So w becomes w + ranks * w + the sum of the samples. The kernels are those of
// tests/unit/device/TestKernels.h and of kernels/collective.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEMESHEXECUTABLE_H
#define WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEMESHEXECUTABLE_H

#include "runtime/executable/Executable.h"

namespace weft::testing {

enum MeshSampleBase : uint32_t { kMeshParameters, kMeshInputs, kMeshStep };

inline Program sampleMeshStep(uint32_t ranks, const TensorType &part) {
  Reference w{kMeshParameters, 0}, x{kMeshInputs, 0};
  Reference whole{kMeshStep, 0}, local{kMeshStep, 64}, scattered{kMeshStep, 128}, highest{kMeshStep, 192};
  Program step;
  step.name = "step";
  step.inputs = {{"x", {DType::F32, {1, 6}}, x, false, {{ranks, 6}, {{{0, 1}}, {{}}}}}};
  step.outputs = {{"highest", part, highest}};
  step.arguments = {w, whole,     x, whole, local,   local,   scattered,
                    w, scattered, w, w,     highest, highest, highest};
  step.commands = {{CommandKind::Launch, 1, 1, 0, 0, 0, {}, 0},
                   {CommandKind::Launch, 2, 1, 1, 2, 1, {}, 0},
                   {CommandKind::Launch, 1, 1, 2, 5, 1, {}, 0},
                   {CommandKind::Launch, 2, 1, 3, 7, 2, {}, 0},
                   {CommandKind::Copy, 1, 1, kNone, 10, 2, {}, static_cast<uint64_t>(part.bytes())},
                   {CommandKind::Launch, 1, 1, 4, 12, 2, {}, 0}};
  step.actions = {{"forward_backward", false, 0, 3}, {"update", false, 3, 3}};
  step.schedule = {{0, kNone}, {1, kNone}};
  return step;
}

inline Executable sampleMeshExecutable(uint32_t d0 = 2, uint32_t d1 = 2) {
  TensorType whole{DType::F32, {6}}, row{DType::F32, {1, 6}};
  Executable executable;
  executable.weftVersion = "0.1.0";
  executable.target = {"test"};
  executable.mesh.axes = {{"d0", d0}, {"d1", d1}};
  executable.mesh.roles = {{"data", {0, 1}}, {"tensor", {}}};
  TensorPlacement placement{{6}, {{{0, 1}}}};
  TensorType part{DType::F32, {partOf(executable.mesh, 0, placement)[0].size}};
  executable.memory.bases = {{"parameters", BaseKind::Parameters, 1, 64},
                             {"inputs", BaseKind::Inputs, 1, 64},
                             {"step", BaseKind::Step, 1, 256}};
  executable.memory.rows = {{"parameters", "model", 64}, {"inputs", "x", 64}, {"activations", "all", 256}};
  executable.variables = {
      {"w", part, {kMeshParameters, 0}, {InitializerKind::Zeros, {}}, true, false, "w.weight", placement}};
  auto over = [](const char *name, const TensorType &from, const TensorType &to, std::vector<int64_t> axes) {
    KernelCall call{name, {from}, {to}, {}};
    call.setIntegers("axes", std::move(axes));
    return call;
  };
  KernelCall gather = over("all_gather", part, whole, {0, 1});
  gather.setInteger("dimension", 0);
  KernelCall scatter = over("reduce_scatter", whole, part, {0, 1});
  scatter.setInteger("dimension", 0);
  scatter.setText("kind", "sum");
  KernelCall highest = over("all_reduce", part, part, {1});
  highest.setText("kind", "max");
  executable.kernels = {{gather, 0},
                        {{"add", {row, whole}, {whole}, {}}, 0},
                        {scatter, 0},
                        {{"add", {part, part}, {part}, {}}, 0},
                        {highest, 0}};
  executable.locations = {"gather", "layer 0", "update"};
  executable.programs = {sampleMeshStep(d0 * d1, part)};
  return executable;
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEMESHEXECUTABLE_H
