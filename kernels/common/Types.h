//===- Types.h - Element types and tensor types of the runtime ------------===//
//
// What a buffer holds. The compiler's types map onto these one to one; the executable stores them; kernels
// are looked up by them. All tensors are dense and row-major.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_TYPES_H
#define WEFT_KERNELS_COMMON_TYPES_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Element types. The values are part of the executable format: append, never renumber.
/// I1 is stored as one byte, 0 or 1.
enum class DType : uint8_t { I1 = 0, I32 = 1, I64 = 2, BF16 = 3, F16 = 4, F32 = 5, F64 = 6 };

/// Bytes of one stored element.
int64_t byteSize(DType type);
/// The spelling of the IR: i1, i32, i64, bf16, f16, f32, f64.
std::string_view name(DType type);
std::optional<DType> dtypeFromName(std::string_view name);
bool isFloat(DType type);

/// A dense row-major tensor's type. A scalar has an empty shape.
struct TensorType {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;

  int64_t elements() const;
  int64_t bytes() const { return elements() * byteSize(dtype); }
  /// As the IR prints it: tensor<4x256xf32>.
  std::string str() const;
  bool operator==(const TensorType &) const = default;
};

} // namespace weft

#endif // WEFT_KERNELS_COMMON_TYPES_H
