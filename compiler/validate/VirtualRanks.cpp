#include "compiler/validate/VirtualRanks.h"

#include "compiler/codegen/GenerateKernels.h"
#include "compiler/interpret/Programs.h"
#include "kernels/cpu/Cpu.h"
#include "kernels/reference/Bytes.h"
#include "kernels/reference/Shape.h"
#include "passes/analysis/PipelineModules.h"
#include "passes/emit/Emit.h"
#include "passes/memory/Memory.h"
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/comm/MeshContext.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/exec/Executor.h"
#include "runtime/executable/Parts.h"
#include "runtime/executable/Verify.h"
#include "runtime/support/Processors.h"

#include "absl/strings/str_cat.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

#include <thread>

using namespace mlir;

namespace weft {
namespace {

using interpret::MeshValue;
using interpret::Tensor;

/// The bytes of a tensor into a place of the arena.
absl::Status put(const Tensor &value, absl::StatusOr<HostTensor> place) {
  if (!place.ok())
    return place.status();
  absl::StatusOr<std::vector<std::byte>> bytes = reference::toBytes(value);
  if (!bytes.ok())
    return bytes.status();
  if (bytes->size() != place->bytes.size())
    return absl::InternalError(
        absl::StrCat("a part of ", bytes->size(), " bytes for a place of ", place->bytes.size()));
  llvm::copy(*bytes, place->bytes.begin());
  return absl::OkStatus();
}

absl::StatusOr<Tensor> take(absl::StatusOr<HostTensor> place) {
  return place.ok() ? reference::fromBytes(*place->type, place->bytes) : place.status();
}

/// What all ranks are given, split before they start, and what they leave.
struct Job {
  std::string program;
  std::vector<std::string> inputNames, outputNames;
  std::map<std::string, MeshValue> variables;              ///< by symbol
  std::vector<std::vector<std::vector<MeshValue>>> inputs; ///< by run, input, microbatch
  std::vector<std::map<std::string, Tensor>> left;         ///< by rank: variables after the last run
  std::vector<std::vector<std::vector<Tensor>>> outputs;   ///< by rank, run, output
  bool losesAnElement = false;
};

/// The ops that read or write a variable in a program, on all pipeline ranks.
SmallVector<Operation *> usesOf(Operation *program) {
  SmallVector<Operation *> uses;
  for (ModuleOp own : pipelineModules(jobModuleOf(program)))
    for (Operation *other : interpret::programsOf(own))
      if (interpret::programName(other) == interpret::programName(program))
        other->walk([&](Operation *op) {
          if (isa<nn::ReadOp, nn::WriteOp>(op))
            uses.push_back(op);
        });
  return uses;
}

/// The parameters and states of a job and the caches that `program` names, each as the first pipeline rank
/// declares it that holds it. Other programs have values of their own where caches are.
std::map<std::string, Operation *> variablesOf(Operation *program) {
  llvm::StringSet<> named;
  for (Operation *use : usesOf(program))
    named.insert(use->getAttrOfType<FlatSymbolRefAttr>("variable").getValue());
  std::map<std::string, Operation *> found;
  for (ModuleOp own : pipelineModules(jobModuleOf(program)))
    for (Operation &op : *own.getBody())
      if (nn::isVariable(&op) &&
          (!isa<nn::CacheOp>(op) || named.contains(SymbolTable::getSymbolName(&op).getValue())))
        found.try_emplace(SymbolTable::getSymbolName(&op).str(), &op);
  return found;
}

absl::StatusOr<HostTensor> variableIn(const Executor &executor, const std::string &name) {
  absl::StatusOr<HostTensor> variable = executor.variable(name);
  return variable.ok() ? variable : executor.cache(name);
}

/// One input of one run, by microbatch and rank.
absl::StatusOr<std::vector<MeshValue>> splitInput(const interpret::Ranks &ranks, const Tensor &value,
                                                  const interpret::ProgramInput &input) {
  if (input.stacked == 0)
    return std::vector<MeshValue>{ranks.split(value, input.type)};
  std::vector<MeshValue> parts;
  for (int64_t number = 0; number < input.stacked; ++number) {
    std::vector<int64_t> offsets(value.shape.size(), 0), sizes = value.shape;
    offsets[0] = number, sizes[0] = 1;
    absl::StatusOr<Tensor> part = reference::slice(value, offsets, sizes);
    if (!part.ok())
      return part.status();
    part->shape.erase(part->shape.begin());
    parts.push_back(ranks.split(*part, input.type));
  }
  return parts;
}

absl::StatusOr<Job> prepareJob(const interpret::Ranks &ranks, Operation *program,
                               ArrayRef<std::vector<Tensor>> runs, const interpret::Variables &variables) {
  Job job;
  job.program = interpret::programName(program);
  job.outputNames = interpret::outputNames(program);
  job.left.resize(ranks.count()), job.outputs.resize(ranks.count());
  for (const auto &[name, op] : variablesOf(program))
    job.variables[name] = ranks.split(variables.at(name), interpret::placedType(op));
  std::vector<interpret::ProgramInput> inputs = interpret::inputsOf(program);
  for (const interpret::ProgramInput &input : inputs)
    job.inputNames.push_back(input.name);
  for (const std::vector<Tensor> &given : runs) {
    auto &parts = job.inputs.emplace_back();
    for (auto [input, value] : llvm::zip_equal(inputs, given)) {
      absl::StatusOr<std::vector<MeshValue>> part = splitInput(ranks, value, input);
      if (!part.ok())
        return part.status();
      parts.push_back(*std::move(part));
    }
  }
  return job;
}

absl::Status putInputs(Executor &executor, ProgramHandle program, const Job &job, size_t run, size_t rank) {
  for (size_t input = 0; input < job.inputNames.size(); ++input)
    for (size_t microbatch = 0; microbatch < job.inputs[run][input].size(); ++microbatch) {
      const Tensor &part = *job.inputs[run][input][microbatch][rank];
      absl::Status status =
          put(part, executor.input(program, job.inputNames[input], static_cast<uint32_t>(microbatch)));
      // An input that the program does not read has no place.
      if (!status.ok() && !absl::IsNotFound(status))
        return status;
    }
  return absl::OkStatus();
}

absl::Status runRank(const Executable &executable, Communicator &communicator, Device &device, Job &job) {
  auto rank = static_cast<size_t>(communicator.rank());
  absl::StatusOr<std::unique_ptr<RankContext>> context = createRankContext(executable.mesh, communicator);
  if (!context.ok())
    return context.status();
  absl::StatusOr<std::unique_ptr<Executor>> created = Executor::create(executable, device, context->get());
  if (!created.ok())
    return created.status();
  Executor &executor = **created;
  for (const auto &[name, value] : job.variables) {
    Tensor part = *value[rank];
    if (job.losesAnElement && rank + 1 == value.size() && !part.reals.empty())
      part.reals[0] = 0;
    // A variable of other pipeline ranks has no place.
    if (absl::Status status = put(part, variableIn(executor, name));
        !status.ok() && !absl::IsNotFound(status))
      return status;
  }
  absl::StatusOr<ProgramHandle> program = executor.program(job.program);
  if (!program.ok())
    return program.status();
  for (size_t run = 0; run < job.inputs.size(); ++run) {
    if (absl::Status status = putInputs(executor, *program, job, run, rank); !status.ok())
      return status;
    if (absl::Status status = executor.run(*program); !status.ok())
      return status;
    std::vector<Tensor> &outputs = job.outputs[rank].emplace_back();
    for (const std::string &name : job.outputNames) {
      absl::StatusOr<Tensor> value = take(executor.output(*program, name));
      if (!value.ok())
        return value.status();
      outputs.push_back(*std::move(value));
    }
  }
  for (const auto &[name, value] : job.variables) {
    absl::StatusOr<Tensor> after = take(variableIn(executor, name));
    if (after.ok())
      job.left[rank][name] = *std::move(after);
    else if (!absl::IsNotFound(after.status()))
      return after.status();
  }
  return absl::OkStatus();
}

/// Each rank on its thread; the first failure.
absl::Status runRanks(const std::vector<Executable> &parts, Job &job) {
  int64_t count = parts.front().mesh.ranks();
  absl::StatusOr<std::vector<std::unique_ptr<Communicator>>> group =
      createLocalGroup(static_cast<int>(count));
  if (!group.ok())
    return group.status();
  absl::StatusOr<std::shared_ptr<ThreadPool>> pool =
      openThreadPool(std::min<int64_t>(availableProcessors(), ThreadPool::kMostThreads));
  if (!pool.ok())
    return pool.status();
  std::vector<absl::Status> statuses(count);
  std::vector<std::thread> threads;
  for (std::unique_ptr<Communicator> &own : *group)
    threads.emplace_back([&, communicator = std::move(own)] {
      const Executable &executable = partOf(parts, communicator->rank());
      absl::StatusOr<std::unique_ptr<Device>> device = openCpuDevice(executable.target.instructionSet, *pool);
      absl::Status status = device.ok() ? runRank(executable, *communicator, **device, job) : device.status();
      if (!status.ok())
        communicator->abort(status); // nobody waits for this rank
      statuses[communicator->rank()] = status;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const absl::Status &status : statuses)
    if (!status.ok())
      return status;
  return absl::OkStatus();
}

/// Puts together what the ranks put out, by run.
absl::StatusOr<std::vector<std::vector<Tensor>>> assembleOutputs(const interpret::Ranks &ranks,
                                                                 Operation *program, const Job &job) {
  SmallVector<Type> types;
  for (auto slot : cast<sched::ProgramOp>(program).getBody().front().getOps<sched::SlotOp>())
    if (slot.getKind() == sched::SlotKind::output)
      types.push_back(interpret::placedType(slot));
  std::vector<std::vector<Tensor>> runs(job.inputs.size());
  for (size_t run = 0; run < runs.size(); ++run)
    for (auto [index, type] : llvm::enumerate(types)) {
      MeshValue parts;
      for (int64_t rank = 0; rank < ranks.count(); ++rank)
        parts.push_back(std::make_shared<const Tensor>(job.outputs[rank][run][index]));
      absl::StatusOr<Tensor> whole = ranks.assemble(parts, type);
      if (!whole.ok())
        return absl::InternalError(
            absl::StrCat("output ", job.outputNames[index], ": ", std::string(whole.status().message())));
      runs[run].push_back(*std::move(whole));
    }
  return runs;
}

/// What the ranks left of a variable. On those whose part does not hold it stands what the first of their
/// pipeline left that does.
MeshValue leftOf(const Mesh &mesh, const Job &job, const std::string &name) {
  MeshValue value;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    auto found = job.left[rank].find(name);
    for (int64_t other : mesh.group(rank, mesh.axesOf(kPipelineRole)))
      if (found == job.left[rank].end() && job.left[other].contains(name))
        found = job.left[other].find(name);
    value.push_back(std::make_shared<const Tensor>(found->second));
  }
  return value;
}

} // namespace

bool isFused(Operation *program) {
  return program->walk([](sched::LaunchOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

std::vector<std::string> writtenBy(Operation *program) {
  llvm::SetVector<StringRef> written;
  for (Operation *use : usesOf(program))
    if (auto write = dyn_cast<nn::WriteOp>(use))
      written.insert(write.getVariable());
  return {written.begin(), written.end()};
}

absl::StatusOr<std::vector<Executable>> partsOf(ModuleOp module) {
  absl::StatusOr<cpu::InstructionSet> set = cpu::useBestInstructionSet();
  if (!set.ok())
    return set.status();
  OwningOpRef<ModuleOp> copy = module.clone();
  for (ModuleOp own : pipelineModules(*copy)) {
    PassManager manager(module.getContext());
    manager.addPass(createMemory());
    bool isPlanned = !own.getOps<sched::BaseOp>().empty();
    if (!isPlanned && failed(manager.run(own)))
      return absl::InvalidArgumentError("the program has no memory plan");
  }
  FailureOr<std::vector<Executable>> parts = emitExecutables(*copy);
  if (failed(parts))
    return absl::InvalidArgumentError("the program makes no executable");
  for (Executable &part : *parts)
    part.target = {std::string(cpu::name(*set))};
  if (absl::Status status = generateKernels(*parts); !status.ok())
    return status;
  if (absl::Status status = verify(*parts); !status.ok())
    return status;
  return *std::move(parts);
}

absl::StatusOr<std::vector<std::vector<Tensor>>> runOnVirtualRanks(const std::vector<Executable> &parts,
                                                                   Operation *program,
                                                                   ArrayRef<std::vector<Tensor>> runs,
                                                                   interpret::Variables &variables,
                                                                   const VirtualRanksOptions &options) {
  interpret::Ranks ranks(parts.front().mesh);
  absl::StatusOr<Job> job = prepareJob(ranks, program, runs, variables);
  if (!job.ok())
    return job.status();
  job->losesAnElement = options.losesAnElement;
  if (absl::Status status = runRanks(parts, *job); !status.ok())
    return status;
  absl::StatusOr<std::vector<std::vector<Tensor>>> outputs = assembleOutputs(ranks, program, *job);
  if (!outputs.ok())
    return outputs;
  for (const auto &[name, op] : variablesOf(program)) {
    absl::StatusOr<Tensor> whole =
        ranks.assemble(leftOf(ranks.mesh(), *job, name), interpret::placedType(op));
    if (!whole.ok())
      return absl::InternalError(absl::StrCat(name, ": ", std::string(whole.status().message())));
    variables[name] = *std::move(whole);
  }
  return outputs;
}

} // namespace weft
