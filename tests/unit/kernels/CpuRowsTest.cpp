// Element-wise programs with reductions: the same bits as the kernels that they take the place of, one after
// the other.
#include "TestSupport.h"
#include "kernels/common/ElementwiseOps.h"

#include <cstring>

namespace weft::testing {
namespace {

constexpr int64_t kWidths[] = {1, 3, 17, 63, 64, 65, 200, 256, 300, 1030};

/// Writes a program over [rows, width].
class Rows {
public:
  Rows(int64_t rows, int64_t width) : rows(rows), width(width) { call.name = "elementwise"; }

  int32_t full(DType type) { return operand({type, {rows, width}}, {width, 1}); }
  int32_t vector(DType type) { return operand({type, {width}}, {0, 1}); }
  int32_t constant(double value) {
    call.attributes["constants"].numbers.push_back(value);
    constantTypes.push_back(static_cast<int64_t>(DType::F32));
    types.push_back(DType::F32);
    return next++;
  }
  int32_t emit(ElementwiseOp op, int32_t a, int32_t b = -1, DType type = DType::F32) {
    appendInstruction(program, {op, type, {a, b, -1}});
    types.push_back(type);
    return next++;
  }
  void store(int32_t reg) { result(reg, {rows, width}); }
  void storeRow(int32_t reg) { result(reg, {rows}); }

  KernelCall finish() {
    call.setIntegers("shape", {rows, width});
    call.setIntegers("operand_strides", strides);
    call.setIntegers("constant_types", constantTypes);
    call.setIntegers("program", program);
    call.setIntegers("outputs", outputs);
    return call;
  }

private:
  int32_t operand(TensorType type, std::vector<int64_t> along) {
    call.operands.push_back(type);
    types.push_back(type.dtype);
    strides.insert(strides.end(), along.begin(), along.end());
    return next++;
  }
  void result(int32_t reg, std::vector<int64_t> shape) {
    outputs.push_back(reg);
    call.results.push_back({types[static_cast<size_t>(reg)], std::move(shape)});
  }

