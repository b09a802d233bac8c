//===- FolderTensors.h - The tensors of a folder, to be compared ----------===//
#ifndef WEFT_RUNTIME_INTERCHANGE_FOLDERTENSORS_H
#define WEFT_RUNTIME_INTERCHANGE_FOLDERTENSORS_H

#include "runtime/checkpoint/CheckpointComparison.h"
#include "runtime/interchange/HuggingFaceFolder.h"

namespace weft::interchange {

class FolderTensors : public checkpoint::TensorSource {
public:
  explicit FolderTensors(const HuggingFaceFolder &folder) : folder(folder) {}

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const FolderTensor &tensor : folder.tensors())
      names.push_back(tensor.entry.name);
    return names;
  }
  std::optional<checkpoint::StoredType> find(const std::string &name) const override {
    const FolderTensor *tensor = folder.find(name);
    return tensor ? std::optional(checkpoint::StoredType{tensor->entry.type, tensor->entry.shape})
                  : std::nullopt;
  }
  absl::Status read(const std::string &name, std::span<std::byte> into) const override {
    return folder.readBytes(*folder.find(name), 0, into);
  }

private:
  const HuggingFaceFolder &folder;
};

} // namespace weft::interchange

#endif // WEFT_RUNTIME_INTERCHANGE_FOLDERTENSORS_H
