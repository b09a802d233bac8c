//===- ExportRun.cpp - What a run starts from, for other implementations ----===//
//
// `weft-export-run RUN.weft STEPS OUT.safetensors` writes the parameters as the run initializes them, under
// their names, and the batches of its first STEPS steps: `tokens` and `targets` [steps, microbatches,
// samples, sequence]. The trainer's own parts compute both, so another implementation can train on exactly
// the same.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/SafetensorsFile.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/train/RunData.h"
#include "runtime/train/StepProgram.h"
#include "runtime/train/TrainRun.h"
#include "runtime/train/VariableState.h"

#include "absl/strings/numbers.h"

#include <cstdio>
#include <filesystem>
#include <map>

namespace {
using namespace weft;
using checkpoint::SafetensorsEntry;

/// Bytes by tensor name, with their entry in the file.
using Contents = std::map<std::string, std::pair<SafetensorsEntry, std::vector<std::byte>>>;

void add(Contents &contents, const std::string &name, DType type, std::vector<int64_t> shape,
         std::span<const std::byte> bytes) {
  contents[name] = {{name, checkpoint::toSafetensors(type), std::move(shape), 0, 0},
                    {bytes.begin(), bytes.end()}};
}

void addParameters(Contents &contents, Executor &executor, uint64_t seed) {
  initializeVariables(executor, seed);
  for (const Variable &variable : executor.executable().variables)
    if (!variable.isState)
      add(contents, variable.name, variable.type.dtype, variable.type.shape,
          executor.variable(variable.name)->bytes);
}

absl::Status addBatches(Contents &contents, Executor &executor, const Config &config,
                        const Tokenizer &tokenizer, const std::string &cache, int64_t steps) {
  RunLog log;
  absl::StatusOr<std::shared_ptr<const TrainingData>> data = openRunData(config, tokenizer, cache, log);
  if (!data.ok())
    return data.status();
  DataLoaderOptions options;
  options.globalBatch = config.train.globalBatch;
  options.microBatch = config.train.microBatch;
  absl::StatusOr<std::unique_ptr<DataLoader>> loader = DataLoader::create(*data, options);
  if (!loader.ok())
    return loader.status();
  absl::StatusOr<StepProgram> step = StepProgram::bind(executor, config);
  if (!step.ok())
    return step.status();
  const int64_t microbatches = config.microBatches();
  for (const std::string &name : {std::string("tokens"), std::string("targets")}) {
    std::vector<std::byte> all;
    for (int64_t index = 0; index < steps; ++index) {
      if (absl::Status status = step->fill(index, **loader); !status.ok())
        return status;
      for (int64_t part = 0; part < microbatches; ++part) {
        absl::StatusOr<HostTensor> batch = executor.input(step->handle(), name, static_cast<uint32_t>(part));
        if (!batch.ok())
          return batch.status();
        all.insert(all.end(), batch->bytes.begin(), batch->bytes.end());
      }
    }
    add(contents, name, DType::I32,
        {steps, microbatches, config.train.microBatch, config.data.sequenceLength}, all);
  }
  return absl::OkStatus();
}

absl::Status write(const Contents &contents, const std::string &path) {
  std::vector<SafetensorsEntry> entries;
  for (const auto &[name, content] : contents)
    entries.push_back(content.first);
  absl::StatusOr<checkpoint::SafetensorsWriter> writer =
      checkpoint::SafetensorsWriter::create(checkpoint::systemFiles(), path, std::move(entries), {});
  if (!writer.ok())
    return writer.status();
  for (const SafetensorsEntry &entry : writer->entries())
    if (absl::Status status = writer->write(contents.at(entry.name).second); !status.ok())
      return status;
  return writer->finish().status();
}

absl::Status exportRun(const std::string &file, int64_t steps, const std::string &output) {
  absl::StatusOr<std::vector<Executable>> parts = readExecutables(file);
  if (!parts.ok())
    return parts.status();
  Executable *executable = &parts->front();
  absl::StatusOr<LoadedConfig> loaded = executableConfig(*executable, file, {});
  if (!loaded.ok())
    return loaded.status();
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = loadTokenizer(executable->tokenizer.str());
  if (!tokenizer.ok())
    return tokenizer.status();
  absl::StatusOr<std::unique_ptr<Device>> device =
      openCpuDevice(executable->target.instructionSet, std::make_shared<ThreadPool>(2));
  if (!device.ok())
    return device.status();
  absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::create(std::move(*executable), **device);
  if (!executor.ok())
    return executor.status();
  Contents contents;
  addParameters(contents, **executor, static_cast<uint64_t>(loaded->config.train.seed));
  const std::string cache = std::filesystem::absolute(output).parent_path() / "data";
  if (absl::Status status = addBatches(contents, **executor, loaded->config, **tokenizer, cache, steps);
      !status.ok())
    return status;
  return write(contents, output);
}
} // namespace

int main(int argc, char **argv) {
  int64_t steps = 0;
  if (argc != 4 || !absl::SimpleAtoi(argv[2], &steps) || steps < 1) {
    std::fprintf(stderr, "usage: weft-export-run RUN.weft STEPS OUT.safetensors\n");
    return 2;
  }
  absl::Status status = exportRun(argv[1], steps, argv[3]);
  if (!status.ok())
    std::fprintf(stderr, "weft-export-run: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
