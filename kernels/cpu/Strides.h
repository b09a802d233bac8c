//===- Strides.h - Strided views of dense tensors -------------------------===//
//
// A view gives each dimension a size and a stride in elements. Dimensions that step through memory like one
// are merged, so that inner loops are as long as they can be.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_STRIDES_H
#define WEFT_KERNELS_CPU_STRIDES_H

#include <cstdint>
#include <vector>

namespace weft::cpu {

struct StridedDimension {
  int64_t size = 1;
  int64_t stride = 1;
  bool operator==(const StridedDimension &) const = default;
};

/// Strides of a dense row-major tensor.
inline std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0; stride *= shape[dim])
    strides[dim] = stride;
  return strides;
}

/// The same walk with as few dimensions as possible, outermost first; never empty. A scalar is one dense
/// element.
inline std::vector<StridedDimension> mergeDimensions(const std::vector<int64_t> &shape,
                                                     const std::vector<int64_t> &strides) {
  std::vector<StridedDimension> merged;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 1)
      continue;
    StridedDimension next{shape[dim], strides[dim]};
    if (!merged.empty() && merged.back().stride == next.size * next.stride)
      merged.back() = {merged.back().size * next.size, next.stride};
    else
      merged.push_back(next);
  }
  if (merged.empty())
    merged.push_back({1, 1});
  return merged;
}

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_STRIDES_H
