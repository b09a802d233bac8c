#include "kernels/reference/Bytes.h"

#include "kernels/reference/Checks.h"
#include "kernels/reference/Rounding.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace weft::reference {
namespace {

static_assert(std::endian::native == std::endian::little, "stored tensors are little-endian");

double halfToReal(uint16_t bits) {
  int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double magnitude = exponent == 31  ? (fraction ? std::numeric_limits<double>::quiet_NaN()
                                                 : std::numeric_limits<double>::infinity())
                     : exponent == 0 ? std::ldexp(fraction, -24)
                                     : std::ldexp(1024 + fraction, exponent - 25);
  return std::copysign(magnitude, bits >> 15 ? -1.0 : 1.0);
}

/// The value is already one of float16.
uint16_t realToHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7E00;
  if (std::isinf(value))
    return sign | 0x7C00;
  if (magnitude < 0x1p-14)
    return sign | static_cast<uint16_t>(std::ldexp(magnitude, 24));
  int exponent = std::ilogb(magnitude);
  int fraction = static_cast<int>(std::ldexp(magnitude, 10 - exponent)) - 1024;
  return static_cast<uint16_t>(sign | (exponent + 15) << 10 | fraction);
}

template <typename Stored, typename Values, typename Decode>
void decode(std::span<const std::byte> bytes, Values &values, Decode decodeOne) {
  for (size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = decodeOne(stored);
  }
}

template <typename Stored, typename Values, typename Encode>
void encode(const Values &values, std::vector<std::byte> &bytes, Encode encodeOne) {
  for (size_t i = 0; i < values.size(); ++i) {
    Stored stored = encodeOne(values[i]);
    std::memcpy(bytes.data() + i * sizeof(Stored), &stored, sizeof(Stored));
  }
}

} // namespace

absl::StatusOr<Tensor> fromBytes(const TensorType &type, std::span<const std::byte> bytes) {
  absl::StatusOr<Tensor> made = makeZeros(type);
  if (!made.ok())
    return made;
  if (static_cast<int64_t>(bytes.size()) != type.bytes())
    return refuse("bytes", type.str(), " needs ", type.bytes(), " bytes, there are ", bytes.size());
  Tensor &tensor = *made;
  switch (type.dtype) {
  case DType::I1:
    decode<uint8_t>(bytes, tensor.integers, [](uint8_t v) { return int64_t{v != 0}; });
    break;
  case DType::I32:
    decode<int32_t>(bytes, tensor.integers, [](int32_t v) { return int64_t{v}; });
    break;
  case DType::I64:
    decode<int64_t>(bytes, tensor.integers, [](int64_t v) { return v; });
    break;
  case DType::BF16:
    decode<uint16_t>(bytes, tensor.reals,
                     [](uint16_t v) { return double{std::bit_cast<float>(uint32_t{v} << 16)}; });
    break;
  case DType::F16:
    decode<uint16_t>(bytes, tensor.reals, halfToReal);
    break;
  case DType::F32:
    decode<float>(bytes, tensor.reals, [](float v) { return double{v}; });
    break;
  case DType::F64:
    decode<double>(bytes, tensor.reals, [](double v) { return v; });
    break;
  }
  return made;
}

absl::StatusOr<std::vector<std::byte>> toBytes(const Tensor &tensor) {
  if (absl::Status status = checkTensor("bytes", tensor); !status.ok())
    return status;
  std::vector<std::byte> bytes(tensor.type().bytes());
  switch (tensor.dtype) {
  case DType::I1:
    encode<uint8_t>(tensor.integers, bytes, [](int64_t v) { return static_cast<uint8_t>(v != 0); });
    break;
  case DType::I32:
    encode<int32_t>(tensor.integers, bytes, [](int64_t v) { return static_cast<int32_t>(v); });
    break;
  case DType::I64:
    encode<int64_t>(tensor.integers, bytes, [](int64_t v) { return v; });
    break;
  case DType::BF16:
    encode<uint16_t>(tensor.reals, bytes, [](double v) {
      float rounded = static_cast<float>(roundToType(v, DType::BF16));
      return static_cast<uint16_t>(std::bit_cast<uint32_t>(rounded) >> 16);
    });
    break;
  case DType::F16:
    encode<uint16_t>(tensor.reals, bytes, [](double v) { return realToHalf(roundToType(v, DType::F16)); });
    break;
  case DType::F32:
    encode<float>(tensor.reals, bytes, [](double v) { return static_cast<float>(v); });
    break;
  case DType::F64:
    encode<double>(tensor.reals, bytes, [](double v) { return v; });
    break;
  }
  return bytes;
}

} // namespace weft::reference
