//===- SamplePipeline.h - Two stages, by hand -----------------------------===//
//
// The parts of a job on a mesh p0 x d0 of 2 x 2 ranks: in each of two microbatches the first stage sends its
// variable `x` to the second one, which receives it as its variable `y`. Waits have an action of their own.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEPIPELINE_H
#define WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEPIPELINE_H

#include "runtime/executable/Executable.h"

namespace weft::testing {

inline Executable samplePipelinePart(int64_t pipelineRank) {
  const bool sends = pipelineRank == 0;
  const TensorType type{DType::F32, {4}};
  Executable part;
  part.weftVersion = "0.1.0";
  part.target = {"test"};
  part.mesh.axes = {{"p0", 2}, {"d0", 2}};
  part.mesh.roles = {{"pipeline", {0}}, {"data", {1}}};
  part.memory.bases = {{"parameters", BaseKind::Parameters, 1, 64}};
  part.memory.rows = {{"parameters", "model", 64}};
  const std::string name = sends ? "x" : "y";
  part.variables = {{name, type, {0, 0}, {InitializerKind::Zeros, {}}, true, false, name, {}}};
  KernelCall begin{sends ? "send" : "receive", {}, {}, {}},
      wait{sends ? "send_wait" : "receive_wait", {}, {}, {}};
  (sends ? begin.operands : begin.results) = {type};
  begin.setText("location", "boundary 1");
  for (KernelCall *call : {&begin, &wait}) {
    call->setIntegers("axes", {0});
    call->setInteger("peer", 1 - pipelineRank);
    part.kernels.push_back({*call, 0});
  }
  part.locations = {"boundary 1"};
  Program step;
  step.name = "step";
  step.microbatches = 2;
  step.arguments = {{0, 0}};
  const uint16_t operands = sends ? 1 : 0, results = sends ? 0 : 1;
  step.commands = {{CommandKind::Launch, operands, results, 0, 0, 0, {}, 0},
                   {CommandKind::Launch, 0, 0, 1, 1, 0, {}, 0}};
  step.actions = {{"begin", true, 0, 1}, {"wait", true, 1, 1}};
  step.schedule = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
  part.programs = {step};
  return part;
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEPIPELINE_H
