//===- CheckpointComparison.cpp - Where two sets of tensors differ --------===//
//
// Most tensors of two runs that should agree are equal: those cost one memcmp. Only the others are decoded.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/CheckpointComparison.h"
#include "runtime/checkpoint/Pieces.h"
#include "runtime/checkpoint/StoredElements.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace weft::checkpoint {
namespace {
absl::StatusOr<std::vector<std::byte>> readWhole(const TensorSource &source, const std::string &name,
                                                 const StoredType &type) {
  std::vector<std::byte> bytes(static_cast<size_t>(type.bytes()));
  if (absl::Status status = source.read(name, bytes); !status.ok())
    return status;
  return bytes;
}

bool areComparable(const StoredType &a, const StoredType &b, bool acrossFormats) {
  if (!acrossFormats)
    return a == b;
  const bool sameShape = isCutOf(a.shape, b.shape) || isCutOf(b.shape, a.shape);
  return sameShape && (a.type == b.type || (isNumber(a.type) && isNumber(b.type)));
}

/// The JSON that compareStates looks at.
nlohmann::json asJson(const CheckpointState &state) {
  return {{"step", state.step}, {"text", state.text}, {"values", state.values}};
}
} // namespace

std::string StoredType::str() const {
  if (const std::optional<DType> dtype = toDType(type))
    return TensorType{*dtype, shape}.str();
  std::string text = "tensor<";
  for (int64_t size : shape)
    absl::StrAppend(&text, size, "x");
  return absl::StrCat(text, std::string(name(type)), ">");
}

std::vector<std::string> CheckpointTensors::names() const {
  std::vector<std::string> names;
  for (const TensorRecord &tensor : checkpoint.tensors())
    if (!wanted || wanted(tensor.name))
      names.push_back(tensor.name);
  return names;
}

std::optional<StoredType> CheckpointTensors::find(const std::string &name) const {
  const TensorRecord *tensor = !wanted || wanted(name) ? checkpoint.find(name) : nullptr;
  return tensor ? std::optional(StoredType{toSafetensors(tensor->type.dtype), tensor->type.shape})
                : std::nullopt;
}

TensorComparison compareElements(SafetensorsType firstType, std::span<const std::byte> first,
                                 SafetensorsType secondType, std::span<const std::byte> second) {
  const bool sameType = firstType == secondType, areNumbers = isNumber(firstType) && isNumber(secondType);
  // What is no number is compared byte by byte.
  const size_t width = areNumbers ? static_cast<size_t>(bitSize(firstType)) / 8 : 1;
  TensorComparison result;
  result.comparable = true;
  result.elements = static_cast<int64_t>(first.size() / width);
  if (sameType && (first.empty() || std::memcmp(first.data(), second.data(), first.size()) == 0))
    return result;
  for (int64_t i = 0; i < result.elements; ++i) {
    const size_t at = static_cast<size_t>(i) * width;
    if (sameType && std::memcmp(first.data() + at, second.data() + at, width) == 0)
      continue;
    const double a = areNumbers ? elementValue(firstType, first.data(), i) : 0,
                 b = areNumbers ? elementValue(secondType, second.data(), i) : 0;
    if (!sameType && (a == b || (std::isnan(a) && std::isnan(b))))
      continue;
    if (result.differing++ == 0)
      result.firstIndex = i;
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

absl::StatusOr<std::vector<TensorComparison>> compareTensors(const TensorSource &first,
                                                             const TensorSource &second, bool acrossFormats) {
  std::set<std::string> names;
  for (const TensorSource *source : {&first, &second})
    for (std::string &name : source->names())
      names.insert(std::move(name));
  std::vector<TensorComparison> results;
  for (const std::string &name : names) {
    const std::optional<StoredType> a = first.find(name), b = second.find(name);
    TensorComparison result;
    if (a && b && areComparable(*a, *b, acrossFormats)) {
      absl::StatusOr<std::vector<std::byte>> aBytes = readWhole(first, name, *a);
      if (!aBytes.ok())
        return aBytes.status();
      absl::StatusOr<std::vector<std::byte>> bBytes = readWhole(second, name, *b);
      if (!bBytes.ok())
        return bBytes.status();
      result = compareElements(a->type, *aBytes, b->type, *bBytes);
    }
    result.name = name;
    result.first = a;
    result.second = b;
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
