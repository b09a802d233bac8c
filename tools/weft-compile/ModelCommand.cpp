//===- ModelCommand.cpp - weft model --------------------------------------===//
//
// list, show, function and parameters: reads the words, and prints what compiler/ModelReport makes of them.
// Each mesh is compiled, so that its bytes are those of its memory plan.
//
//===----------------------------------------------------------------------===//
#include "tools/weft-compile/ModelCommand.h"

#include "compiler/Compile.h"
#include "compiler/ModelReport.h"
#include "runtime/config/ConfigLoader.h"
#include "runtime/config/HuggingFaceConfig.h"
#include "runtime/support/ExitCode.h"
#include "runtime/train/ModelFlops.h"
#include "tools/weft-compile/Target.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

#include <algorithm>
#include <cstdio>

namespace weft {
namespace {

struct Options {
  std::string file;
  std::vector<std::string> overrides, meshes;
  int64_t sequenceLength = 2048;
  bool json = false;
};

/// A config.json alone says nothing of a run.
bool isModelFile(const std::string &file) { return absl::EndsWith(file, ".json"); }

/// The run of a config.json: one rank, one sample, and defaults.
absl::StatusOr<Config> configOfModel(const Options &options) {
  if (!options.overrides.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("--set changes a run file, and ", options.file,
                     " is none. Write a run file with model: {from: ", options.file, "}"));
  absl::StatusOr<ModelConfig> model = loadModelConfig(options.file);
  if (!model.ok())
    return model.status();
  Config config;
  config.model = *std::move(model);
  config.data.sequenceLength = std::min(options.sequenceLength, config.model.maxPositionEmbeddings);
  config.optimizer.lr = 1e-3;
  config.train.steps = config.train.microBatch = config.train.globalBatch = 1;
  return config;
}

/// The run on a mesh: `tensor=2,zero=1` are keys of parallel that are changed.
absl::StatusOr<Config> configOf(const Options &options, const std::string &mesh) {
  std::vector<std::string> changes;
  if (!mesh.empty())
    for (absl::string_view change : absl::StrSplit(mesh, ','))
      changes.push_back(absl::StrCat("parallel.", change));
  if (!isModelFile(options.file)) {
    std::vector<std::string> overrides = options.overrides;
    overrides.insert(overrides.end(), changes.begin(), changes.end());
    if (!mesh.empty())
      overrides.push_back("launch.ranks=auto");
    absl::StatusOr<LoadedConfig> loaded = loadConfig(options.file, overrides);
    return loaded.ok() ? absl::StatusOr<Config>(loaded->config) : loaded.status();
  }
  if (!mesh.empty())
    return absl::InvalidArgumentError(
        absl::StrCat("--mesh ", mesh, " changes the mesh of a run, and ", options.file,
                     " says nothing of one. Write a run file with model: {from: ", options.file, "}"));
  return configOfModel(options);
}

absl::StatusOr<Compiled> compileMesh(const Options &options, const std::string &mesh, Config &config) {
  absl::StatusOr<Config> chosen = configOf(options, mesh);
  if (!chosen.ok())
    return chosen.status();
  config = *std::move(chosen);
  absl::StatusOr<Target> target = openTarget(config);
  if (!target.ok())
    return target.status();
  return compileJob(config, "", {*target, {}, {}});
}

absl::Status show(const Options &options) {
  ModelReport report;
  std::vector<std::string> meshes = {""};
  meshes.insert(meshes.end(), options.meshes.begin(), options.meshes.end());
  for (const std::string &mesh : meshes) {
    Config config;
    absl::StatusOr<Compiled> compiled = compileMesh(options, mesh, config);
    if (!compiled.ok())
      return compiled.status();
    report.meshes.push_back(meshMemory(*compiled, !mesh.empty()               ? mesh
                                                  : isModelFile(options.file) ? "one rank"
                                                                              : "the run's"));
    if (!mesh.empty())
      continue;
    absl::StatusOr<std::vector<ModelParameter>> parameters = modelParameters(config);
    if (!parameters.ok())
      return parameters.status();
    report.family = nameOfModel(config.model);
    report.parameters = *std::move(parameters);
    report.sequenceLength = config.data.sequenceLength;
    report.flopsPerToken = modelFlopsPerToken(config, compiled->parts);
  }
  std::fputs((options.json ? reportJson(report) : reportText(report)).c_str(), stdout);
  return absl::OkStatus();
}

absl::Status showParameters(const Options &options) {
  absl::StatusOr<Config> config = configOf(options, "");
  if (!config.ok())
    return config.status();
  absl::StatusOr<std::vector<ModelParameter>> parameters = modelParameters(*config);
  if (!parameters.ok())
    return parameters.status();
  std::fputs(parametersJson(*parameters).c_str(), stdout);
  return absl::OkStatus();
}

absl::Status showFunction(const Options &options) {
  absl::StatusOr<Config> config = configOf(options, "");
  if (!config.ok())
    return config.status();
  absl::StatusOr<std::string> text = modelFunctionText(*config);
  if (!text.ok())
    return text.status();
  std::fputs(text->c_str(), stdout);
  return absl::OkStatus();
}

void addFileOptions(CLI::App &command, Options &options) {
  command.add_option("FILE", options.file, "A run file (YAML), or the config.json of a model")->required();
  command
      .add_option("--set", options.overrides, "Overrides a key of the run file: --set model.vocab_size=512")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

} // namespace

int runModelCommand(int argc, char **argv) {
  CLI::App app("Models: the families, and what a run's model is and needs.", "weft model");
  app.require_subcommand(1);
  Options options;
  CLI::App *listing = app.add_subcommand("list", "List the families with their keys");
  listing->add_flag("--json", options.json, "Print JSON instead of text");
  CLI::App *showing = app.add_subcommand(
      "show", "Show a model's parameters by block, operations per token, and bytes by mesh");
  addFileOptions(*showing, options);
  showing
      ->add_option("--mesh", options.meshes,
                   "Also on this mesh, the run's with these keys of parallel: --mesh tensor=2,zero=1")
      ->type_name("KEY=VALUE,...")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  showing
      ->add_option("--sequence-length", options.sequenceLength,
                   "Of a config.json alone, at most its longest sequence")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  showing->add_flag("--json", options.json, "Print JSON instead of text");
  CLI::App *function = app.add_subcommand(
      "function", "Print the model's function as IR, to change it and train it as model.program");
  addFileOptions(*function, options);
  CLI::App *parameters =
      app.add_subcommand("parameters", "Print the name, shape and type of each parameter as JSON");
  addFileOptions(*parameters, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return static_cast<int>(app.exit(error) == 0 ? ExitCode::Ok : ExitCode::Config);
  }
  if (listing->parsed()) {
    std::fputs((options.json ? familiesJson() : familiesText()).c_str(), stdout);
    return static_cast<int>(ExitCode::Ok);
  }
  const absl::Status status = showing->parsed()    ? show(options)
                              : function->parsed() ? showFunction(options)
                                                   : showParameters(options);
  if (status.ok())
    return static_cast<int>(ExitCode::Ok);
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return static_cast<int>(exitCodeOf(withExitCode(status, ExitCode::Config)));
}

} // namespace weft
