//===- SampleGenerated.h - A step with a generated kernel -----------------===//
//
// One command: w = x * w + w, in place, and a copy of x, by the function weft_multiply_add of
// tests/unit/object/sources/kernels.c. The call holds its program too, so the same step runs without the
// object, by the interpreter of blocks.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEGENERATED_H
#define WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEGENERATED_H

#include "kernels/common/ElementwiseOps.h"
#include "kernels/common/GeneratedKernel.h"
#include "runtime/executable/Executable.h"

namespace weft::testing {

inline KernelCall multiplyAdd(const TensorType &type) {
  KernelCall call{"elementwise", {type, type}, {type, type}, {}};
  call.setIntegers("shape", type.shape);
  call.setIntegers("operand_strides", {1, 1});
  call.setIntegers("constants", {});
  call.setIntegers("constant_types", {});
  std::vector<int64_t> program;
  appendInstruction(program, {ElementwiseOp::Multiply, DType::F32, {0, 1, -1}});
  appendInstruction(program, {ElementwiseOp::Add, DType::F32, {2, 1, -1}});
  call.setIntegers("program", program);
  call.setIntegers("outputs", {3, 0});
  call.setText(kSymbolAttribute, "weft_multiply_add");
  return call;
}

/// For `count` elements, a multiple of 16.
inline Executable sampleGenerated(std::string object, int64_t count = 4096) {
  const TensorType type{DType::F32, {count}};
  const auto bytes = static_cast<uint64_t>(type.bytes());
  const Reference w{0, 0}, x{1, 0}, seen{2, 0};
  Executable executable;
  executable.weftVersion = "0.1.0";
  executable.target = {"avx2"};
  executable.object = {"x86-64-v3", std::move(object)};
  executable.memory.bases = {{"parameters", BaseKind::Parameters, 1, bytes},
                             {"inputs", BaseKind::Inputs, 1, bytes},
                             {"step", BaseKind::Step, 1, bytes}};
  executable.memory.rows = {{"parameters", "model", bytes}, {"inputs", "x", bytes}, {"other", "seen", bytes}};
  executable.variables = {{"w", type, w, {InitializerKind::Ones, {}}, true, false, "w.weight"}};
  executable.kernels = {{multiplyAdd(type), 0}};
  executable.locations = {"layer 0"};
  Program step;
  step.name = "step";
  step.inputs = {{"x", type, x}};
  step.outputs = {{"seen", type, seen}};
  step.arguments = {x, w, w, seen};
  step.commands = {{CommandKind::Launch, 2, 2, 0, 0, 0, {}, 0}};
  step.actions = {{"update", false, 0, 1}};
  step.schedule = {{0, kNone}};
  executable.programs = {step};
  return executable;
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEGENERATED_H
