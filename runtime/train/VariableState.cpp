//===- VariableState.cpp - The variables of a run: first values, saved ones ===//
//
// Random values are computed in float64 and rounded once to the variable's type.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/VariableState.h"

#include "kernels/reference/Rounding.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/InitialValues.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft {
namespace {

/// A state tensor of at most this many bytes is a scalar.
constexpr size_t kScalarBytes = 8;

/// The distribution function of the standard normal distribution.
double normalDistribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double firstValue(const Initializer &initializer, const InitialValues &random, int64_t index) {
  const std::vector<double> &numbers = initializer.numbers;
  switch (initializer.kind) {
  case InitializerKind::Zeros:
    return 0.0;
  case InitializerKind::Ones:
    return 1.0;
  case InitializerKind::Constant:
    return numbers[0];
  case InitializerKind::Normal:
    return numbers[0] + numbers[1] * random.normal(index);
  case InitializerKind::TruncatedNormal: { // by inversion, between the quantiles of the two ends
    double low = normalDistribution((numbers[2] - numbers[0]) / numbers[1]);
    double high = normalDistribution((numbers[3] - numbers[0]) / numbers[1]);
    double p = std::clamp(low + (high - low) * random.uniform(index), 0x1p-34, 1 - 0x1p-34);
    return std::clamp(numbers[0] + numbers[1] * normalQuantile(p), numbers[2], numbers[3]);
  }
  case InitializerKind::Uniform:
    return numbers[0] + (numbers[1] - numbers[0]) * random.uniform(index);
  }
  return 0.0;
}

template <typename T> void put(std::byte *at, T value) { std::memcpy(at, &value, sizeof(T)); }

/// The upper half of a float32 that holds a bfloat16 exactly.
uint16_t bfloat16Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

void store(std::byte *at, DType type, double value) {
  switch (type) {
  case DType::I1:
    return put<uint8_t>(at, value != 0.0);
  case DType::I32:
    return put(at, static_cast<int32_t>(value));
  case DType::I64:
    return put(at, static_cast<int64_t>(value));
  case DType::BF16:
    return put(at, bfloat16Bits(static_cast<float>(reference::roundToType(value, type))));
  case DType::F16:
    return put(at, static_cast<_Float16>(reference::roundToType(value, type)));
  case DType::F32:
    return put(at, static_cast<float>(value));
  case DType::F64:
    return put(at, value);
  }
}

} // namespace

void initializeVariables(Executor &executor, uint64_t seed) {
  const std::vector<Variable> &variables = executor.executable().variables;
  for (size_t i = 0; i < variables.size(); ++i) {
    InitialValues random(seed, variables[i].name);
    HostTensor tensor = executor.variable(i);
    int64_t width = byteSize(tensor.type->dtype);
    for (int64_t index = 0, count = tensor.type->elements(); index < count; ++index)
      store(tensor.bytes.data() + index * width, tensor.type->dtype,
            firstValue(variables[i].initializer, random, index));
  }
}

std::vector<checkpoint::TensorView> variableViews(const Executor &executor) {
  std::vector<checkpoint::TensorView> views;
  const std::vector<Variable> &variables = executor.executable().variables;
  for (size_t i = 0; i < variables.size(); ++i)
    views.push_back({variables[i].checkpointName, variables[i].type, executor.variable(i).bytes.data(), {}});
  return views;
}

absl::Status restoreVariables(Executor &executor, const checkpoint::Checkpoint &checkpoint,
                              bool weightsOnly) {
  const std::vector<Variable> &variables = executor.executable().variables;
  std::vector<std::pair<std::string, TensorType>> expected;
  for (const Variable &variable : variables)
    expected.emplace_back(variable.checkpointName, variable.type);
  if (!weightsOnly)
    if (absl::Status status = checkpoint.checkTensors(expected); !status.ok())
      return status;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (weightsOnly && variables[i].isState)
      continue;
    if (absl::Status status = checkpoint.read(variables[i].checkpointName, executor.variable(i).bytes);
        !status.ok())
      return withExitCode(status, ExitCode::Checkpoint);
  }
  return absl::OkStatus();
}

ScalarState::ScalarState(const Executor &executor) {
  const std::vector<Variable> &variables = executor.executable().variables;
  size_t bytes = 0;
  for (size_t i = 0; i < variables.size(); ++i) {
    std::span<std::byte> place = executor.variable(i).bytes;
    if (!variables[i].isState || place.size() > kScalarBytes)
      continue;
    places.push_back(place);
    bytes += place.size();
  }
  saved.resize(bytes);
}

void ScalarState::save() {
  std::byte *to = saved.data();
  for (std::span<std::byte> place : places)
    to = std::copy(place.begin(), place.end(), to);
}

void ScalarState::restore() const {
  const std::byte *from = saved.data();
  for (std::span<std::byte> place : places) {
    std::copy(from, from + place.size(), place.begin());
    from += place.size();
  }
}

int64_t parameterCount(const Executable &executable) {
  int64_t count = 0;
  for (const Variable &variable : executable.variables)
    count += variable.trainable ? variable.type.elements() : 0;
  return count;
}

} // namespace weft
