//===- ParameterNorms.cpp - Norms of each parameter over one step ---------===//
//
// Parameters are float32 in every recipe; float64 and the narrow types are read as they are stored.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/ParameterNorms.h"

#include <cmath>
#include <cstring>

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

ParameterNorms::ParameterNorms(const Executor &executor) {
  const std::vector<Variable> &variables = executor.executable().variables;
  for (size_t i = 0; i < variables.size(); ++i) {
    HostTensor tensor = executor.variable(i);
    if (variables[i].trainable && readerOf(tensor.type->dtype))
      parameters.push_back({variables[i].name, tensor, {tensor.bytes.begin(), tensor.bytes.end()}, {}});
  }
}

void ParameterNorms::observe(const CommandRecord &record) {
  if (record.call == nullptr || record.call->name != "squared_norm" || record.call->results.size() != 1 ||
      record.call->results[0] != TensorType{DType::F64, {}})
    return;
  for (Parameter &parameter : parameters)
    if (parameter.name == record.location)
      parameter.squaredGradient = valueAt<double>(static_cast<const std::byte *>(record.results[0]), 0);
}

std::vector<std::pair<std::string, double>> ParameterNorms::finish(double gradNorm) const {
  double squares = 0;
  for (const Parameter &parameter : parameters)
    squares += parameter.squaredGradient.value_or(0);
  std::vector<std::pair<std::string, double>> norms;
  for (const Parameter &parameter : parameters) {
    if (parameter.squaredGradient)
      norms.emplace_back("gradient_norm/" + parameter.name,
                         squares == 0 ? 0.0 : gradNorm * std::sqrt(*parameter.squaredGradient / squares));
    const Reader read = readerOf(parameter.tensor.type->dtype);
    double weight = 0, update = 0;
    for (int64_t i = 0, count = parameter.tensor.type->elements(); i < count; ++i) {
      const double now = read(parameter.tensor.bytes.data(), i);
      const double change = now - read(parameter.before.data(), i);
      weight += now * now;
      update += change * change;
    }
    norms.emplace_back("weight_norm/" + parameter.name, std::sqrt(weight));
    norms.emplace_back("update_norm/" + parameter.name, std::sqrt(update));
  }
  return norms;
}

} // namespace weft
