#include "tools/weft-run/Check.h"

#include "compiler/model/BuildPrograms.h"
#include "compiler/validate/PhaseCheck.h"
#include "compiler/validate/Sabotage.h"
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "runtime/config/ConfigLoader.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cstdio>

using namespace mlir;

namespace weft::run {
namespace {

/// What stands for the run file of a bare program. One on a mesh is placed with all that the mesh offers.
Config configOfProgram() {
  Config config;
  config.optimizer.kind = OptimizerKind::Sgd;
  config.optimizer.lr = 0.1;
  config.train.steps = 10;
  config.parallel.zero = 1;
  config.parallel.sequence = true;
  return config;
}

/// On a mesh with a pipeline the program is cut into one stage for each of its ranks; boundaries count
/// layers.
void addPipeline(ModuleOp module, Config &config) {
  auto mesh = module->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute);
  config.parallel.pipeline.size = mesh ? mesh.sizeOf(mesh.axesOf("pipeline")) : 1;
  module.walk([&](nn::BoundaryOp boundary) {
    config.model.numHiddenLayers =
        std::max(config.model.numHiddenLayers, static_cast<int64_t>(boundary.getLayer()));
  });
}

} // namespace

absl::Status checkFile(MLIRContext &context, const CheckOptions &options) {
  Config config = configOfProgram();
  OwningOpRef<ModuleOp> module;
  bool isProgram = !absl::EndsWith(options.file, ".yaml") && !absl::EndsWith(options.file, ".yml");
  if (!isProgram) {
    absl::StatusOr<LoadedConfig> loaded = loadConfig(options.file, options.overrides);
    if (!loaded.ok())
      return withExitCode(loaded.status(), ExitCode::Config);
    config = loaded->config;
    module = buildPrograms(&context, config);
  } else if (!options.overrides.empty()) {
    return withExitCode(absl::InvalidArgumentError(absl::StrCat("--set changes a key of a run file, and ",
                                                                options.file, " is a program")),
                        ExitCode::Config);
  } else {
    module = parseSourceFile<ModuleOp>(options.file, &context);
  }
  if (!module || failed(verify(*module)))
    return withExitCode(absl::InvalidArgumentError(""), ExitCode::Config); // a diagnostic has said why
  if (isProgram)
    addPipeline(*module, config);
  FailureOr<PhaseReport> report = checkPhases(*module, config, options.seed, options.sabotage);
  if (failed(report))
    return withExitCode(absl::InvalidArgumentError(""), ExitCode::Config);
  if (const Sabotage *broken = findSabotage(options.sabotage))
    std::printf("broken on purpose after %s: %s\n", broken->phase.c_str(), broken->summary.c_str());
  std::printf("%s", explain(*report).c_str());
  if (report->change)
    return absl::InternalError(absl::StrCat("phase ", report->change->phase, " is wrong"));
  return absl::OkStatus();
}

} // namespace weft::run
