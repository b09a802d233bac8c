//===- InterchangeCommands.cpp - weft ckpt import|export -------------------===//
//
// Gives runtime/interchange what only a process has: a compiler that knows a run's parameters, and signals.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/InterchangeCommands.h"

#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/config/ConfigLoader.h"
#include "runtime/config/HuggingFaceConfig.h"
#include "runtime/interchange/ExportFolder.h"
#include "runtime/interchange/ImportFolder.h"
#include "runtime/support/ByteUnits.h"
#include "runtime/support/FormatCount.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/train/Resume.h"
#include "tools/weft/Command.h"
#include "tools/weft/CompilerProcess.h"
#include "tools/weft/StopSignals.h"

#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>

namespace weft {
namespace {

using namespace interchange;

struct ImportOptions {
  std::string folder, config, output;
  std::vector<std::string> overrides;
};

struct ExportOptions {
  std::string checkpoint, output, dtype, shardSize = "5 GB";
  std::optional<int64_t> vocabularySize;
};

/// The parameters of the run's model, as the compiler knows them.
absl::StatusOr<Parameters> parametersOf(const ImportOptions &options) {
  std::vector<std::string> arguments = {"model", "parameters", options.config};
  for (const std::string &override : options.overrides)
    arguments.insert(arguments.end(), {"--set", override});
  absl::StatusOr<std::string> text = askCompiler(arguments);
  if (!text.ok())
    return text.status();
  const nlohmann::json list = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array())
    return absl::InternalError("weft-compile model parameters: expected JSON. Is it of another version?");
  Parameters parameters;
  for (const nlohmann::json &parameter : list) {
    const std::optional<DType> dtype = dtypeFromName(parameter.at("dtype").get<std::string>());
    if (!dtype)
      return absl::InternalError(absl::StrCat("weft-compile model parameters: ", parameter.dump()));
    parameters.emplace_back(parameter.at("name").get<std::string>(),
                            TensorType{*dtype, parameter.at("shape").get<std::vector<int64_t>>()});
  }
  return parameters;
}

/// What the config.json beside the weights says of the model otherwise than the run.
absl::Status tellDifferences(const HuggingFaceFolder &folder, const ImportOptions &options,
                             const ModelConfig &model) {
  if (!model.program.empty())
    return absl::OkStatus();
  absl::StatusOr<std::vector<std::string>> differences = folderDifferences(folder, model, options.config);
  if (!differences.ok())
    return differences.status();
  for (const std::string &difference : *differences)
    std::fprintf(stderr, "%s\n", difference.c_str());
  return absl::OkStatus();
}

absl::Status importWeights(const ImportOptions &options) {
  absl::StatusOr<LoadedConfig> loaded = loadConfig(options.config, options.overrides);
  if (!loaded.ok())
    return withExitCode(loaded.status(), ExitCode::Config);
  absl::StatusOr<HuggingFaceFolder> folder = HuggingFaceFolder::open(options.folder);
  if (!folder.ok())
    return withExitCode(folder.status(), ExitCode::Checkpoint);
  if (absl::Status status = tellDifferences(*folder, options, loaded->config.model); !status.ok())
    return withExitCode(status, ExitCode::Checkpoint);
  absl::StatusOr<Parameters> parameters = parametersOf(options);
  if (!parameters.ok())
    return parameters.status();
  absl::StatusOr<FolderParameters> source =
      FolderParameters::match(*std::move(folder), *std::move(parameters));
  if (!source.ok())
    return withExitCode(source.status(), ExitCode::Checkpoint);
  ImportRequest request{options.output, loaded->resolvedYaml()};
  request.stopRequested = stopSignalCame;
  noteStopSignals();
  absl::StatusOr<ImportResult> result = importFolder(*source, request);
  if (!result.ok())
    return result.status();
  std::printf("imported %zu tensors, %s bytes -> %s\n", result->tensors, formatCount(result->bytes).c_str(),
              options.output.c_str());
  for (const std::string &note : source->notes())
    std::printf("  %s\n", note.c_str());
  if (result->rounded > 0)
    std::printf("  %s elements have another value now\n", formatCount(result->rounded).c_str());
  return absl::OkStatus();
}

/// What goes along of the run's tokenizer. A tokenizer whose file has gone is told, and missing.
void addTokenizer(ExportRequest &request) {
  const TokenizerConfig &config = request.config.tokenizer;
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = createTokenizer(config);
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\nThe folder is written without a tokenizer.\n",
                 std::string(tokenizer.status().message()).c_str());
    return;
  }
  request.endOfText = (*tokenizer)->endOfDocument();
  if (!config.file.empty())
    request.copied = tokenizerFiles(config.file);
}

