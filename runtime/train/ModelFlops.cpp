#include "runtime/train/ModelFlops.h"
#include "runtime/train/VariableState.h"

#include "absl/strings/match.h"

#include <algorithm>

namespace weft {
namespace {

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

} // namespace weft
