#include "tools/weft-trials/Trajectory.h"

#include "compiler/interpret/InputValues.h"
#include "compiler/interpret/Programs.h"
#include "compiler/validate/Fingerprint.h"
#include "compiler/validate/VirtualRanks.h"

#include "absl/strings/str_cat.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace weft::trials {
namespace {

/// Keeps the gradients of a step.
class GradientObserver : public interpret::Observer {
public:
  void computed(Operation *, ArrayRef<interpret::MeshValue>, ArrayRef<interpret::MeshValue>,
                const interpret::Ranks &) override {}
  void carried(StringRef name, Type type, const interpret::MeshValue &value,
               const interpret::Ranks &ranks) override {
    if (!name.starts_with("gradient/"))
      return;
    absl::StatusOr<Tensor> whole = ranks.assemble(value, type);
    // What cannot be put together is left out, and missed by the comparison.
    if (whole.ok())
      gradients[name.str()] = *std::move(whole);
  }
  std::map<std::string, Tensor> gradients;
};

double normOfAll(const std::map<std::string, Tensor> &tensors) {
  double squares = 0;
  for (const auto &[name, tensor] : tensors)
    squares += normOf(tensor) * normOf(tensor);
  return std::sqrt(squares);
}

void compare(const std::map<std::string, Tensor> &reference, const std::map<std::string, Tensor> &now,
             Difference &worst) {
  double norm = normOfAll(reference);
  for (const auto &[name, wanted] : reference) {
    auto found = now.find(name);
    double error = found == now.end() ? std::numeric_limits<double>::infinity()
                                      : tensorError(found->second, wanted, norm);
    if (std::isnan(error) || error > worst.error || worst.name.empty())
      worst = {error, name};
  }
}

} // namespace

FailureOr<Start> drawStart(ModuleOp module, int64_t steps, uint64_t seed) {
  FailureOr<interpret::Variables> variables = interpret::initialVariables(module, seed);
  auto step = module.lookupSymbol<nn::StepOp>("step");
  if (failed(variables) || !step)
    return failure();
  Start start{*std::move(variables), {}};
  for (int64_t number = 0; number < steps; ++number) {
    std::map<std::string, Tensor> &inputs = start.inputs.emplace_back();
    for (const interpret::ProgramInput &input : interpret::inputsOf(step.getOperation())) {
      absl::StatusOr<Tensor> value =
          interpret::generate(*input.wholeType(), absl::StrCat(input.name, "/", number), seed,
                              interpret::integerBound(input.values, 16));
      if (!value.ok())
        return step.emitOpError() << std::string(value.status().message());
      inputs[input.name] = *std::move(value);
    }
  }
  return start;
}

std::map<std::string, Tensor> updatesOf(ModuleOp module, const interpret::Variables &before,
                                        const interpret::Variables &after) {
  std::map<std::string, Tensor> updates;
  // Of a pipeline each rank has its own, in a module of its own.
  module.walk([&](nn::ParameterOp parameter) {
    std::string name = parameter.getSymName().str();
    Tensor update = after.at(name);
    for (size_t i = 0; i < update.reals.size(); ++i)
      update.reals[i] -= before.at(name).reals[i];
    updates["update of " + name] = std::move(update);
  });
  return updates;
}

/// The program that trains, at any level.
static Operation *stepOf(ModuleOp module) {
  return *llvm::find_if(interpret::programsOf(module),
                        [](Operation *program) { return interpret::programName(program) == "step"; });
}

/// The inputs of a run in the order in which the program has them, and without those that it lost.
static std::vector<Tensor> inputsFor(Operation *program, const std::map<std::string, Tensor> &inputs) {
  std::vector<Tensor> ordered;
  for (const interpret::ProgramInput &input : interpret::inputsOf(program))
    ordered.push_back(inputs.at(input.name));
  return ordered;
}

FailureOr<Trajectory> interpretSteps(ModuleOp module, const Start &start) {
  Operation *step = stepOf(module);
  Trajectory trajectory;
  interpret::Variables variables = start.variables;
  std::vector<std::string> names = interpret::outputNames(step);
  for (auto [number, inputs] : llvm::enumerate(start.inputs)) {
    GradientObserver observer;
    interpret::Interpreter interpreter(interpret::Types::Exact, number == 0 ? &observer : nullptr);
    FailureOr<std::vector<Tensor>> outputs =
        interpret::runProgram(interpreter, step, inputsFor(step, inputs), variables);
    if (failed(outputs))
      return failure();
    for (auto [name, value] : llvm::zip_equal(names, *outputs))
      trajectory.scalars[absl::StrCat(name, " of step ", number + 1)] = value;
    if (number == 0)
      trajectory.gradients = std::move(observer.gradients);
  }
  trajectory.updates = updatesOf(module, start.variables, variables);
  return trajectory;
}

absl::StatusOr<Trajectory> executeSteps(ModuleOp planned, const Start &start, bool losesAnElement) {
  absl::StatusOr<std::vector<Executable>> parts = partsOf(planned);
  if (!parts.ok())
    return parts.status();
  Operation *step = stepOf(planned);
  interpret::Variables variables = start.variables;
  std::vector<std::vector<Tensor>> runs;
  for (const std::map<std::string, Tensor> &inputs : start.inputs)
    runs.push_back(inputsFor(step, inputs));
  absl::StatusOr<std::vector<std::vector<Tensor>>> outputs =
      runOnVirtualRanks(*parts, step, runs, variables, {losesAnElement});
  if (!outputs.ok())
    return outputs.status();
  Trajectory trajectory;
  std::vector<std::string> names = interpret::outputNames(step);
  for (auto [number, values] : llvm::enumerate(*outputs))
    for (auto [name, value] : llvm::zip_equal(names, values))
      trajectory.scalars[absl::StrCat(name, " of step ", number + 1)] = value;
  trajectory.updates = updatesOf(planned, start.variables, variables);
  return trajectory;
}

Difference worstDifference(const Trajectory &reference, const Trajectory &now) {
  Difference worst;
  // Scalars are compared each by itself.
  for (const auto &[name, value] : reference.scalars)
    compare({{name, value}}, now.scalars, worst);
  if (!now.gradients.empty())
    compare(reference.gradients, now.gradients, worst);
  compare(reference.updates, now.updates, worst);
  return worst;
}

} // namespace weft::trials