absl::StatusOr<ExportRequest> requestOf(const ExportOptions &options, Config config) {
  ExportRequest request{options.output, std::move(config)};
  if (!options.dtype.empty())
    request.dtype = dtypeFromName(options.dtype);
  const std::optional<int64_t> shard = bytesFromText(options.shardSize);
  if (!shard || *shard < 1)
    return withExitCode(
        absl::InvalidArgumentError(absl::StrCat("--shard-size: expected bytes, such as 5GB or "
                                                "512MiB, got '",
                                                options.shardSize, "'")),
        ExitCode::Config);
  request.shardBytes = *shard;
  addTokenizer(request);
  request.vocabularySize = options.vocabularySize;
  request.stopRequested = stopSignalCame;
  return request;
}

absl::Status exportWeights(const ExportOptions &options) {
  std::vector<std::string> broken;
  absl::StatusOr<checkpoint::Checkpoint> checkpoint = checkpoint::openMeant(options.checkpoint, broken);
  for (const std::string &message : broken)
    std::fprintf(stderr, "%s\n", message.c_str());
  if (!checkpoint.ok())
    return withExitCode(checkpoint.status(), ExitCode::Checkpoint);
  absl::StatusOr<Config> config = savedConfig(*checkpoint);
  if (!config.ok())
    return withExitCode(config.status(), ExitCode::Checkpoint);
  absl::StatusOr<ExportRequest> request = requestOf(options, *std::move(config));
  if (!request.ok())
    return request.status();
  noteStopSignals();
  absl::StatusOr<ExportResult> result = exportFolder(*checkpoint, *request);
  if (!result.ok())
    return result.status();
  std::printf("exported step %lld: %zu tensors, %s bytes in %zu %s -> %s\n",
              static_cast<long long>(checkpoint->state().step), result->tensors,
              formatCount(result->bytes).c_str(), result->files, result->files == 1 ? "file" : "files",
              options.output.c_str());
  if (result->rounded > 0)
    std::printf("  %s elements were rounded to %s\n", formatCount(result->rounded).c_str(),
                options.dtype.c_str());
  return absl::OkStatus();
}

void finish(const absl::Status &status) {
  std::fflush(stdout);
  if (!status.ok())
    failCommand(status);
}

} // namespace

static void addImport(CLI::App &ckpt) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App *command =
      ckpt.add_subcommand("import", "Make a checkpoint of a Hugging Face folder, for a run to start from");
  command->add_option("folder", options->folder, "The folder: config.json and safetensors")->required();
  command->add_option("--config", options->config, "The run file whose model it is")->required();
  command->add_option("-o,--output", options->output, "The checkpoint's folder, a new one")->required();
  command->add_option("--set", options->overrides, "Override a key of the run file")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command->callback([options] { finish(importWeights(*options)); });
}

static void addExport(CLI::App &ckpt) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App *command =
      ckpt.add_subcommand("export", "Make a Hugging Face folder of a checkpoint's parameters");
  command
      ->add_option("path", options->checkpoint,
                   "A checkpoint (runs/NAME/checkpoints/step-N), or a run's folder")
      ->required();
  command->add_option("-o,--output", options->output, "The folder, a new one")->required();
  command->add_option("--dtype", options->dtype, "The type of the weights (default: the checkpoint's)")
      ->check(CLI::IsMember({"bf16", "f16", "f32", "f64"}));
  command->add_option("--shard-size", options->shardSize, "The most that a file of several tensors may have")
      ->capture_default_str();
  command->add_option("--vocab-size", options->vocabularySize,
                      "Rows of embedding and head to keep, where the model pads its vocabulary");
  command->callback([options] { finish(exportWeights(*options)); });
}

void addInterchangeCommands(CLI::App &app) {
  CLI::App &ckpt = *app.get_subcommand("ckpt");
  addImport(ckpt);
  addExport(ckpt);
}

} // namespace weft
