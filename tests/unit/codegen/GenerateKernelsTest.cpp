//===- GenerateKernelsTest.cpp - Generated code has the interpreter's bits -===//
//
// Programs of every instruction and type run twice: as generated functions, loaded from their shared object,
// and by the interpreter of blocks. All bits are the same, but for those of a NaN, which stays a NaN.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/GenerateKernels.h"
#include "kernels/common/GeneratedKernel.h"
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/Cpu.h"
#include "tests/unit/codegen/RandomPrograms.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::testing {
namespace {

using Bytes = std::vector<std::byte>;
constexpr DType kTypes[] = {DType::I1,  DType::I32, DType::I64, DType::BF16,
                            DType::F16, DType::F32, DType::F64};

/// A loaded object.
class Loaded {
public:
  explicit Loaded(const std::string &object) : descriptor(::memfd_create("generated", MFD_CLOEXEC)) {
    EXPECT_EQ(::write(descriptor, object.data(), object.size()), static_cast<ssize_t>(object.size()));
    handle = ::dlopen(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle, nullptr) << ::dlerror();
  }
  ~Loaded() {
    if (handle)
      ::dlclose(handle);
    ::close(descriptor);
  }
  Loaded(const Loaded &) = delete;
  Loaded &operator=(const Loaded &) = delete;
  GeneratedFunction *find(const std::string &symbol) const {
    return reinterpret_cast<GeneratedFunction *>(::dlsym(handle, symbol.c_str()));
  }

private:
  int descriptor;
  void *handle = nullptr;
};

std::vector<void *> pointersTo(std::vector<Bytes> &tensors) {
  std::vector<void *> pointers;
  for (Bytes &tensor : tensors)
    pointers.push_back(tensor.data());
  return pointers;
}

/// Every NaN becomes the same one.
void unifyNans(Bytes &bytes, DType type) {
  const size_t size = static_cast<size_t>(byteSize(type));
  for (size_t at = 0; at < bytes.size(); at += size) {
    bool isNan = false;
    if (type == DType::F32 || type == DType::F64) {
      float single;
      double twice;
      std::memcpy(&single, bytes.data() + at, sizeof(single));
      if (type == DType::F64)
        std::memcpy(&twice, bytes.data() + at, sizeof(twice));
      isNan = type == DType::F64 ? std::isnan(twice) : std::isnan(single);
    } else if (type == DType::BF16 || type == DType::F16) {
      uint16_t bits;
      std::memcpy(&bits, bytes.data() + at, 2);
      const uint16_t exponent = type == DType::BF16 ? 0x7F80 : 0x7C00;
      isNan = (bits & 0x7FFF) > exponent;
    }
    if (isNan)
      std::memset(bytes.data() + at, 0xFF, size);
  }
}

/// Behind each result lie bytes that nobody may write.
constexpr size_t kGuardBytes = 64;
constexpr std::byte kGuard{0xA5};

std::vector<Bytes> emptyResults(const KernelCall &call) {
  std::vector<Bytes> results;
  for (const TensorType &type : call.results) {
    Bytes &result = results.emplace_back(static_cast<size_t>(type.bytes()));
    result.resize(result.size() + kGuardBytes, kGuard);
  }
  return results;
}

/// The program, for messages.
std::string listing(const KernelCall &call) {
  ElementwiseProgram program = parseElementwise(call).value();
  std::string text = call.str();
  for (size_t index = 0; index < program.constants.size(); ++index)
    absl::StrAppend(&text, "\n  %", program.operandStrides.size() + index, " = ",
                    program.constants[index].value, " : ", std::string(name(program.constants[index].type)));
  for (size_t index = 0; index < program.instructions.size(); ++index) {
    const ElementwiseInstruction &instruction = program.instructions[index];
    absl::StrAppend(&text, "\n  %", program.firstInstruction() + static_cast<int32_t>(index), " = ",
                    std::string(name(instruction.op)), " ", absl::StrJoin(instruction.sources, " "), " : ",
                    std::string(name(instruction.type)));
  }
  return absl::StrCat(text, "\n  results ", absl::StrJoin(program.outputs, " "));
}

std::string hexOf(const std::byte *bytes, int64_t size) {
  std::string text;
  while (size-- > 0)
    absl::StrAppend(&text, absl::Hex(static_cast<unsigned>(bytes[size]), absl::kZeroPad2));
  return text;
}

/// Runs a call both ways on the same operands.
void expectSameBits(const KernelCall &call, GeneratedFunction *function, std::vector<Bytes> operands) {
  std::vector<Bytes> expected = emptyResults(call), actual = emptyResults(call);
  std::vector<void *> operandPointers = pointersTo(operands), expectedPointers = pointersTo(expected),
                      actualPointers = pointersTo(actual);
  std::vector<const void *> inputs(operandPointers.begin(), operandPointers.end());
  ThreadPool pool(1);
  absl::StatusOr<std::unique_ptr<Kernel>> interpreter = cpu::createKernel(call);
  ASSERT_TRUE(interpreter.ok()) << interpreter.status();
  (*interpreter)->run({inputs, expectedPointers, nullptr}, pool);
  const ElementwiseProgram program = parseElementwise(call).value();
  const int64_t elements = TensorType{DType::I1, program.shape}.elements();
  const int64_t unit = program.hasReductions() ? program.shape.back() : 1;
  // In two parts: what a tile does must not depend on where it ends.
  const int64_t middle = elements / unit / 2 * unit;
  if (middle > 0)
    function(inputs.data(), actualPointers.data(), 0, middle);
  function(inputs.data(), actualPointers.data(), middle, elements);
  for (size_t result = 0; result < call.results.size(); ++result) {
    ASSERT_EQ(std::count(actual[result].end() - kGuardBytes, actual[result].end(), kGuard), kGuardBytes)
        << "result " << result << " is written beyond its end in " << listing(call);
    unifyNans(expected[result], call.results[result].dtype);
    unifyNans(actual[result], call.results[result].dtype);
    const int64_t size = byteSize(call.results[result].dtype);
    for (int64_t element = 0; element < call.results[result].elements(); ++element)
      ASSERT_EQ(std::memcmp(expected[result].data() + element * size, actual[result].data() + element * size,
                            static_cast<size_t>(size)),
                0)
          << "result " << result << ", element " << element << " is "
          << hexOf(actual[result].data() + element * size, size) << ", not "
          << hexOf(expected[result].data() + element * size, size) << " in " << listing(call);
  }
}

class GenerateKernelsTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::vector<cpu::InstructionSet> sets = cpu::supportedInstructionSets();
    ASSERT_FALSE(sets.empty());
    ASSERT_TRUE(cpu::useInstructionSet(sets.back()).ok());
    target = sets.back() == cpu::InstructionSet::AVX2 ? "x86-64-v3" : "x86-64-v4";
  }
  /// How many of the calls have a function; those run.
  int64_t runBothWays(std::vector<KernelCall> &calls, uint64_t seed) {
    RandomPrograms random(seed);
    std::vector<KernelCall *> pointers;
    for (KernelCall &call : calls)
      pointers.push_back(&call);
    absl::StatusOr<GeneratedKernels> generated = generateKernels(pointers, target);
    EXPECT_TRUE(generated.ok()) << generated.status();
    Loaded loaded(generated.ok() ? generated->object : "");
    for (const KernelCall &call : calls) {
      GeneratedFunction *function =
          call.has(kSymbolAttribute) ? loaded.find(call.textOr(kSymbolAttribute, "")) : nullptr;
      EXPECT_EQ(function != nullptr, call.has(kSymbolAttribute));
      std::vector<Bytes> operands;
      for (const TensorType &type : call.operands)
        operands.push_back(random.values(type));
      if (function && !HasFatalFailure())
        expectSameBits(call, function, std::move(operands));
    }
    return generated.ok() ? generated->functions : 0;
  }
  std::string target;
};

