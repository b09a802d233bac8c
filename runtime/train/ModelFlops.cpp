//===- ModelFlops.cpp - What a step must compute, and what a machine can --===//
//
// The product that is timed is the kernel that the model's own products use.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/ModelFlops.h"
#include "runtime/train/VariableState.h"

#include "absl/strings/match.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace weft {
namespace {

/// Large enough to be a product's usual speed, and short enough to fall between what else the machine does.
constexpr int64_t kSize = 384;
constexpr double kMeasureSeconds = 0.25;

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The keys that a token of a causal sequence sees on average: half of them, or most of a window.
double visibleKeys(int64_t sequence, int64_t window) {
  const auto length = static_cast<double>(sequence);
  const double seen = window > 0 ? std::min(static_cast<double>(window), length) : length;
  return seen - seen * seen / (2.0 * length);
}

} // namespace

std::optional<double> modelFlopsPerToken(const Config &config, const std::vector<Executable> &parts) {
  const ModelConfig &model = config.model;
  if (!model.program.empty())
    return std::nullopt;
  int64_t elements = 0;
  for (const Variable *variable : variablesOf(parts))
    if (variable->trainable && variable->type.shape.size() >= 2 && !absl::EndsWith(variable->name, ".bias") &&
        !absl::EndsWith(variable->name, ".wpe.weight"))
      elements += globalType(*variable).elements();
  if (!model.tieWordEmbeddings)
    elements -= model.vocabSize * model.hiddenSize;
  double keys = 0;
  for (int64_t layer = 0; layer < model.numHiddenLayers; ++layer)
    keys += visibleKeys(config.data.sequenceLength, model.layerWindow(layer));
  double attention = 12.0 * static_cast<double>(model.numAttentionHeads * model.headDim) * keys;
  return 6.0 * static_cast<double>(elements) + attention;
}

absl::StatusOr<double> measureProductFlops(Device &device, DType type, int64_t size, double seconds) {
  KernelCall call;
  call.name = "einsum";
  call.operands = {{type, {size, size}}, {type, {size, size}}};
  call.results = {{DType::F32, {size, size}}};
  call.setText("equation", "mk,kn->mn");
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = device.createKernel(call, nullptr);
  if (!kernel.ok())
    return kernel.status();
  std::vector<std::unique_ptr<Memory>> memory;
  for (uint64_t bytes :
       {static_cast<uint64_t>(call.operands[0].bytes()), static_cast<uint64_t>(call.operands[1].bytes()),
        static_cast<uint64_t>(call.results[0].bytes()),
        static_cast<uint64_t>(std::max<int64_t>((*kernel)->workspaceBytes(), 64))}) {
    absl::StatusOr<std::unique_ptr<Memory>> part = device.allocate(bytes);
    if (!part.ok())
      return part.status();
    memory.push_back(*std::move(part));
  }
  // Pages that nobody wrote may all be the same one, which lies in every cache. In each type this is a small
  // number.
  for (int operand : {0, 1})
    std::memset(memory[operand]->data(), 0x3c, memory[operand]->bytes());
  absl::StatusOr<std::unique_ptr<Stream>> stream = device.createStream();
  if (!stream.ok())
    return stream.status();
  const void *operands[] = {memory[0]->data(), memory[1]->data()};
  void *results[] = {memory[2]->data()};
  const KernelArguments arguments = {operands, results, memory[3]->data()};
  double best = 0;
  int64_t products = 0;
  const double flops =
      2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  const auto start = std::chrono::steady_clock::now();
  do {
    const auto begin = std::chrono::steady_clock::now();
    (*stream)->launch(**kernel, arguments);
    if (absl::Status status = (*stream)->synchronize(); !status.ok())
      return status;
    best = std::max(best, flops / secondsSince(begin));
  } while (++products < 2 || secondsSince(start) < seconds);
  return best;
}

absl::StatusOr<double> measurePeakFlops(Device &device, PrecisionRecipe recipe) {
  const DType type = recipe == PrecisionRecipe::Fp32   ? DType::F32
                     : recipe == PrecisionRecipe::Bf16 ? DType::BF16
                                                       : DType::F16;
  return measureProductFlops(device, type, kSize, kMeasureSeconds);
}

} // namespace weft
