//===- Bytes.h - Tensors to and from stored bytes -------------------------===//
//
// The bytes that files, buffers and kernels hold (little-endian, i1 as one byte), as reference tensors and
// back.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_REFERENCE_BYTES_H
#define WEFT_KERNELS_REFERENCE_BYTES_H

#include "kernels/reference/Tensor.h"

#include <cstddef>
#include <span>

namespace weft::reference {

/// Decodes exactly; any byte but 0 reads as 1 in an i1 tensor. Fails when the bytes are not as many as the
/// type needs.
absl::StatusOr<Tensor> fromBytes(const TensorType &type, std::span<const std::byte> bytes);

/// Encodes in the declared type, rounding to it (nearest even). Fails on a tensor that is not whole.
absl::StatusOr<std::vector<std::byte>> toBytes(const Tensor &tensor);

} // namespace weft::reference

#endif // WEFT_KERNELS_REFERENCE_BYTES_H