TEST_F(GenerateKernelsTest, RandomProgramsHaveTheInterpretersBits) {
  RandomPrograms random(1);
  int64_t functions = 0;
  for (int object = 0; object < 20 && !HasFatalFailure(); ++object) {
    std::vector<KernelCall> calls;
    for (int count = 0; count < 50; ++count)
      calls.push_back(random.call());
    functions += runBothWays(calls, object);
  }
  EXPECT_GT(functions, 600) << "most programs have a function";
}

TEST_F(GenerateKernelsTest, ThreeResultsBehindAReductionHaveTheInterpretersBits) {
  KernelCall call;
  call.name = "elementwise";
  call.operands = {{DType::BF16, {177}}, {DType::BF16, {64, 5, 177}}, {DType::BF16, {64, 177}}};
  call.results = std::vector<TensorType>(3, {DType::BF16, {64, 5, 177}});
  call.setIntegers("shape", {64, 5, 177});
  call.setIntegers("operand_strides", {0, 0, 1, 885, 177, 1, 177, 0, 1});
  call.setIntegers("constant_types", {3, 3});
  call.attributes["constants"].numbers = {0.5, 0.5};
  call.setIntegers("program",
                   {1,  3, 0, -1, -1, 4,  3,  5,  -1, -1, 27, 0, 6,  6,  -1, 17, 3,  6,  3,  -1, 31, 3,
                    7,  6, 8, 6,  3,  1,  -1, -1, 17, 3,  10, 9, -1, 20, 3,  2,  9,  -1, 36, 3,  11, -1,
                    -1, 1, 3, 13, -1, -1, 15, 3,  14, 4,  -1, 5, 3,  15, -1, -1, 15, 3,  16, 6,  -1});
  call.setIntegers("outputs", {11, 12, 17});
  std::vector<KernelCall> calls = {call};
  EXPECT_EQ(runBothWays(calls, 7), 1);
}

