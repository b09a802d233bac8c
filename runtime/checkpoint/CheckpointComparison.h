//===- CheckpointComparison.h - Where two sets of tensors differ ----------===//
//
// Tensor by tensor: equal bits, or how many elements differ, which is the first, and how far apart they are.
// Values are compared in float64; where types are equal, bits decide what is equal (so NaN equals the same
// NaN, and -0 differs from 0), else values do.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_CHECKPOINTCOMPARISON_H
#define WEFT_RUNTIME_CHECKPOINT_CHECKPOINTCOMPARISON_H

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/SafetensorsHeader.h"

#include <functional>
#include <optional>

namespace weft::checkpoint {

/// A tensor as a file says it.
struct StoredType {
  SafetensorsType type = SafetensorsType::F32;
  std::vector<int64_t> shape;

  int64_t bytes() const { return tensorBytes(shape, type).value_or(0); }
  /// As the IR prints it where it knows the type: tensor<4x256xf32>; else tensor<4x256xF8_E4M3>.
  std::string str() const;
  bool operator==(const StoredType &) const = default;
};

/// What is compared: tensors by name.
class TensorSource {
public:
  virtual ~TensorSource() = default;
  virtual std::vector<std::string> names() const = 0;
  virtual std::optional<StoredType> find(const std::string &name) const = 0;
  /// Fills `into`, exactly as large as the tensor.
  virtual absl::Status read(const std::string &name, std::span<std::byte> into) const = 0;
};

struct TensorComparison {
  std::string name;
  std::optional<StoredType> first;  ///< Absent when the first source has no such tensor.
  std::optional<StoredType> second; ///< Likewise.
  bool comparable = false;          ///< Both are there, and of types that can be compared.

  // Of comparable tensors:
  int64_t elements = 0;
  int64_t differing = 0;   ///< Elements that differ; of types that are no numbers, bytes.
  int64_t firstIndex = -1; ///< Row-major index of the first of them.
  int64_t notFinite =
      0; ///< Of them, those where either is NaN or infinite; they do not enter the two maxima.
  double maxAbsolute = 0; ///< Of |a - b|.
  double maxRelative = 0; ///< Of |a - b| / max(|a|, |b|).

  bool equal() const { return comparable && differing == 0; }
  bool sameType() const { return first && second && first->type == second->type; }
};

/// One entry for each name that occurs, sorted. Reads every byte of both; two tensors are in memory at once.
/// Of sources of one format, types and shapes must be equal to be compared; across formats, shapes may cut
/// each other's dimensions, and numbers may have other types.
absl::StatusOr<std::vector<TensorComparison>>
compareTensors(const TensorSource &first, const TensorSource &second, bool acrossFormats = false);

/// The tensors of a checkpoint, each verified as it is read; `wanted` chooses among their names.
class CheckpointTensors : public TensorSource {
public:
  explicit CheckpointTensors(const Checkpoint &checkpoint,
                             std::function<bool(const std::string &)> wanted = nullptr)
      : checkpoint(checkpoint), wanted(std::move(wanted)) {}
  std::vector<std::string> names() const override;
  std::optional<StoredType> find(const std::string &name) const override;
  absl::Status read(const std::string &name, std::span<std::byte> into) const override {
    return checkpoint.read(name, into);
  }

private:
  const Checkpoint &checkpoint;
  std::function<bool(const std::string &)> wanted;
};

/// The keys of the run states whose values differ, as JSON pointers: /step, /text/config, /values/seed.
std::vector<std::string> compareStates(const CheckpointState &first, const CheckpointState &second);

/// Compares two buffers of as many elements. Fills what a result has of comparable tensors.
TensorComparison compareElements(SafetensorsType firstType, std::span<const std::byte> first,
                                 SafetensorsType secondType, std::span<const std::byte> second);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_CHECKPOINTCOMPARISON_H
