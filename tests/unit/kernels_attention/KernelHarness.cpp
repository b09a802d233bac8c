//===- KernelHarness.cpp - Runs one kernel call on values given as doubles ===//
//
// The conversions here are written element by element from the formats' definitions, apart from the kernels'
// own.
//
//===----------------------------------------------------------------------===//
#include "KernelHarness.h"

#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/Cpu.h"

#include <cmath>
#include <cstring>

namespace weft::cpu {
namespace {

constexpr int64_t kGuardBytes = 64;
constexpr unsigned char kGuard = 0xff; // as values of any float type: NaN

uint16_t toBf16(double value) {
  float single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, 4);
  if (std::isnan(single))
    return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double fromBf16(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float single;
  std::memcpy(&single, &wide, 4);
  return single;
}

double readElement(DType type, const void *data, int64_t i) {
  switch (type) {
  case DType::I1:
    return static_cast<const uint8_t *>(data)[i];
  case DType::I32:
    return static_cast<const int32_t *>(data)[i];
  case DType::I64:
    return static_cast<double>(static_cast<const int64_t *>(data)[i]);
  case DType::BF16:
    return fromBf16(static_cast<const uint16_t *>(data)[i]);
  case DType::F16:
    return static_cast<double>(static_cast<const _Float16 *>(data)[i]);
  case DType::F32:
    return static_cast<const float *>(data)[i];
  case DType::F64:
    return static_cast<const double *>(data)[i];
  }
  return 0;
}

void writeElement(DType type, void *data, int64_t i, double value) {
  switch (type) {
  case DType::I1:
    static_cast<uint8_t *>(data)[i] = value != 0;
    break;
  case DType::I32:
    static_cast<int32_t *>(data)[i] = static_cast<int32_t>(value);
    break;
  case DType::I64:
    static_cast<int64_t *>(data)[i] = static_cast<int64_t>(value);
    break;
  case DType::BF16:
    static_cast<uint16_t *>(data)[i] = toBf16(value);
    break;
  case DType::F16:
    static_cast<_Float16 *>(data)[i] = static_cast<_Float16>(static_cast<float>(value));
    break;
  case DType::F32:
    static_cast<float *>(data)[i] = static_cast<float>(value);
    break;
  case DType::F64:
    static_cast<double *>(data)[i] = value;
    break;
  }
}

} // namespace

void Tensor::Free::operator()(void *memory) const { std::free(memory); }

Tensor::Tensor(TensorType type) : itsType(std::move(type)) {
  int64_t bytes = itsType.bytes() + kGuardBytes;
  storage.reset(static_cast<unsigned char *>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)));
  std::memset(storage.get(), kGuard, bytes);
}

Tensor::Tensor(TensorType type, const std::vector<double> &values) : Tensor(std::move(type)) {
  for (size_t i = 0; i < values.size(); ++i)
    writeElement(itsType.dtype, data(), static_cast<int64_t>(i), values[i]);
}

std::vector<double> Tensor::values() const {
  std::vector<double> result(itsType.elements());
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = readElement(itsType.dtype, data(), static_cast<int64_t>(i));
  return result;
}

std::vector<unsigned char> Tensor::bytes() const { return {storage.get(), storage.get() + itsType.bytes()}; }

bool Tensor::guardIsIntact() const {
  for (int64_t i = 0; i < kGuardBytes; ++i)
    if (storage.get()[itsType.bytes() + i] != kGuard)
      return false;
  return true;
}

Tensor randomTensor(TensorType type, uint64_t seed, double spread) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0, spread);
  std::vector<double> values(type.elements());
  for (double &value : values)
    value = normal(generator);
  return Tensor(std::move(type), values);
}

absl::StatusOr<std::vector<Tensor>> runKernel(const KernelCall &call, const std::vector<Tensor> &operands,
                                              int threads) {
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = createKernel(call);
  if (!kernel.ok())
    return kernel.status();
  std::vector<const void *> operandPointers;
  for (const Tensor &operand : operands)
    operandPointers.push_back(operand.data());
  std::vector<Tensor> results;
  for (const TensorType &type : call.results)
    results.emplace_back(type);
  std::vector<void *> resultPointers;
  for (const Tensor &result : results)
    resultPointers.push_back(result.data());
  Tensor workspace({DType::I1, {(*kernel)->workspaceBytes()}});
  ThreadPool pool(threads);
  (*kernel)->run({operandPointers, resultPointers, workspace.data()}, pool);
  EXPECT_TRUE(workspace.guardIsIntact()) << call.str() << " wrote past its workspace";
  for (const Tensor &result : results)
    EXPECT_TRUE(result.guardIsIntact()) << call.str() << " wrote past a result";
  return results;
}

double roundoff(DType type) {
  switch (type) {
  case DType::BF16:
    return std::ldexp(1, -8);
  case DType::F16:
    return std::ldexp(1, -11);
  case DType::F32:
    return std::ldexp(1, -24);
  default:
    return std::ldexp(1, -53);
  }
}

testing::AssertionResult isNear(const std::vector<double> &actual, const std::vector<double> &expected,
                                DType type, double slack) {
  return isNear(actual, expected, type, std::vector<double>(expected.size(), slack));
}

testing::AssertionResult isNear(const std::vector<double> &actual, const std::vector<double> &expected,
                                DType type, const std::vector<double> &slack) {
  if (actual.size() != expected.size())
    return testing::AssertionFailure() << actual.size() << " elements, expected " << expected.size();
  for (size_t i = 0; i < actual.size(); ++i) {
    bool same = actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]));
    if (!same && !(std::abs(actual[i] - expected[i]) <= roundoff(type) * std::abs(expected[i]) + slack[i]))
      return testing::AssertionFailure() << "element " << i << " is " << actual[i] << ", expected "
                                         << expected[i] << " within " << slack[i];
  }
  return testing::AssertionSuccess();
}

double largestMagnitude(const std::vector<double> &values) {
  double largest = 0;
  for (double value : values)
    largest = std::max(largest, std::abs(value));
  return largest;
}

} // namespace weft::cpu
