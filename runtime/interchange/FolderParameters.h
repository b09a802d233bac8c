//===- FolderParameters.h - A program's parameters in a foreign folder ----===//
//
// Names are equal in both, and a program's shape is the folder's with dimensions cut into several (heads
// apart from their width), so reading is nothing but a change of type. What is not plainly so is either known
// and told (a prefix that base models lack, a head tied to the embedding, a vocabulary that the model pads,
// buffers of older versions) or refused, all differences at once.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_INTERCHANGE_FOLDERPARAMETERS_H
#define WEFT_RUNTIME_INTERCHANGE_FOLDERPARAMETERS_H

#include "runtime/checkpoint/Pieces.h"
#include "runtime/config/Config.h"
#include "runtime/interchange/HuggingFaceFolder.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::interchange {

/// Names and global types.
using Parameters = std::vector<std::pair<std::string, TensorType>>;

class FolderParameters {
public:
  /// FailedPrecondition, with every difference, when the folder does not hold exactly these parameters. Of
  /// embedding and head it may have fewer rows.
  static absl::StatusOr<FolderParameters> match(HuggingFaceFolder folder, Parameters parameters);

  const HuggingFaceFolder &folder() const { return source; }
  const Parameters &parameters() const { return wanted; }
  /// What a person should know, a line each.
  const std::vector<std::string> &notes() const { return told; }

  /// Reads elements of parameter number `index` in row-major order, as its type. Rows that the folder lacks
  /// are 0. An element that is too large for the type is an error. Several threads may read at once.
  absl::StatusOr<checkpoint::FloatChanges> read(size_t index, int64_t first, int64_t count,
                                                std::byte *into) const;
  /// Fills the front corner of a dense tensor of shape `memory` with a slice of a parameter; the rest of it
  /// stays as it is.
  absl::Status readSlice(const std::string &name, const checkpoint::Slice &slice,
                         const std::vector<int64_t> &memory, std::span<std::byte> into) const;

private:
  FolderParameters(HuggingFaceFolder folder, Parameters parameters)
      : source(std::move(folder)), wanted(std::move(parameters)) {}
  friend class FolderMatcher;

  HuggingFaceFolder source;
  Parameters wanted;
  std::vector<const FolderTensor *> tensors; ///< of each parameter; they stay where they are when this moves
  std::map<std::string, size_t> index;
  std::vector<std::string> told;
};

/// What the folder's config.json says of its model otherwise than a run does, a line each: equal weights then
/// compute something else. `run` names the run.
absl::StatusOr<std::vector<std::string>> folderDifferences(const HuggingFaceFolder &folder,
                                                           const ModelConfig &model, const std::string &run);

} // namespace weft::interchange

#endif // WEFT_RUNTIME_INTERCHANGE_FOLDERPARAMETERS_H
