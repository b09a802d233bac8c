#include "tools/weft-trials/VirtualRanks.h"

#include "compiler/interpret/Programs.h"
#include "kernels/reference/Bytes.h"
#include "kernels/reference/Shape.h"
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/comm/MeshContext.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/exec/Executor.h"

#include "absl/strings/str_cat.h"

#include <thread>

using namespace mlir;

namespace weft::trials {
namespace {

using interpret::MeshValue;

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
  std::vector<std::string> inputNames, outputNames;
  std::vector<bool> isStacked;                             ///< by input
  std::map<std::string, MeshValue> variables;              ///< by symbol
  std::vector<std::vector<std::vector<MeshValue>>> inputs; ///< by step, input, microbatch
  std::vector<std::map<std::string, Tensor>> left;         ///< by rank: variables after the last step
  std::vector<std::map<std::string, Tensor>> scalars;      ///< by rank
};

absl::StatusOr<Job> split(ModuleOp local, const Start &start) {
  auto step = local.lookupSymbol<nn::StepOp>("step");
  interpret::Ranks ranks = interpret::Ranks::of(step);
  Job job;
  job.outputNames = interpret::outputNames(step);
  job.left.resize(ranks.count()), job.scalars.resize(ranks.count());
  for (Operation &op : *local.getBody())
    if (isa<nn::ParameterOp, nn::StateOp>(op)) {
      std::string name = SymbolTable::getSymbolName(&op).str();
      job.variables[name] =
          ranks.split(start.variables.at(name), op.getAttrOfType<TypeAttr>("type").getValue());
    }
  Block &prepare = step.getPrepare().front(), &microbatch = step.getMicrobatch().front();
  for (auto [index, name] : llvm::enumerate(step.getInputNames().getAsValueRange<StringAttr>())) {
    job.inputNames.push_back(name.str());
    job.isStacked.push_back(prepare.getArgument(index).getType() != microbatch.getArgument(index).getType());
  }
  for (const std::vector<Tensor> &given : start.inputs) {
    auto &inputs = job.inputs.emplace_back();
    for (auto [index, value] : llvm::enumerate(given)) {
      std::vector<MeshValue> &parts = inputs.emplace_back();
      Type type = microbatch.getArgument(index).getType();
      if (!job.isStacked[index]) {
        parts.push_back(ranks.split(value, type));
        continue;
      }
      for (int64_t number = 0; number < value.shape[0]; ++number) {
        std::vector<int64_t> offsets(value.shape.size(), 0), sizes = value.shape;
        offsets[0] = number, sizes[0] = 1;
        absl::StatusOr<Tensor> part = reference::slice(value, offsets, sizes);
        if (!part.ok())
          return part.status();
        part->shape.erase(part->shape.begin());
        parts.push_back(ranks.split(*part, type));
      }
    }
  }
  return job;
}

absl::Status runRank(const Executable &executable, Communicator &communicator, Device &device, Job &job,
                     bool losesAnElement) {
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
    if (losesAnElement && rank + 1 == value.size() && !part.reals.empty())
      part.reals[0] = 0;
    if (absl::Status status = put(part, executor.variable(name)); !status.ok())
      return status;
  }
  absl::StatusOr<ProgramHandle> program = executor.program("step");
  if (!program.ok())
    return program.status();
  for (size_t step = 0; step < job.inputs.size(); ++step) {
    for (size_t input = 0; input < job.inputNames.size(); ++input)
      for (size_t microbatch = 0; microbatch < job.inputs[step][input].size(); ++microbatch) {
        const Tensor &part = *job.inputs[step][input][microbatch][rank];
        absl::Status status =
            put(part, executor.input(*program, job.inputNames[input], static_cast<uint32_t>(microbatch)));
        // An input that the program does not read has no place.
        if (!status.ok() && !absl::IsNotFound(status))
          return status;
      }
    if (absl::Status status = executor.run(*program); !status.ok())
      return status;
    for (const std::string &name : job.outputNames) {
      absl::StatusOr<Tensor> value = take(executor.output(*program, name));
      if (!value.ok())
        return value.status();
      job.scalars[rank][absl::StrCat(name, " of step ", step + 1)] = *std::move(value);
    }
  }
  for (const auto &[name, value] : job.variables) {
    absl::StatusOr<Tensor> after = take(executor.variable(name));
    if (!after.ok())
      return after.status();
    job.left[rank][name] = *std::move(after);
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<Trajectory> runSteps(const Executable &original, ModuleOp local, const Start &start,
                                    const std::string &instructionSet, bool losesAnElement) {
  absl::StatusOr<Job> job = split(local, start);
  if (!job.ok())
    return job.status();
  Executable executable = original;
  executable.target = {instructionSet, 1};
  int64_t count = executable.mesh.ranks();
  absl::StatusOr<std::vector<std::unique_ptr<Communicator>>> group =
      createLocalGroup(static_cast<int>(count));
  if (!group.ok())
    return group.status();
  std::vector<absl::Status> statuses(count);
  std::vector<std::thread> threads;
  for (std::unique_ptr<Communicator> &own : *group)
    threads.emplace_back([&, communicator = std::move(own)] {
      absl::StatusOr<std::unique_ptr<Device>> device = openCpuDevice(instructionSet, 1);
      absl::Status status =
          device.ok() ? runRank(executable, *communicator, **device, *job, losesAnElement) : device.status();
      if (!status.ok())
        communicator->abort(status); // nobody waits for this rank
      statuses[communicator->rank()] = status;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const absl::Status &status : statuses)
    if (!status.ok())
      return status;

  Trajectory trajectory;
  for (int64_t rank = 1; rank < count; ++rank)
    if (job->scalars[rank] != job->scalars[0])
      return absl::InternalError(absl::StrCat("rank ", rank, " puts out other scalars than rank 0"));
  trajectory.scalars = job->scalars[0];
  interpret::Ranks ranks = interpret::Ranks::of(local.lookupSymbol<nn::StepOp>("step"));
  interpret::Variables after;
  for (Operation &op : *local.getBody()) {
    if (!isa<nn::ParameterOp, nn::StateOp>(op))
      continue;
    std::string name = SymbolTable::getSymbolName(&op).str();
    MeshValue parts;
    for (int64_t rank = 0; rank < count; ++rank)
      parts.push_back(std::make_shared<const Tensor>(job->left[rank].at(name)));
    absl::StatusOr<Tensor> whole = ranks.assemble(parts, op.getAttrOfType<TypeAttr>("type").getValue());
    if (!whole.ok())
      return absl::InternalError(absl::StrCat(name, ": ", std::string(whole.status().message())));
    after[name] = *std::move(whole);
  }
  trajectory.updates = updatesOf(local, start.variables, after);
  return trajectory;
}

} // namespace weft::trials
