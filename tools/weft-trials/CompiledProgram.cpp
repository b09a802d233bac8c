#include "tools/weft-trials/CompiledProgram.h"

#include "compiler/codegen/GenerateKernels.h"
#include "kernels/reference/Bytes.h"
#include "passes/emit/Emit.h"
#include "passes/fuse/Fuse.h"
#include "passes/memory/Memory.h"
#include "passes/pipeline/Schedule.h"
#include "runtime/exec/Executor.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace weft::trials {

FailureOr<CompiledProgram> compileFunction(ModuleOp original, const std::string &instructionSet) {
  OwningOpRef<ModuleOp> module = original.clone();
  PassManager manager(module->getContext());
  manager.addPass(createSchedule());
  manager.addPass(createFuse());
  manager.addPass(createMemory());
  if (failed(manager.run(*module)))
    return failure();
  FailureOr<std::vector<Executable>> parts = emitExecutables(*module);
  if (failed(parts))
    return failure();
  parts->front().target = {instructionSet};
  if (!generateKernels(*parts).ok())
    return failure();
  CompiledProgram program{std::move(parts->front())};
  if (auto composites = (*module)->getAttrOfType<DictionaryAttr>("weft.composites"))
    for (NamedAttribute row : composites) {
      ArrayRef<int64_t> pair = cast<DenseI64ArrayAttr>(row.getValue()).asArrayRef();
      program.kernels += pair[0], program.decompositions += pair[1];
    }
  return program;
}

absl::StatusOr<std::vector<std::vector<std::byte>>>
execute(const CompiledProgram &program, Device &device, const std::vector<Tensor> &inputs, size_t results) {
  Executable executable = program.executable;
  executable.target = {device.instructionSet()};
  absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::create(std::move(executable), device);
  if (!executor.ok())
    return executor.status();
  absl::StatusOr<ProgramHandle> handle = (*executor)->program("main");
  if (!handle.ok())
    return handle.status();
  for (auto [index, input] : llvm::enumerate(inputs)) {
    absl::StatusOr<HostTensor> slot = (*executor)->input(*handle, std::to_string(index));
    absl::StatusOr<std::vector<std::byte>> bytes = reference::toBytes(input);
    if (!slot.ok() || !bytes.ok())
      return slot.ok() ? bytes.status() : slot.status();
    llvm::copy(*bytes, slot->bytes.begin());
  }
  if (absl::Status status = (*executor)->run(*handle); !status.ok())
    return status;
  std::vector<std::vector<std::byte>> outputs;
  for (size_t index = 0; index < results; ++index) {
    absl::StatusOr<HostTensor> slot = (*executor)->output(*handle, std::to_string(index));
    if (!slot.ok())
      return slot.status();
    outputs.emplace_back(slot->bytes.begin(), slot->bytes.end());
  }
  return outputs;
}

} // namespace weft::trials
