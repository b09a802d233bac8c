//===- Pipeline.cpp - The ordered list of phases --------------------------------===//
//
// Read `phases` from top to bottom: it is the life of a program, from what the model means to where every
// byte lies. Recompute and overlap join it later.
//
//===----------------------------------------------------------------------===//
#include "compiler/Pipeline.h"

#include "compiler/schedule/PlanStages.h"
#include "dialects/nn/NnDialect.h"
#include "passes/differentiate/Differentiate.h"
#include "passes/fuse/Fuse.h"
#include "passes/memory/Memory.h"
#include "passes/partition/Partition.h"
#include "passes/pipeline/Schedule.h"
#include "passes/place/Place.h"
#include "passes/precision/Precision.h"
#include "passes/update/Update.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <functional>

using namespace mlir;

namespace weft {
namespace {

PrecisionOptions precisionOptions(const Config &config) {
  PrecisionOptions options;
  switch (config.precision.recipe) {
  case PrecisionRecipe::Fp32:
    options.recipe = "fp32";
    break;
  case PrecisionRecipe::Bf16:
    options.recipe = "bf16";
    break;
  case PrecisionRecipe::Fp16:
    options.recipe = "fp16";
    break;
  }
  options.initialLossScale = config.precision.lossScale.initial;
  return options;
}

std::string scheduleName(LrScheduleKind kind) {
  switch (kind) {
  case LrScheduleKind::Constant:
    return "constant";
  case LrScheduleKind::Linear:
    return "linear";
  case LrScheduleKind::Cosine:
    return "cosine";
  case LrScheduleKind::Wsd:
    return "wsd";
  case LrScheduleKind::InverseSqrt:
    return "inverse_sqrt";
  }
  return "constant";
}

/// A number as the text of a pass option: 17 digits give back every double.
std::string exactNumber(double value) { return absl::StrFormat("%.17g", value); }

UpdateOptions updateOptions(const Config &config) {
  UpdateOptions options;
  const OptimizerConfig &optimizer = config.optimizer;
  options.optimizer = optimizer.kind == OptimizerKind::Adamw ? "adamw"
                      : optimizer.kind == OptimizerKind::Sgd ? "sgd"
                                                             : "lion";
  options.lr = optimizer.lr;
  options.beta1 = optimizer.kind == OptimizerKind::Sgd ? optimizer.momentum : optimizer.betas[0];
  options.beta2 = optimizer.betas[1];
  options.epsilon = optimizer.epsilon;
  options.weightDecay = optimizer.weightDecay;
  options.clipGradNorm = optimizer.clipGradNorm;
  options.noDecay.assign(optimizer.noDecay.begin(), optimizer.noDecay.end());
  for (const ParameterGroup &group : optimizer.groups)
    options.groups.push_back(absl::StrCat(group.match, ":", exactNumber(group.lrScale), ":",
                                          group.weightDecay ? exactNumber(*group.weightDecay) : ""));
  options.schedule = scheduleName(config.lrSchedule.kind);
  options.steps = config.train.steps;
  options.warmupSteps = config.lrSchedule.warmupSteps;
  options.decaySteps = config.lrSchedule.decaySteps;
  options.minLrRatio = config.lrSchedule.minLrRatio;
  options.reduction = config.train.reduction == ReductionKind::Canonical ? "canonical" : "fast";
  options.lossScaleWindow = config.precision.lossScale.growthInterval;
  options.lossScaleGrowth = config.precision.lossScale.growthFactor;
  options.lossScaleBackoff = config.precision.lossScale.backoffFactor;
  return options;
}

std::string contextName(ContextMethod method) {
  switch (method) {
  case ContextMethod::Gather:
    return "gather";
  case ContextMethod::AllToAll:
    return "all_to_all";
  case ContextMethod::Ring:
    return "ring";
  }
  return "gather";
}

SeedPlacementsOptions seedOptions(const Config &config) {
  SeedPlacementsOptions options;
  options.zero = config.parallel.zero;
  options.sequence = config.parallel.sequence;
  options.context = contextName(config.parallel.context.method);
  return options;
}

/// Whether every pipeline rank has a program of its own, in a module of its own.
bool isPipelined(const Config &config) { return config.parallel.pipeline.size > 1; }

/// How many layers the model has. In a program each begins with its boundary, and one more may stand before
/// the head.
absl::StatusOr<int64_t> layersOf(ModuleOp module, const Config &config) {
  if (config.model.program.empty())
    return config.model.numHiddenLayers;
  int64_t layers = -1;
  module.walk([&](nn::BoundaryOp boundary) { layers = std::max<int64_t>(layers, boundary.getLayer()); });
  if (layers >= 0)
    return layers;
  return absl::InvalidArgumentError(
      absl::StrCat("parallel.pipeline.size: ", config.model.program,
                   " has no nn.boundary, where it could be cut into stages. Works: 1, or a program in which "
                   "`nn.boundary LAYER %x` stands before each layer and before the head."));
}

/// A layout that is written out, or a number of stages, says where the model is cut; `auto` leaves it to
/// costs.
absl::StatusOr<CutOptions> cutOptions(ModuleOp module, const Config &config) {
  CutOptions options;
  if (!isPipelined(config))
    return options;
  absl::StatusOr<int64_t> layers = layersOf(module, config);
  if (!layers.ok())
    return layers.status();
  absl::StatusOr<StageLayout> layout = planStages(config, *layers);
  if (!layout.ok())
    return layout.status();
  options.schedule = config.parallel.pipeline.schedule;
  options.stages = static_cast<int64_t>(layout->stages.size());
  options.memoryLimit = static_cast<double>(config.launch.memoryPerRank.value_or(0));
  if (config.parallel.pipeline.layout != "auto")
    for (const StageLayers &stage : ArrayRef(layout->stages).drop_front())
      options.firstLayers.push_back(stage.firstLayer);
  return options;
}

/// What a phase is told.
struct PhaseInput {
  const Config &config;
  bool explain; ///< decisions leave their reasons in the IR
  CutOptions cut;
};

/// One phase: a name that people know, and the passes that it is made of.
struct Phase {
  std::string name;
  std::function<void(PassManager &, const PhaseInput &)> addPasses;
};

/// A pass over each pipeline rank's module; without a pipeline over the job's.
void addToRanks(PassManager &manager, const PhaseInput &input, std::unique_ptr<Pass> pass) {
  if (isPipelined(input.config))
    manager.nest<ModuleOp>().addPass(std::move(pass));
  else
    manager.addPass(std::move(pass));
}

const std::vector<Phase> &phases() {
  static const std::vector<Phase> list = {
      //===-- the global program: what to compute ------------------------------===//
      // Before differentiate, so that the backward is built in the recipe's types and no gradient is rounded
      // on its way.
      {"precision",
       [](PassManager &manager, const PhaseInput &input) {
         manager.addPass(createPrecision(precisionOptions(input.config)));
       }},
      {"differentiate",
       [](PassManager &manager, const PhaseInput &) { manager.addPass(createDifferentiate()); }},
      // After it the step is whole. Equal values are merged here once: later phases may not (a recomputed
      // value
      // is a copy on purpose).
      {"update",
       [](PassManager &manager, const PhaseInput &input) {
         manager.addPass(createUpdate(updateOptions(input.config)));
         manager.addPass(createCanonicalizerPass());
         manager.addPass(createCSEPass());
       }},
      //===-- the mesh: where it lives. Nothing happens without one -------------===//
      {"place",
       [](PassManager &manager, const PhaseInput &input) {
         manager.addPass(createSeedPlacements(seedOptions(input.config)));
         manager.addPass(createPlace(PlaceOptions{input.explain}));
       }},
      {"partition", [](PassManager &manager, const PhaseInput &) { manager.addPass(createPartition()); }},
      //===-- the scheduled program: when it happens, and where -----------------===//
      // A pipeline is cut into stages first; from here on each of its ranks has a program.
      {"schedule",
       [](PassManager &manager, const PhaseInput &input) {
         manager.addPass(isPipelined(input.config) ? createCut(input.cut) : createSchedule());
       }},
      {"fuse",
       [](PassManager &manager, const PhaseInput &input) {
         addToRanks(manager, input,
                    createFuse(FuseOptions{input.config.launch.comm != CommKind::Local,
                                           input.config.launch.fusion != FusionKind::Off,
                                           input.config.launch.fusion == FusionKind::Generated}));
         addToRanks(manager, input, createRematerialize());
       }},
      // Nothing may change the program after this: every byte has its place.
      {"memory",
       [](PassManager &manager, const PhaseInput &input) { addToRanks(manager, input, createMemory()); }},
  };
  return list;
}

} // namespace

std::vector<std::string> phaseNames() {
  std::vector<std::string> names = {"build"};
  for (const Phase &phase : phases())
    names.push_back(phase.name);
  return names;
}

LogicalResult runPhases(ModuleOp module, const Config &config, const PhaseOptions &options) {
  auto show = [&](StringRef phase) {
    if (phase == options.printAfter)
      module.print(llvm::outs());
    if (options.observe)
      options.observe(phase, module);
  };
  absl::StatusOr<CutOptions> cut = cutOptions(module, config);
  if (!cut.ok())
    return module.emitError() << std::string(cut.status().message());
  const PhaseInput input{config, options.explain, *std::move(cut)};
  show("build");
  for (const Phase &phase : phases()) {
    PassManager manager(module.getContext());
    if (!options.reproducerPath.empty())
      manager.enableCrashReproducerGeneration(options.reproducerPath);
    phase.addPasses(manager, input);
    if (failed(manager.run(module)))
      return failure();
    show(phase.name);
    if (phase.name == options.stopAfter)
      break;
  }
  return success();
}

} // namespace weft
