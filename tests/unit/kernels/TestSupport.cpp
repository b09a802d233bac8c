//===- TestSupport.cpp - Running single kernels in tests ------------------===//
#include "tests/unit/kernels/TestSupport.h"

#include "kernels/common/ThreadPool.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>

namespace weft::testing {
namespace {

class InstructionSetOfRun : public ::testing::Environment {
public:
  void SetUp() override {
    std::vector<cpu::InstructionSet> sets = cpu::supportedInstructionSets();
    ASSERT_FALSE(sets.empty());
    const char *wanted = std::getenv("WEFT_TEST_INSTRUCTION_SET");
    cpu::InstructionSet set = sets.back();
    if (wanted) {
      bool found = false;
      for (cpu::InstructionSet candidate : sets)
        if (name(candidate) == wanted)
          set = candidate, found = true;
      if (!found) {
        std::cout << "not on this machine: " << wanted << std::endl;
        std::exit(77); // what ctest counts as skipped
      }
    }
    absl::Status status = cpu::useInstructionSet(set);
    ASSERT_TRUE(status.ok()) << status;
  }
};
[[maybe_unused]] const auto *const registered = ::testing::AddGlobalTestEnvironment(new InstructionSetOfRun);

float bf16ToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

/// Nearest even, from the double itself.
uint16_t doubleToBf16(double value) {
  if (std::isnan(value))
    return 0x7FC0;
  float down = bf16ToFloat(static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16));
  uint16_t best = 0;
  double bestError = INFINITY;
  uint16_t center = static_cast<uint16_t>(std::bit_cast<uint32_t>(down) >> 16);
  for (int delta = -1; delta <= 1; ++delta) {
    uint16_t candidate = static_cast<uint16_t>(center + delta);
    float there = bf16ToFloat(candidate);
    if (std::isnan(there))
      continue;
    double error = std::fabs(static_cast<double>(there) - value);
    if (std::isinf(there)) // as far as if the exponent went on
      error = std::isinf(value) ? 0 : std::fabs(std::copysign(0x1p128, there) - value);
    if (error < bestError || (error == bestError && candidate % 2 == 0))
      best = candidate, bestError = error;
  }
  return best;
}

template <typename T> T load(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <typename T> void store(void *data, int64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

} // namespace

double roundTo(DType type, double value) {
  Tensor one(type, {});
  one.set(0, value);
  return one.at(0);
}

double epsilonOf(DType type) {
  return type == DType::BF16 ? 0x1p-7 : type == DType::F16 ? 0x1p-10 : type == DType::F32 ? 0x1p-23 : 0x1p-52;
}

Tensor::Tensor(TensorType typeOfTensor) : type(std::move(typeOfTensor)) {
  lines.resize(static_cast<size_t>(type.bytes()) / 64 + 1);
  std::memset(lines.data(), 0xCD, lines.size() * sizeof(Line)); // what nobody wrote is no zero
}

Tensor::Tensor(DType dtype, std::vector<int64_t> shape, const std::vector<double> &values)
    : Tensor(TensorType{dtype, std::move(shape)}) {
  EXPECT_EQ(static_cast<int64_t>(values.size()), elements());
  for (int64_t i = 0; i < elements(); ++i)
    set(i, values[static_cast<size_t>(i)]);
}

double Tensor::at(int64_t i) const {
  switch (type.dtype) {
  case DType::I1:
    return load<uint8_t>(data(), i);
  case DType::I32:
    return load<int32_t>(data(), i);
  case DType::I64:
    return static_cast<double>(load<int64_t>(data(), i));
  case DType::BF16:
    return bf16ToFloat(load<uint16_t>(data(), i));
  case DType::F16:
    return static_cast<double>(load<_Float16>(data(), i));
  case DType::F32:
    return load<float>(data(), i);
  case DType::F64:
    return load<double>(data(), i);
  }
  return 0;
}

void Tensor::set(int64_t i, double value) {
  switch (type.dtype) {
  case DType::I1:
    return store<uint8_t>(data(), i, value != 0);
  case DType::I32:
    return store<int32_t>(data(), i, static_cast<int32_t>(value));
  case DType::I64:
    return store<int64_t>(data(), i, static_cast<int64_t>(value));
  case DType::BF16:
    return store<uint16_t>(data(), i, doubleToBf16(value));
  case DType::F16:
    return store<_Float16>(data(), i, static_cast<_Float16>(value));
  case DType::F32:
    return store<float>(data(), i, static_cast<float>(value));
  case DType::F64:
    return store<double>(data(), i, value);
  }
}

std::vector<double> Tensor::values() const {
  std::vector<double> result;
  for (int64_t i = 0; i < elements(); ++i)
    result.push_back(at(i));
  return result;
}

Tensor randomTensor(DType dtype, std::vector<int64_t> shape, uint64_t seed, double low, double high) {
  Tensor tensor(dtype, std::move(shape));
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> values(low, high);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.set(i, values(engine));
  return tensor;
}

namespace {
std::vector<Tensor> runWith(KernelCall &call, const std::vector<Tensor> &operands, int threads,
                            void *sharedResult, int sharedIndex, const void *sharedOperand,
                            int sharedOperandIndex) {
  call.operands.clear();
  for (const Tensor &operand : operands)
    call.operands.push_back(operand.type);
  auto kernel = cpu::createKernel(call);
  std::vector<Tensor> results;
  for (const TensorType &type : call.results)
    results.emplace_back(type);
  if (!kernel.ok()) {
    ADD_FAILURE() << kernel.status();
    return results;
  }
  if (sharedResult) {
    EXPECT_TRUE((*kernel)->mayAlias(sharedOperandIndex, sharedIndex));
  }
  std::vector<const void *> operandPointers;
  std::vector<void *> resultPointers;
  for (const Tensor &operand : operands)
    operandPointers.push_back(operand.data());
  for (Tensor &result : results)
    resultPointers.push_back(result.data());
  if (sharedResult) {
    operandPointers[static_cast<size_t>(sharedOperandIndex)] = sharedOperand;
    resultPointers[static_cast<size_t>(sharedIndex)] = sharedResult;
  }
  Tensor workspace(DType::I1, {(*kernel)->workspaceBytes()});
  ThreadPool pool(threads);
  (*kernel)->run({operandPointers, resultPointers, workspace.data()}, pool);
  return results;
}
} // namespace

std::vector<Tensor> runKernel(KernelCall call, const std::vector<Tensor> &operands, int threads) {
  return runWith(call, operands, threads, nullptr, 0, nullptr, 0);
}

std::vector<Tensor> runOnThreads(const KernelCall &call, const std::vector<Tensor> &operands) {
  std::vector<Tensor> one = runKernel(call, operands, 1);
  for (int threads : {2, 3}) {
    std::vector<Tensor> more = runKernel(call, operands, threads);
    for (size_t i = 0; i < one.size(); ++i)
      EXPECT_EQ(std::memcmp(one[i].data(), more[i].data(), static_cast<size_t>(one[i].type.bytes())), 0)
          << "result " << i << " of " << call.name << " changes with " << threads << " threads";
  }
  return one;
}

Tensor runInPlace(KernelCall call, std::vector<Tensor> operands, int operand, int result) {
  Tensor shared = operands[static_cast<size_t>(operand)];
  runWith(call, operands, 2, shared.data(), result, shared.data(), operand);
  Tensor view(call.results[static_cast<size_t>(result)]);
  std::memcpy(view.data(), shared.data(), static_cast<size_t>(view.type.bytes()));
  return view;
}

std::string refusal(const KernelCall &call) {
  auto kernel = cpu::createKernel(call);
  if (kernel.ok())
    return "accepted";
  EXPECT_EQ(kernel.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(kernel.status().message());
}

void expectNear(const Tensor &result, const std::vector<double> &expected, double tolerance) {
  ASSERT_EQ(result.elements(), static_cast<int64_t>(expected.size()));
  int shown = 0;
  for (int64_t i = 0; i < result.elements() && shown < 5; ++i) {
    double got = result.at(i), wanted = expected[static_cast<size_t>(i)];
    if ((std::isnan(got) && std::isnan(wanted)) || got == wanted)
      continue;
    double error = std::fabs(got - wanted);
    if (!(error <= tolerance * std::max(1.0, std::fabs(wanted)))) {
      ADD_FAILURE() << result.type.str() << " element " << i << ": " << got << ", expected " << wanted
                    << " within " << tolerance;
      ++shown;
    }
  }
}

} // namespace weft::testing
