//===- CheckpointComparison.cpp - Where two checkpoints differ ------------===//
//
// Most tensors of two runs that should agree are equal: those cost one memcmp. Only the others are decoded.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/CheckpointComparison.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

namespace weft::checkpoint {
namespace {
double decodeF16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  if (exponent == 31)
    magnitude = mantissa ? std::nan("") : std::numeric_limits<double>::infinity();
  return bits >> 15 ? -magnitude : magnitude;
}

template <typename Stored> Stored load(std::span<const std::byte> data, size_t index) {
  Stored value;
  std::memcpy(&value, data.data() + index * sizeof(Stored), sizeof(Stored));
  return value;
}

double decode(DType type, std::span<const std::byte> data, size_t index) {
  switch (type) {
  case DType::I1:
    return load<uint8_t>(data, index);
  case DType::I32:
    return load<int32_t>(data, index);
  case DType::I64:
    return static_cast<double>(load<int64_t>(data, index));
  case DType::BF16:
    return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(data, index)) << 16);
  case DType::F16:
    return decodeF16(load<uint16_t>(data, index));
  case DType::F32:
    return load<float>(data, index);
  case DType::F64:
    return load<double>(data, index);
  }
  return std::nan("");
}

absl::StatusOr<std::vector<std::byte>> readWhole(const Checkpoint &checkpoint, const TensorRecord &tensor) {
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.type.bytes()));
  if (absl::Status status = checkpoint.read(tensor.name, bytes); !status.ok())
    return status;
  return bytes;
}

/// The JSON that compareStates looks at.
nlohmann::json asJson(const CheckpointState &state) {
  return {{"step", state.step}, {"text", state.text}, {"values", state.values}};
}
} // namespace

TensorComparison compareElements(DType type, std::span<const std::byte> first,
                                 std::span<const std::byte> second) {
  TensorComparison result;
  if (first.empty() || std::memcmp(first.data(), second.data(), first.size()) == 0)
    return result;
  const size_t bytes = static_cast<size_t>(byteSize(type));
  for (size_t i = 0; i * bytes < first.size(); ++i) {
    if (std::memcmp(first.data() + i * bytes, second.data() + i * bytes, bytes) == 0)
      continue;
    if (result.differing++ == 0)
      result.firstIndex = static_cast<int64_t>(i);
    const double a = decode(type, first, i), b = decode(type, second, i);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      ++result.notFinite;
      continue;
    }
    const double difference = std::abs(a - b), scale = std::max(std::abs(a), std::abs(b));
    result.maxAbsolute = std::max(result.maxAbsolute, difference);
    if (scale > 0)
      result.maxRelative = std::max(result.maxRelative, difference / scale);
  }
  return result;
}

absl::StatusOr<std::vector<TensorComparison>> compareTensors(const Checkpoint &first,
                                                             const Checkpoint &second) {
  std::set<std::string> names;
  for (const Checkpoint *checkpoint : {&first, &second})
    for (const TensorRecord &tensor : checkpoint->tensors())
      names.insert(tensor.name);
  std::vector<TensorComparison> results;
  for (const std::string &name : names) {
    const TensorRecord *a = first.find(name), *b = second.find(name);
    TensorComparison result;
    if (a && b && a->type == b->type) {
      absl::StatusOr<std::vector<std::byte>> aBytes = readWhole(first, *a);
      if (!aBytes.ok())
        return aBytes.status();
      absl::StatusOr<std::vector<std::byte>> bBytes = readWhole(second, *b);
      if (!bBytes.ok())
        return bBytes.status();
      result = compareElements(a->type.dtype, *aBytes, *bBytes);
    }
    result.name = name;
    if (a)
      result.first = a->type;
    if (b)
      result.second = b->type;
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<std::string> compareStates(const CheckpointState &first, const CheckpointState &second) {
  std::vector<std::string> paths;
  for (const nlohmann::json &change : nlohmann::json::diff(asJson(first), asJson(second)))
    paths.push_back(change.at("path").get<std::string>());
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

} // namespace weft::checkpoint
