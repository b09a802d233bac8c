//===- Folders.h - Hugging Face folders for the tests here -----------------===//
//
// Folders by hand, tensor by tensor, and what lies in a tensor afterwards.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_INTERCHANGE_FOLDERS_H
#define WEFT_TESTS_UNIT_INTERCHANGE_FOLDERS_H

#include "tests/unit/checkpoint/TestSupport.h"

#include "runtime/checkpoint/SafetensorsFile.h"
#include "runtime/interchange/FolderParameters.h"

#include "gmock/gmock.h"

#include <cmath>
#include <map>

namespace weft::interchange {

using checkpoint::SafetensorsType;

/// A tensor to write: float32 values, 0, 1, 2, ... plus `first` if none are given, as `type`.
struct Tensor {
  std::string name;
  std::vector<int64_t> shape;
  DType type = DType::F32;
  float first = 0;
};

inline int64_t elementsOf(const std::vector<int64_t> &shape) {
  return TensorType{DType::F32, shape}.elements();
}

/// The bytes of a tensor: its elements count upwards.
inline std::vector<std::byte> bytesOf(const Tensor &tensor) {
  const int64_t count = elementsOf(tensor.shape);
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = tensor.first + static_cast<float>(i);
  std::vector<std::byte> bytes(static_cast<size_t>(count * byteSize(tensor.type)));
  checkpoint::convertFloats(DType::F32, std::as_bytes(std::span(values)).data(), tensor.type, bytes.data(),
                            count);
  return bytes;
}

inline void writeWeights(const std::string &path, const std::vector<Tensor> &tensors) {
  std::vector<checkpoint::SafetensorsEntry> entries;
  std::map<std::string, const Tensor *> byName;
  for (const Tensor &tensor : tensors) {
    entries.push_back({tensor.name, checkpoint::toSafetensors(tensor.type), tensor.shape, 0, 0});
    byName[tensor.name] = &tensor;
  }
  absl::StatusOr<checkpoint::SafetensorsWriter> writer =
      checkpoint::SafetensorsWriter::create(checkpoint::systemFiles(), path, entries, {{"format", "pt"}});
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (const checkpoint::SafetensorsEntry &entry : writer->entries())
    ASSERT_TRUE(writer->write(bytesOf(*byName.at(entry.name))).ok());
  ASSERT_TRUE(writer->finish().ok());
}

/// A folder with one file of weights.
inline std::string makeFolder(const TestFolder &folder, const std::vector<Tensor> &tensors,
                              const std::string &name = "hf") {
  std::filesystem::create_directories(folder / name);
  writeWeights(folder / name + "/model.safetensors", tensors);
  return folder / name;
}

inline HuggingFaceFolder openFolder(const std::string &path) {
  absl::StatusOr<HuggingFaceFolder> opened = HuggingFaceFolder::open(path);
  EXPECT_TRUE(opened.ok()) << opened.status();
  return *std::move(opened);
}

/// The elements of a parameter as the folder gives them.
inline std::vector<float> valuesOf(const FolderParameters &source, const std::string &name) {
  for (size_t i = 0; i < source.parameters().size(); ++i) {
    if (source.parameters()[i].first != name)
      continue;
    std::vector<float> values(static_cast<size_t>(source.parameters()[i].second.elements()));
    const auto read = source.read(i, 0, static_cast<int64_t>(values.size()),
                                  std::as_writable_bytes(std::span(values)).data());
    EXPECT_TRUE(read.ok()) << read.status();
    return values;
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

} // namespace weft::interchange

#endif // WEFT_TESTS_UNIT_INTERCHANGE_FOLDERS_H
