//===- CpuNormTest.cpp - Norms and rotary embedding on the CPU ------------===//
//
// Against float64 loops. The float64 kernels are checked by central differences too, so that the formulas of
// the backward kernels are held against the forward ones and not against a copy of themselves.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/kernels/TestSupport.h"

#include <algorithm>
#include <cmath>

namespace weft::testing {
namespace {

constexpr DType kFloats[] = {DType::F32, DType::BF16, DType::F16, DType::F64};

struct NormCase {
  bool isCentered;
  double epsilon = 1e-5, offset = 0;
};

KernelCall normCall(NormCase norm, bool isBackward, DType type, DType gradient, int64_t rows, int64_t width) {
  KernelCall call;
  call.name = std::string(norm.isCentered ? "layer_norm" : "rms_norm") + (isBackward ? "_backward" : "");
  call.setNumber("epsilon", norm.epsilon);
  if (!norm.isCentered)
    call.setNumber("weight_offset", norm.offset);
  call.results = {{type, {rows, width}}};
  if (isBackward) {
    call.results.push_back({gradient, {width}});
    if (norm.isCentered)
      call.results.push_back({gradient, {width}});
  } else {
    call.results.push_back({DType::F32, {rows}});
    if (norm.isCentered)
      call.results.push_back({DType::F32, {rows}});
  }
  return call;
}

struct Row {
  double mean = 0, rstd = 0;
  std::vector<double> hat;
};
Row normalizedRow(const NormCase &norm, const Tensor &x, int64_t row, int64_t width) {
  Row result;
  for (int64_t i = 0; norm.isCentered && i < width; ++i)
    result.mean += x.at(row * width + i) / static_cast<double>(width);
  double square = 0;
  for (int64_t i = 0; i < width; ++i)
    square += std::pow(x.at(row * width + i) - result.mean, 2) / static_cast<double>(width);
  result.rstd = 1 / std::sqrt(square + norm.epsilon);
  for (int64_t i = 0; i < width; ++i)
    result.hat.push_back((x.at(row * width + i) - result.mean) * result.rstd);
  return result;
}

/// Sums of `width` terms of size about 1 in float32 (in which float64 kernels too store their statistics),
/// then one rounding to `type`.
double toleranceFor(DType type, int64_t width) {
  return epsilonOf(type) + 8 * std::sqrt(static_cast<double>(width)) * epsilonOf(DType::F32);
}

TEST(CpuNorm, ForwardAndBackwardOfOddShapesInEveryType) {
  for (NormCase norm : {NormCase{false}, NormCase{false, 1e-6, 1.0}, NormCase{true}})
    for (DType type : kFloats)
      for (auto [rows, width] :
           std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {3, 17}, {200, 288}, {5, 1030}, {0, 8}}) {
        SCOPED_TRACE(std::string(weft::name(type)) + (norm.isCentered ? " layer " : " rms ") +
                     std::to_string(width));
        Tensor x = randomTensor(type, {rows, width}, 1, -2, 3), w = randomTensor(type, {width}, 2, 0.5, 1.5);
        Tensor b = randomTensor(type, {width}, 3), dy = randomTensor(type, {rows, width}, 4);
        std::vector<Tensor> operands = {x, w};
        if (norm.isCentered)
          operands.push_back(b);
        auto results = runOnThreads(normCall(norm, false, type, type, rows, width), operands);
        std::vector<double> y, mean, rstd, dx, dw(static_cast<size_t>(width), 0.0), db = dw;
        for (int64_t row = 0; row < rows; ++row) {
          Row normal = normalizedRow(norm, x, row, width);
          mean.push_back(normal.mean);
          rstd.push_back(normal.rstd);
          double slope = 0, shift = 0;
          for (int64_t i = 0; i < width; ++i) {
            auto at = static_cast<size_t>(i);
            double scale = w.at(i) + norm.offset, gradient = dy.at(row * width + i);
            y.push_back(normal.hat[at] * scale + (norm.isCentered ? b.at(i) : 0));
            slope += gradient * scale * normal.hat[at] / static_cast<double>(width);
            shift += norm.isCentered ? gradient * scale / static_cast<double>(width) : 0;
            dw[at] += gradient * normal.hat[at];
            db[at] += gradient;
          }
          for (int64_t i = 0; i < width; ++i)
            dx.push_back(normal.rstd * (dy.at(row * width + i) * (w.at(i) + norm.offset) - shift -
                                        normal.hat[static_cast<size_t>(i)] * slope));
        }
        double tolerance = toleranceFor(type, width);
        expectNear(results[0], y, tolerance);
        expectNear(results.back(), rstd, 1e-5);
        if (norm.isCentered)
          expectNear(results[1], mean, 1e-5);
        expectNear(runInPlace(normCall(norm, false, type, type, rows, width), operands, 0, 0),
                   results[0].values(), 0);

        std::vector<Tensor> backward = {dy, x, w};
        if (norm.isCentered)
          backward.push_back(results[1]);
        backward.push_back(results.back());
        KernelCall call = normCall(norm, true, type, DType::F32, rows, width);
        auto gradients = runOnThreads(call, backward);
        double scale = rstd.empty() ? 1 : std::max(1.0, *std::max_element(rstd.begin(), rstd.end()));
        expectNear(gradients[0], dx, tolerance * scale);
        double sums = 8 * std::sqrt(static_cast<double>(rows * width + 1)) * epsilonOf(DType::F32);
        expectNear(gradients[1], dw, sums * scale);
        if (norm.isCentered)
          expectNear(gradients[2], db, sums);
        expectNear(runInPlace(call, backward, 0, 0), gradients[0].values(), 0);
      }
}

TEST(CpuNorm, BackwardIsTheDerivativeOfForward) {
  const int64_t width = 5;
  for (NormCase norm : {NormCase{false, 1e-3, 1.0}, NormCase{true, 1e-3}}) {
    Tensor x = randomTensor(DType::F64, {1, width}, 1), w = randomTensor(DType::F64, {width}, 2);
    Tensor b = randomTensor(DType::F64, {width}, 3), dy = randomTensor(DType::F64, {1, width}, 4);
    KernelCall forward = normCall(norm, false, DType::F64, DType::F64, 1, width);
    auto run = [&](const Tensor &at) {
      return runKernel(forward, norm.isCentered ? std::vector<Tensor>{at, w, b} : std::vector<Tensor>{at, w});
    };
    auto value = [&](const Tensor &at) {
      Tensor y = run(at)[0];
      double sum = 0;
      for (int64_t i = 0; i < width; ++i)
        sum += y.at(i) * dy.at(i);
      return sum;
    };
    auto saved = run(x);
    std::vector<Tensor> operands = {dy, x, w};
    if (norm.isCentered)
      operands.push_back(saved[1]);
    operands.push_back(saved.back());
    Tensor dx = runKernel(normCall(norm, true, DType::F64, DType::F64, 1, width), operands)[0];
    for (int64_t i = 0; i < width; ++i) {
      Tensor up = x, down = x;
      up.set(i, x.at(i) + 1e-5);
      down.set(i, x.at(i) - 1e-5);
      // The saved statistics are float32: so is the agreement.
      EXPECT_NEAR(dx.at(i), (value(up) - value(down)) / 2e-5, 2e-6);
    }
  }
}

TEST(CpuNorm, ExtremeRowsStayFinite) {
  KernelCall call = normCall({false, 1e-6}, false, DType::F32, DType::F32, 3, 4);
  Tensor x(DType::F32, {3, 4}, {0, 0, 0, 0, 1e-40, 0, 0, 0, 1e18, -1e18, 1e18, 1e18});
  auto results = runOnThreads(call, {x, Tensor(DType::F32, {4}, {1, 1, 1, 1})});
  for (double value : results[0].values())
    EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(results[0].at(0), 0);
  EXPECT_NEAR(results[0].at(9), -1, 1e-6);
}

TEST(CpuNorm, RefusesWhatDoesNotFit) {
  KernelCall call = normCall({false}, false, DType::F32, DType::F32, 2, 4);
  call.operands = {{DType::F32, {2, 4}}, {DType::F32, {3}}};
  EXPECT_EQ(refusal(call), "kernel rms_norm: w must be tensor<4xf32>, got tensor<3xf32>");
  call.operands[1].shape = {4};
  call.results[1].dtype = DType::F64;
  EXPECT_EQ(refusal(call), "kernel rms_norm: rstd must be tensor<2xf32>, got tensor<2xf64>");
  call.setNumber("epsilon", -1);
  EXPECT_EQ(refusal(call), "kernel rms_norm: epsilon must not be negative, got -1");
  call.attributes.erase("epsilon");
  EXPECT_EQ(refusal(call), "kernel rms_norm: attribute 'epsilon' must be one number");
  call.operands[0].dtype = DType::I32;
  EXPECT_EQ(refusal(call),
            "kernel rms_norm: every tensor must hold floating-point numbers, got tensor<2x4xi32>");
  call.operands.pop_back();
  EXPECT_EQ(refusal(call), "kernel rms_norm: takes 2 operands and 2 results, got 1 and 2");
}

struct RopeCase {
  bool isInverse, isInterleaved, isPerBatch;
  int64_t headSize, rotated;
};

TEST(CpuRope, RotatesPairsOfEveryKind) {
  const int64_t batch = 2, sequence = 9, heads = 3;
  for (RopeCase test : std::vector<RopeCase>{{false, false, false, 48, 48},
                                             {true, false, true, 10, 6},
                                             {false, true, true, 7, 4},
                                             {true, true, false, 34, 34},
                                             {false, false, false, 3, 0},
                                             {false, true, false, 1040, 1036}})
    for (DType type : kFloats) {
      std::vector<int64_t> shape = {batch, sequence, heads, test.headSize};
      int64_t half = test.rotated / 2;
      std::vector<int64_t> tableShape = {sequence, half};
      if (test.isPerBatch)
        tableShape.insert(tableShape.begin(), batch);
      Tensor angles = randomTensor(DType::F32, tableShape, 3, -10, 10);
      Tensor cosines(DType::F32, tableShape), sines(DType::F32, tableShape);
      for (int64_t i = 0; i < angles.elements(); ++i) {
        cosines.set(i, std::cos(angles.at(i)));
        sines.set(i, std::sin(angles.at(i)));
      }
      Tensor x = randomTensor(type, shape, 1);
      std::vector<double> expected = x.values();
      for (int64_t p = 0; p < batch * sequence; ++p)
        for (int64_t head = 0; head < heads; ++head)
          for (int64_t i = 0; i < half; ++i) {
            int64_t base = (p * heads + head) * test.headSize;
            int64_t first = base + (test.isInterleaved ? 2 * i : i),
                    second = test.isInterleaved ? first + 1 : first + half;
            int64_t angle = (test.isPerBatch ? p : p % sequence) * half + i;
            double c = cosines.at(angle), s = test.isInverse ? -sines.at(angle) : sines.at(angle);
            expected[static_cast<size_t>(first)] = x.at(first) * c - x.at(second) * s;
            expected[static_cast<size_t>(second)] = x.at(second) * c + x.at(first) * s;
          }
      KernelCall call;
      call.name = "rope";
      call.setInteger("inverse", test.isInverse);
      call.setInteger("interleaved", test.isInterleaved);
      call.results = {{type, shape}};
      Tensor y = runOnThreads(call, {x, cosines, sines})[0];
      expectNear(y, expected, 2 * epsilonOf(type));
      expectNear(runInPlace(call, {x, cosines, sines}, 0, 0), y.values(), 0);
    }
}

TEST(CpuRope, RefusesTablesThatDoNotFit) {
  KernelCall call;
  call.name = "rope";
  call.operands = {{DType::F32, {2, 9, 3, 8}}, {DType::F32, {8, 4}}, {DType::F32, {9, 4}}};
  call.results = {{DType::F32, {2, 9, 3, 8}}};
  EXPECT_EQ(refusal(call), "kernel rope: operand 1 must be f32 [s, r/2] or [b, s, r/2] for "
                           "tensor<2x9x3x8xf32>, got tensor<8x4xf32>");
  call.operands[1].shape = {9, 5};
  EXPECT_EQ(refusal(call), "kernel rope: operand 2 must be tensor<9x5xf32>, got tensor<9x4xf32>");
  call.operands[2].shape = {9, 5};
  EXPECT_EQ(refusal(call),
            "kernel rope: the tables tensor<9x5xf32> rotate more than the 8 elements of a head");
  call.operands[0].shape = {9, 3, 8};
  EXPECT_EQ(refusal(call), "kernel rope: operand 0 must be [b, s, n, d], got tensor<9x3x8xf32>");
}

} // namespace
} // namespace weft::testing