  int64_t rows, width;
  KernelCall call;
  std::vector<int64_t> strides, constantTypes, program, outputs;
  std::vector<DType> types;
  int32_t next = 0;
};

bool haveSameBits(const Tensor &a, const Tensor &b) {
  return a.type == b.type && std::memcmp(a.data(), b.data(), static_cast<size_t>(a.type.bytes())) == 0;
}

TEST(CpuRows, ReduceInTheOrderOfTheReduceKernel) {
  const std::pair<ElementwiseOp, const char *> kinds[] = {{ElementwiseOp::ReduceSum, "sum"},
                                                          {ElementwiseOp::ReduceMaximum, "max"},
                                                          {ElementwiseOp::ReduceMinimum, "min"}};
  for (auto [op, kind] : kinds)
    for (DType type : {DType::I32, DType::I64, DType::BF16, DType::F16, DType::F32, DType::F64})
      for (int64_t width : kWidths) {
        SCOPED_TRACE(std::string(kind) + " of " + std::string(name(type)) + " " + std::to_string(width));
        const DType result = type == DType::BF16 && op == ElementwiseOp::ReduceSum ? DType::F32 : type;
        Tensor x = randomTensor(type, {9, width}, 1, -100, 100);
        Rows rows(9, width);
        rows.storeRow(rows.emit(op, rows.full(type), -1, result));
        KernelCall reduce{"reduce", {}, {{result, {9}}}, {}};
        reduce.setText("kind", kind);
        reduce.setIntegers("dimensions", {1});
        EXPECT_TRUE(haveSameBits(runOnThreads(rows.finish(), {x})[0], runKernel(reduce, {x})[0]));
      }
}

/// A norm as its decomposition in dialects/nn/Norm.cpp has it.
KernelCall normProgram(bool isCentered, DType type, int64_t rows, int64_t width, double epsilon) {
  Rows p(rows, width);
  const int32_t stored = p.full(type), w = p.vector(DType::F32), b = isCentered ? p.vector(DType::F32) : -1;
  const int32_t share = p.constant(1.0 / static_cast<double>(width)), smallest = p.constant(epsilon);
  int32_t x = type == DType::F32 ? stored : p.emit(ElementwiseOp::Cast, stored), mean = -1;
  if (isCentered) {
    mean = p.emit(ElementwiseOp::Multiply, p.emit(ElementwiseOp::ReduceSum, x), share);
    x = p.emit(ElementwiseOp::Subtract, x, mean);
  }
  const int32_t squares = p.emit(ElementwiseOp::ReduceSum, p.emit(ElementwiseOp::Multiply, x, x));
  const int32_t rstd =
      p.emit(ElementwiseOp::Rsqrt,
             p.emit(ElementwiseOp::Add, p.emit(ElementwiseOp::Multiply, squares, share), smallest));
  int32_t y = p.emit(ElementwiseOp::Multiply, p.emit(ElementwiseOp::Multiply, x, rstd), w);
  if (isCentered)
    y = p.emit(ElementwiseOp::Add, y, b);
  p.store(type == DType::F32 ? y : p.emit(ElementwiseOp::Cast, y, -1, type));
  if (isCentered)
    p.storeRow(mean);
  p.storeRow(rstd);
  return p.finish();
}

TEST(CpuRows, NormKernelsHaveTheBitsOfTheirDecomposition) {
  for (bool isCentered : {false, true})
    for (DType type : {DType::BF16, DType::F16, DType::F32})
      for (int64_t width : kWidths) {
        SCOPED_TRACE(std::string(name(type)) + (isCentered ? " layer " : " rms ") + std::to_string(width));
        std::vector<Tensor> operands = {randomTensor(type, {70, width}, 1, -2, 3),
                                        randomTensor(DType::F32, {width}, 2)};
        if (isCentered)
          operands.push_back(randomTensor(DType::F32, {width}, 3));
        KernelCall program = normProgram(isCentered, type, 70, width, 1e-5);
        KernelCall kernel{isCentered ? "layer_norm" : "rms_norm", {}, program.results, {}};
        kernel.setNumber("epsilon", 1e-5);
        std::vector<Tensor> expected = runKernel(kernel, operands), actual = runOnThreads(program, operands);
        for (size_t result = 0; result < expected.size(); ++result)
          EXPECT_TRUE(haveSameBits(actual[result], expected[result])) << "result " << result;
        EXPECT_TRUE(haveSameBits(runInPlace(program, operands, 0, 0), expected[0])) << "in place";
      }
}

TEST(CpuRows, RefuseWhatIsNoRow) {
  Rows p(4, 8);
  const int32_t x = p.full(DType::F32);
  p.emit(ElementwiseOp::ReduceSum, x);
  p.storeRow(x);
  EXPECT_EQ(refusal(p.finish()),
            "kernel elementwise: result 0 is tensor<4xf32>, but register 0 differs within a row");
  Rows empty(0, 8);
  empty.storeRow(empty.emit(ElementwiseOp::ReduceSum, empty.full(DType::F32)));
  EXPECT_EQ(refusal(empty.finish()),
            "kernel elementwise: a reduction needs elements, the shape has the size 0");
  Rows bits(4, 8);
  bits.storeRow(bits.emit(ElementwiseOp::ReduceMaximum, bits.full(DType::I1), -1, DType::I1));
  EXPECT_EQ(refusal(bits.finish()),
            "kernel elementwise: instruction 0 (reduce_maximum): does not take (i1) to i1");
}

/// What a damaged file could ask for, whatever little memory its operands have.
TEST(CpuRows, RefuseWhatWouldNeverEnd) {
  Rows endless(1, int64_t{1} << 40);
  endless.storeRow(endless.emit(ElementwiseOp::ReduceSum, endless.constant(1)));
  EXPECT_EQ(refusal(endless.finish()),
            "kernel elementwise: rows of 1099511627776 elements, none of which lies in memory");
  Rows overflowing(3, int64_t{1} << 62);
  overflowing.storeRow(overflowing.emit(ElementwiseOp::ReduceSum, overflowing.constant(1)));
  EXPECT_EQ(refusal(overflowing.finish()),
            "kernel elementwise: attribute 'shape' has more than 2^48 elements");
  Rows deep(1, 64); // each level needs another walk over the row
  int32_t value = deep.full(DType::F32), sum = 0;
  for (int level = 0; level < 100'000; ++level) {
    sum = deep.emit(ElementwiseOp::ReduceSum, value);
    value = deep.emit(ElementwiseOp::Multiply, value, sum);
  }
  deep.storeRow(sum);
  EXPECT_EQ(refusal(deep.finish()),
            "kernel elementwise: 200001 registers with reductions; split the program, 192 are the most");
}

TEST(CpuRows, AResultOfRowsSharesNoMemory) {
  Rows p(4, 8);
  const int32_t x = p.full(DType::F32), sum = p.emit(ElementwiseOp::ReduceSum, x);
  p.store(p.emit(ElementwiseOp::Divide, x, sum));
  p.storeRow(sum);
  auto kernel = cpu::createKernel(p.finish());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_TRUE((*kernel)->mayAlias(0, 0));
  EXPECT_FALSE((*kernel)->mayAlias(0, 1));
}

} // namespace
} // namespace weft::testing
