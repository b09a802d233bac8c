//===- Checks.h - What the reference refuses ------------------------------===//
//
// Checks shared by the primitives, each with the message that names the op, what came and what was expected.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_CHECKS_H
#define WEFT_KERNELS_REFERENCE_CHECKS_H

#include "kernels/reference/Tensor.h"

#include "absl/strings/str_cat.h"

#include <string_view>

namespace weft::reference {

/// An InvalidArgument status "op: parts...".
template <typename... Parts> absl::Status refuse(std::string_view op, const Parts &...parts) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(op), ": ", parts...));
}

/// The number of elements. Fails on a negative dimension and on more than 2^31 elements, a dimension of 0
/// counted as 1.
absl::StatusOr<int64_t> countElements(std::string_view op, const TensorType &type);

/// A tensor of zeros, within the limits of countElements.
absl::StatusOr<Tensor> zerosFor(std::string_view op, const TensorType &type);

/// The values are as many as the shape says.
absl::Status checkTensor(std::string_view op, const Tensor &tensor);
/// Both are whole and of one type.
absl::Status checkSameType(std::string_view op, const Tensor &a, const Tensor &b);
/// 0 <= dimension < rank.
absl::Status checkDimension(std::string_view op, int64_t dimension, const Tensor &tensor);
/// `count` entries, one per dimension of the tensor; `what` names the list.
absl::Status checkOnePerDimension(std::string_view op, std::string_view what, size_t count,
                                  const Tensor &tensor);

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_CHECKS_H
