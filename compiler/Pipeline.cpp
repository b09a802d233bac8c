//===- Pipeline.cpp - The ordered list of phases --------------------------------===//
//
// Read `addPhases` from top to bottom: it is the life of a program, from what the model means to where every
// byte lies. Cut, recompute and overlap join it with pipelines.
//
//===----------------------------------------------------------------------===//
#include "compiler/Pipeline.h"

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

/// One phase: a name that people know, and the passes that it is made of.
struct Phase {
  std::string name;
  std::function<void(PassManager &, const Config &, bool explain)> addPasses;
};

const std::vector<Phase> &phases() {
  static const std::vector<Phase> list = {
      //===-- the global program: what to compute ------------------------------===//
      // Before differentiate, so that the backward is built in the recipe's types and no gradient is rounded
      // on its way.
      {"precision", [](PassManager &manager, const Config &config,
                       bool) { manager.addPass(createPrecision(precisionOptions(config))); }},
      {"differentiate",
       [](PassManager &manager, const Config &, bool) { manager.addPass(createDifferentiate()); }},
      // After it the step is whole. Equal values are merged here once: later phases may not (a recomputed
      // value is a
      // copy on purpose).
      {"update",
       [](PassManager &manager, const Config &config, bool) {
         manager.addPass(createUpdate(updateOptions(config)));
         manager.addPass(createCanonicalizerPass());
         manager.addPass(createCSEPass());
       }},
      //===-- the mesh: where it lives. Nothing happens without one -------------===//
      {"place",
       [](PassManager &manager, const Config &config, bool explain) {
         manager.addPass(createSeedPlacements(seedOptions(config)));
         manager.addPass(createPlace(PlaceOptions{explain}));
       }},
      {"partition", [](PassManager &manager, const Config &, bool) { manager.addPass(createPartition()); }},
      //===-- the scheduled program: when it happens, and where -----------------===//
      {"schedule", [](PassManager &manager, const Config &, bool) { manager.addPass(createSchedule()); }},
      {"fuse", [](PassManager &manager, const Config &config,
                  bool) { manager.addPass(createFuse(FuseOptions{config.launch.comm != CommKind::Local})); }},
      // Nothing may change the program after this: every byte has its place.
      {"memory", [](PassManager &manager, const Config &, bool) { manager.addPass(createMemory()); }},
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
  show("build");
  for (const Phase &phase : phases()) {
    PassManager manager(module.getContext());
    if (!options.reproducerPath.empty())
      manager.enableCrashReproducerGeneration(options.reproducerPath);
    phase.addPasses(manager, config, options.explain);
    if (failed(manager.run(module)))
      return failure();
    show(phase.name);
    if (phase.name == options.stopAfter)
      break;
  }
  return success();
}

} // namespace weft
