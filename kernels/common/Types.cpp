#include "kernels/common/Types.h"

#include <array>

namespace weft {
namespace {
struct DTypeRow {
  DType type;
  std::string_view name;
  int64_t bytes;
  bool isFloat;
};
constexpr std::array<DTypeRow, 7> kDTypes = {{{DType::I1, "i1", 1, false},
                                              {DType::I32, "i32", 4, false},
                                              {DType::I64, "i64", 8, false},
                                              {DType::BF16, "bf16", 2, true},
                                              {DType::F16, "f16", 2, true},
                                              {DType::F32, "f32", 4, true},
                                              {DType::F64, "f64", 8, true}}};
const DTypeRow &row(DType type) { return kDTypes[static_cast<size_t>(type)]; }
} // namespace

int64_t byteSize(DType type) { return row(type).bytes; }
std::string_view name(DType type) { return row(type).name; }
bool isFloat(DType type) { return row(type).isFloat; }

std::optional<DType> dtypeFromName(std::string_view name) {
  for (const DTypeRow &entry : kDTypes)
    if (entry.name == name)
      return entry.type;
  return std::nullopt;
}

int64_t TensorType::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string TensorType::str() const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + std::string(name(dtype)) + ">";
}

} // namespace weft
