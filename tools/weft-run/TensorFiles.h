//===- TensorFiles.h - Tensors from files and into files --------------------===//
//
// .npy files hold one tensor, .safetensors files many by name. Statuses carry the exit code of weft-run.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_RUN_TENSORFILES_H
#define WEFT_TOOLS_WEFT_RUN_TENSORFILES_H

#include "kernels/reference/Tensor.h"

#include <map>
#include <string>

namespace weft::run {

using reference::Tensor;

/// A tensor as it lies in a file; `file` names it in messages.
struct FileTensor {
  Tensor value;
  std::string file;
};

/// Reads each of `arguments`, NAME=FILE.npy or FILE.safetensors (all its tensors). Fails on a name that comes
/// twice.
absl::StatusOr<std::map<std::string, FileTensor>> readTensors(const std::vector<std::string> &arguments);

/// The tensor as a value of `type`: another float type or integer type converts when the shape is the same,
/// floats exactly, integers if all fit. `what` names the value in messages.
absl::StatusOr<Tensor> convertTo(const FileTensor &tensor, const TensorType &type, const std::string &what);

/// Into one .safetensors file if `path` ends so, else as NAME.npy into the folder `path`, which is made if
/// need be. Each tensor is rounded to its type.
absl::Status writeTensors(const std::string &path, const std::map<std::string, Tensor> &tensors);

} // namespace weft::run

#endif // WEFT_TOOLS_WEFT_RUN_TENSORFILES_H
