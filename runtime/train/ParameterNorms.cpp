//===- ParameterNorms.cpp - Norms of each parameter over one step ---------===//
//
// Parameters are float32 in every recipe; float64 and the narrow types are read as they are stored.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/ParameterNorms.h"

#include "runtime/train/RankAgreement.h"
#include "runtime/train/VariableState.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include <cmath>
#include <cstring>
#include <map>

namespace weft {
namespace {

template <typename T> double valueAt(const std::byte *data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return static_cast<double>(value);
}

double bfloat16At(const std::byte *data, int64_t index) {
  uint16_t half;
  std::memcpy(&half, data + index * 2, sizeof(half));
  uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

using Reader = double (*)(const std::byte *, int64_t);

/// Null for a type that has no norm.
Reader readerOf(DType type) {
  switch (type) {
  case DType::BF16:
    return bfloat16At;
  case DType::F16:
    return valueAt<_Float16>;
  case DType::F32:
    return valueAt<float>;
  case DType::F64:
    return valueAt<double>;
  default:
    return nullptr;
  }
}

} // namespace

ParameterNorms::ParameterNorms(const Executor &executor, Communicator &communicator)
    : executable(executor.executable()), communicator(communicator) {
  const std::vector<Variable> &variables = executable.variables;
  for (size_t i = 0; i < variables.size(); ++i) {
    HostTensor tensor = executor.variable(i);
    if (variables[i].trainable && readerOf(tensor.type->dtype))
      parameters.push_back({i, tensor, {tensor.bytes.begin(), tensor.bytes.end()}, {}});
  }
}

/// A gradient lies like its parameter or, where that is what the ranks share, like the optimizer's state of
/// it. Null when it lies like none of these.
const TensorPlacement *ParameterNorms::gradientPlacement(const Variable &parameter,
                                                         const TensorType &gradient) const {
  if (parameter.type.shape == gradient.shape)
    return &parameter.placement;
  for (const Variable &state : executable.variables)
    if (state.isState && state.type.shape == gradient.shape &&
        globalType(state).shape == globalType(parameter).shape &&
        absl::EndsWith(state.name, "." + parameter.name))
      return &state.placement;
  return nullptr;
}

void ParameterNorms::observe(const CommandRecord &record) {
  if (record.call == nullptr || record.call->name != "squared_norm" || record.call->operands.size() != 1 ||
      record.call->results.size() != 1 || record.call->results[0].dtype != DType::F64)
    return;
  for (Parameter &parameter : parameters) {
    const Variable &variable = executable.variables[parameter.variable];
    if (variable.name != record.location)
      continue;
    const TensorPlacement *placement = gradientPlacement(variable, record.call->operands[0]);
    if (!placement)
      continue;
    const bool owned = ownsPart(executable.mesh, communicator.rank(), *placement, variable.pipelineOwner);
    parameter.squaredGradient = 0.0;
    const int64_t sums = owned ? validSums(*record.call, *placement) : 0;
    for (int64_t i = 0; i < sums; ++i)
      *parameter.squaredGradient += valueAt<double>(static_cast<const std::byte *>(record.results[0]), i);
  }
}

/// How many of the sums of squares in a call's result are those of rows: one, or this rank's rows without the
/// padding behind them.
int64_t ParameterNorms::validSums(const KernelCall &call, const TensorPlacement &placement) const {
  if (!call.has("rows") || placement.whole())
    return call.results[0].elements();
  return partOf(executable.mesh, communicator.rank(),
                placement)[static_cast<size_t>(call.integerOr("rows", 0))]
      .valid;
}

/// The sums of squares of a parameter's elements, and of what the step changed, over what this rank owns.
static std::pair<double, double> sumsOfSquares(const Executable &executable, const Variable &variable,
                                               int64_t rank, const std::byte *now, const std::byte *before) {
  double weight = 0, update = 0;
  if (!ownsPart(executable.mesh, rank, variable.placement, variable.pipelineOwner))
    return {weight, update};
  const Reader read = readerOf(variable.type.dtype);
  const checkpoint::Slice slice = sliceOf(executable.mesh, variable, rank);
  const std::vector<int64_t> front(slice.size.size(), 0);
  const checkpoint::BoxPlace memory{variable.type.shape, front};
  checkpoint::BoxWalk walk(1, slice.size, memory, memory); // "bytes" are elements here
  for (checkpoint::BoxWalk::Run run; walk.next(run);)
    for (int64_t i = run.from; i < run.from + run.bytes; ++i) {
      const double value = read(now, i);
      const double change = value - read(before, i);
      weight += value * value;
      update += change * change;
    }
  return {weight, update};
}

/// The names of all parameters that any rank watches, each once: rank by rank, which is stage by stage.
absl::StatusOr<std::vector<std::string>> ParameterNorms::namesOnAll() const {
  std::vector<std::string> mine;
  for (const Parameter &parameter : parameters)
    mine.push_back(executable.variables[parameter.variable].name);
  if (executable.mesh.pipelineRanks() == 1)
    return mine;
  absl::StatusOr<std::vector<std::string>> all = gatherTexts(communicator, absl::StrJoin(mine, "\n"));
  if (!all.ok())
    return all.status();
  std::vector<std::string> names;
  absl::flat_hash_set<std::string> known;
  for (const std::string &text : *all)
    for (absl::string_view name : absl::StrSplit(text, '\n', absl::SkipEmpty()))
      if (known.insert(std::string(name)).second)
        names.emplace_back(name);
  return names;
}

absl::StatusOr<std::vector<std::pair<std::string, double>>> ParameterNorms::finish(double gradNorm) const {
  absl::StatusOr<std::vector<std::string>> names = namesOnAll();
  if (!names.ok())
    return names.status();
  absl::flat_hash_map<std::string, size_t> places;
  for (size_t i = 0; i < names->size(); ++i)
    places[(*names)[i]] = i;
  // Of each parameter: gradient, weight, update, and how many ranks saw its gradient.
  constexpr size_t kSums = 4;
  std::vector<double> sums(kSums * names->size());
  for (const Parameter &parameter : parameters) {
    const Variable &variable = executable.variables[parameter.variable];
    double *sum = &sums[kSums * places.at(variable.name)];
    const auto [weight, update] = sumsOfSquares(executable, variable, communicator.rank(),
                                                parameter.tensor.bytes.data(), parameter.before.data());
    sum[0] = parameter.squaredGradient.value_or(0);
    sum[1] = weight;
    sum[2] = update;
    sum[3] = parameter.squaredGradient ? 1 : 0;
  }
  if (absl::Status status =
          communicator.allReduce(std::as_writable_bytes(std::span(sums)), DType::F64, ReduceKind::Sum);
      !status.ok())
    return status;
  // In an order that no pipeline changes.
  std::map<std::string, size_t> sorted(places.begin(), places.end());
  double squares = 0;
  for (const auto &[name, place] : sorted)
    squares += sums[kSums * place];
  std::vector<std::pair<std::string, double>> norms;
  for (size_t i = 0; i < names->size(); ++i) {
    const std::string &name = (*names)[i];
    const double *sum = &sums[kSums * i];
    if (sum[3] > 0)
      norms.emplace_back("gradient_norm/" + name,
                         squares == 0 ? 0.0 : gradNorm * std::sqrt(sum[0] / squares));
    norms.emplace_back("weight_norm/" + name, std::sqrt(sum[1]));
    norms.emplace_back("update_norm/" + name, std::sqrt(sum[2]));
  }
  return norms;
}

} // namespace weft