TEST_F(GenerateKernelsTest, RandomProgramsWithReductionsHaveTheInterpretersBits) {
  RandomPrograms random(3);
  int64_t functions = 0;
  for (int object = 0; object < 20 && !HasFatalFailure(); ++object) {
    std::vector<KernelCall> calls;
    for (int count = 0; count < 30; ++count)
      calls.push_back(random.callWithRows());
    functions += runBothWays(calls, 100 + object);
  }
  EXPECT_GT(functions, 350) << "most programs have a function";
}

/// `op` alone, of a line of `elements`; nothing where it does not take the type.
std::optional<KernelCall> alone(ElementwiseOp op, DType from, DType to, int64_t elements) {
  KernelCall call;
  call.name = "elementwise";
  std::vector<int64_t> program;
  ElementwiseInstruction instruction{op, to, {-1, -1, -1}};
  for (int32_t source = 0; source < sourceCount(op); ++source) {
    instruction.sources[static_cast<size_t>(source)] = source;
    call.operands.push_back({op == ElementwiseOp::Select && source == 0 ? DType::I1 : from, {elements}});
  }
  appendInstruction(program, instruction);
  call.results.push_back({to, isReduction(op) ? std::vector<int64_t>() : std::vector{elements}});
  call.setIntegers("shape", {elements});
  call.setIntegers("operand_strides", std::vector<int64_t>(call.operands.size(), 1));
  call.setIntegers("program", program);
  call.setIntegers("outputs", {static_cast<int64_t>(call.operands.size())});
  return parseElementwise(call).ok() ? std::optional(call) : std::nullopt;
}

TEST_F(GenerateKernelsTest, EveryInstructionOfEveryTypeHasTheInterpretersBits) {
  std::vector<KernelCall> calls;
  for (int op = 0; op < kElementwiseOps; ++op)
    for (DType from : kTypes)
      for (DType to : kTypes)
        if (std::optional<KernelCall> call = alone(static_cast<ElementwiseOp>(op), from, to, 4003))
          calls.push_back(*call);
  EXPECT_GT(calls.size(), 150u);
  runBothWays(calls, 2);
}

} // namespace
} // namespace weft::testing
