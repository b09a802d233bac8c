//===- CpuPrimitivesTest.cpp - Kernels that move, select and sum ----------===//
#include "kernels/common/Philox.h"
#include "tests/unit/kernels/TestSupport.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace weft::testing {
namespace {

constexpr DType kAllTypes[] = {DType::I1,  DType::I32, DType::I64, DType::BF16,
                               DType::F16, DType::F32, DType::F64};

KernelCall callOf(std::string name, std::vector<TensorType> results) {
  KernelCall call;
  call.name = std::move(name);
  call.results = std::move(results);
  return call;
}

/// Integers that every type but i1 holds exactly, each different from its neighbors.
Tensor countingTensor(DType type, std::vector<int64_t> shape) {
  Tensor tensor(type, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.set(i, type == DType::I1 ? i % 3 == 0 : static_cast<double>(i * 7 % 127));
  return tensor;
}

std::vector<int64_t> stridesOf(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Element i of each result is operand element `source(index of i)`, or `otherwise` where that is negative.
template <typename Source>
std::vector<double> moved(const std::vector<int64_t> &shape, const Tensor &x, const Source &source,
                          double otherwise = 0) {
  std::vector<double> values;
  int64_t elements = TensorType{DType::I1, shape}.elements();
  std::vector<int64_t> strides = stridesOf(shape), index(shape.size());
  for (int64_t i = 0; i < elements; ++i) {
    for (size_t d = 0; d < shape.size(); ++d)
      index[d] = i / strides[d] % shape[d];
    int64_t from = source(index);
    values.push_back(from < 0 ? otherwise : x.at(from));
  }
  return values;
}

TEST(CpuTranspose, EveryPermutationOfOddAndBlockSizedShapes) {
  for (DType type : kAllTypes)
    for (std::vector<int64_t> shape :
         std::vector<std::vector<int64_t>>{{1, 17, 3}, {35, 2, 70}, {64, 33, 1}, {0, 2, 3}}) {
      std::vector<int64_t> permutation = {0, 1, 2};
      do {
        std::vector<int64_t> result, strides = stridesOf(shape);
        for (int64_t d : permutation)
          result.push_back(shape[static_cast<size_t>(d)]);
        KernelCall call = callOf("transpose", {{type, result}});
        call.setIntegers("permutation", permutation);
        Tensor x = countingTensor(type, shape);
        expectNear(runOnThreads(call, {x})[0],
                   moved(result, x,
                         [&](const std::vector<int64_t> &index) {
                           int64_t from = 0;
                           for (size_t d = 0; d < 3; ++d)
                             from += index[d] * strides[static_cast<size_t>(permutation[d])];
                           return from;
                         }),
                   0);
      } while (std::next_permutation(permutation.begin(), permutation.end()));
    }
}

TEST(CpuTranspose, RefusesWhatIsNoPermutation) {
  KernelCall call = callOf("transpose", {{DType::F32, {3, 2}}});
  call.operands = {{DType::F32, {2, 3}}};
  call.setIntegers("permutation", {1, 1});
  EXPECT_EQ(refusal(call),
            "kernel transpose: attribute 'permutation' must name each dimension of tensor<2x3xf32> once");
  call.setIntegers("permutation", {1});
  EXPECT_EQ(refusal(call), "kernel transpose: attribute 'permutation' holds 1 integers, 2 were expected");
  call.setIntegers("permutation", {0, 1});
  EXPECT_EQ(refusal(call), "kernel transpose: result 0 must be tensor<2x3xf32>, got tensor<3x2xf32>");
}

TEST(CpuBroadcast, RepeatsAlongNewAndUnitDimensions) {
  for (DType type : kAllTypes) {
    Tensor x = countingTensor(type, {3, 1});
    KernelCall call = callOf("broadcast", {{type, {2, 3, 5}}});
    call.setIntegers("dimensions", {1, 2});
    expectNear(runOnThreads(call, {x})[0],
               moved({2, 3, 5}, x, [](const std::vector<int64_t> &index) { return index[1]; }), 0);
    Tensor scalar = countingTensor(type, {});
    KernelCall fill = callOf("broadcast", {{type, {40000}}});
    fill.setIntegers("dimensions", {});
    expectNear(runOnThreads(fill, {scalar})[0], std::vector<double>(40000, scalar.at(0)), 0);
  }
  KernelCall call = callOf("broadcast", {{DType::F32, {2, 3}}});
  call.operands = {{DType::F32, {2}}};
  call.setIntegers("dimensions", {1});
  EXPECT_EQ(refusal(call),
            "kernel broadcast: dimension 0 of tensor<2xf32> does not fit dimension 1 of tensor<2x3xf32>");
  call.setIntegers("dimensions", {2});
  EXPECT_EQ(refusal(call),
            "kernel broadcast: attribute 'dimensions' must name different dimensions of tensor<2x3xf32>");
}

TEST(CpuSlice, StaticAndDynamicStartsAreClampedSoThatTheSliceFits) {
  Tensor x = countingTensor(DType::F32, {5, 7});
  KernelCall call = callOf("slice", {{DType::F32, {2, 3}}});
  auto expected = [&](int64_t row, int64_t column) {
    return moved({2, 3}, x, [&](const std::vector<int64_t> &i) { return (i[0] + row) * 7 + i[1] + column; });
  };
  call.setIntegers("offsets", {3, 4});
  expectNear(runOnThreads(call, {x})[0], expected(3, 4), 0);
  call.setIntegers("offsets", {1, 0});
  auto at = [&](double row, double column) {
    return runOnThreads(call, {x, Tensor(DType::I64, {}, {row}), Tensor(DType::I64, {}, {column})})[0];
  };
  expectNear(at(1, 2), expected(2, 2), 0);
  expectNear(at(-9, 99), expected(0, 4), 0);
  expectNear(at(0x1p62 * 1.99, -0x1p63), expected(3, 0), 0);
}

TEST(CpuSlice, RefusesWhatReachesBeyondTheTensor) {
  KernelCall call = callOf("slice", {{DType::F32, {2, 3}}});
  call.operands = {{DType::F32, {5, 7}}};
  call.setIntegers("offsets", {4, 0});
  EXPECT_EQ(
      refusal(call),
      "kernel slice: the slice tensor<2x3xf32> at offset 4 of dimension 0 reaches beyond tensor<5x7xf32>");
  call.operands[0].shape = {1, 7};
  EXPECT_EQ(refusal(call), "kernel slice: the slice tensor<2x3xf32> is larger than tensor<1x7xf32>");
  call.operands.push_back({DType::I64, {}});
  EXPECT_EQ(refusal(call),
            "kernel slice: takes no starts or one for each dimension of tensor<1x7xf32>, got 1");
  call.operands.push_back({DType::I32, {}});
  EXPECT_EQ(refusal(call), "kernel slice: a start must be tensor<i64>, got tensor<i32>");
}

TEST(CpuUpdateSlice, WritesTheBlockWhereASliceWouldReadIt) {
  for (DType type : kAllTypes) {
    Tensor x = countingTensor(type, {5, 7}), block = countingTensor(type, {2, 3});
    KernelCall call = callOf("update_slice", {{type, {5, 7}}});
    auto expected = [&](int64_t row, int64_t column) {
      std::vector<double> values;
      for (int64_t i = 0; i < 35; ++i) {
        int64_t r = i / 7 - row, c = i % 7 - column;
        values.push_back(r >= 0 && r < 2 && c >= 0 && c < 3 ? block.at(r * 3 + c) : x.at(i));
      }
      return values;
    };
    call.setIntegers("offsets", {3, 4});
    expectNear(runOnThreads(call, {x, block})[0], expected(3, 4), 0);
    call.setIntegers("offsets", {1, 0});
    auto at = [&](double row, double column) {
      return runOnThreads(call,
                          {x, block, Tensor(DType::I64, {}, {row}), Tensor(DType::I64, {}, {column})})[0];
    };
    expectNear(at(1, 2), expected(2, 2), 0);
    expectNear(at(-9, 99), expected(0, 4), 0);
  }
}

TEST(CpuUpdateSlice, RefusesABlockThatDoesNotFit) {
  KernelCall call = callOf("update_slice", {{DType::F32, {5, 7}}});
  call.operands = {{DType::F32, {5, 7}}, {DType::F32, {6, 1}}};
  call.setIntegers("offsets", {0, 0});
  EXPECT_EQ(refusal(call), "kernel update_slice: the slice tensor<6x1xf32> is larger than tensor<5x7xf32>");
  call.operands[1] = {DType::F64, {1, 7}};
  EXPECT_EQ(refusal(call), "kernel update_slice: operand 1 must have the type and rank of tensor<5x7xf32>, "
                           "got tensor<1x7xf64>");
  call.operands[1] = {DType::F32, {1, 7}};
  call.results[0] = {DType::F32, {1, 7}};
  EXPECT_EQ(refusal(call), "kernel update_slice: result 0 must be tensor<5x7xf32>, got tensor<1x7xf32>");
}

TEST(CpuConcatenate, JoinsAlongAnyDimension) {
  for (DType type : kAllTypes)
    for (int64_t dimension : {0, 1, 2}) {
      std::vector<int64_t> shape = {2, 3, 5}, other = shape, joined = shape;
      other[static_cast<size_t>(dimension)] = 4;
      joined[static_cast<size_t>(dimension)] += 4;
      Tensor x = countingTensor(type, shape), y = countingTensor(type, other);
      KernelCall call = callOf("concatenate", {{type, joined}});
      call.setInteger("dimension", dimension);
      Tensor result = runOnThreads(call, {x, y})[0];
      size_t d = static_cast<size_t>(dimension);
      std::vector<double> first = moved(joined, x, [&](std::vector<int64_t> i) {
        return i[d] < shape[d] ? (i[0] * shape[1] + i[1]) * shape[2] + i[2] : -1;
      });
      std::vector<double> second = moved(joined, y, [&](std::vector<int64_t> i) {
        i[d] -= shape[d];
        return i[d] >= 0 ? (i[0] * other[1] + i[1]) * other[2] + i[2] : -1;
      });
      for (size_t i = 0; i < first.size(); ++i)
        first[i] += second[i];
      expectNear(result, first, 0);
    }
  KernelCall call = callOf("concatenate", {{DType::F32, {4}}});
  call.operands = {{DType::F32, {2}}, {DType::F64, {2}}};
  call.setInteger("dimension", 0);
  EXPECT_EQ(refusal(call),
            "kernel concatenate: operand 1, tensor<2xf64>, does not fit tensor<2xf32> along dimension 0");
  call.setInteger("dimension", 1);
  EXPECT_EQ(refusal(call), "kernel concatenate: dimension 1 is none of tensor<2xf32>");
}

TEST(CpuPad, SurroundsWithTheValue) {
  for (DType type : kAllTypes) {
    Tensor x = countingTensor(type, {3, 4});
    KernelCall call = callOf("pad", {{type, {6, 5}}});
    call.setIntegers("low", {1, 0});
    call.setIntegers("high", {2, 1});
    call.setNumber("value", 1);
    expectNear(runOnThreads(call, {x})[0],
               moved(
                   {6, 5}, x,
                   [](const std::vector<int64_t> &i) {
                     return i[0] >= 1 && i[0] < 4 && i[1] < 4 ? (i[0] - 1) * 4 + i[1] : -1;
                   },
                   1),
               0);
  }
  KernelCall call = callOf("pad", {{DType::F32, {2}}});
  call.operands = {{DType::F32, {3}}};
  call.setIntegers("low", {0});
  call.setIntegers("high", {-1});
  call.setNumber("value", 0);
  EXPECT_EQ(refusal(call), "kernel pad: cannot pad dimension 0 by 0 and -1");
}

TEST(CpuIota, CountsAlongOneDimension) {
  for (DType type : {DType::I32, DType::I64, DType::BF16, DType::F32, DType::F64}) {
    KernelCall call = callOf("iota", {{type, {2, 300, 3}}});
    call.setInteger("dimension", 1);
    std::vector<double> expected;
    for (int64_t i = 0; i < 1800; ++i)
      expected.push_back(roundTo(type, static_cast<double>(i / 3 % 300)));
    expectNear(runOnThreads(call, {})[0], expected, 0);
  }
}

TEST(CpuCopy, KeepsEveryByte) {
  Tensor x = randomTensor(DType::F32, {3, 70001}, 1);
  expectNear(runOnThreads(callOf("copy", {{DType::F32, {70001, 3}}}), {x})[0], x.values(), 0);
  KernelCall call = callOf("copy", {{DType::F32, {2}}});
  call.operands = {{DType::F32, {3}}};
  EXPECT_EQ(refusal(call), "kernel copy: result 0 must have the bytes of tensor<3xf32>, got tensor<2xf32>");
}

TEST(CpuGather, CopiesRowsAndReadsZeroOutOfRange) {
  for (DType type : kAllTypes)
    for (DType indexType : {DType::I32, DType::I64}) {
      Tensor table = countingTensor(type, {5, 2, 3});
      Tensor indices(indexType, {2, 3}, {4, 0, -1, 5, 1, 1});
      KernelCall call = callOf("gather", {{type, {2, 3, 2, 3}}});
      expectNear(runOnThreads(call, {table, indices})[0],
                 moved({2, 3, 2, 3}, table,
                       [&](const std::vector<int64_t> &i) {
                         auto row = static_cast<int64_t>(indices.at(i[0] * 3 + i[1]));
                         return row < 0 || row >= 5 ? -1 : row * 6 + i[2] * 3 + i[3];
                       }),
                 0);
    }
  KernelCall call = callOf("gather", {{DType::F32, {2, 3}}});
  call.operands = {{DType::F32, {5, 3}}, {DType::F32, {2}}};
  EXPECT_EQ(refusal(call), "kernel gather: operand 1 must hold i32 or i64 indices, got tensor<2xf32>");
  call.operands[1].dtype = DType::I32;
  call.results[0].shape = {2, 4};
  EXPECT_EQ(refusal(call), "kernel gather: result 0 must be tensor<2x3xf32>, got tensor<2x4xf32>");
}

TEST(CpuScatterAdd, AddsRowsInOrderAndDropsWhatIsOutOfRange) {
  for (DType type : {DType::F32, DType::BF16, DType::F16, DType::F64, DType::I32, DType::I64})
    for (int64_t width : {1, 3, 300}) {
      const int64_t count = 100, rows = 17;
      Tensor indices = randomTensor(DType::I64, {count}, 3, -2, 19);
      Tensor updates =
          isFloat(type) ? randomTensor(type, {count, width}, 4) : countingTensor(type, {count, width});
      std::vector<double> expected(static_cast<size_t>(rows * width), 0.0);
      for (int64_t i = 0; i < count; ++i) {
        auto row = static_cast<int64_t>(indices.at(i));
        for (int64_t j = 0; j < width && row >= 0 && row < rows; ++j) {
          double &sum = expected[static_cast<size_t>(row * width + j)];
          sum += updates.at(i * width + j);
          if (type != DType::F64)
            sum = roundTo(isFloat(type) ? DType::F32 : type, sum);
        }
      }
      for (double &sum : expected)
        sum = roundTo(type, sum);
      expectNear(runOnThreads(callOf("scatter_add", {{type, {rows, width}}}), {indices, updates})[0],
                 expected, 0);
    }
  KernelCall call = callOf("scatter_add", {{DType::F32, {5, 3}}});
  call.operands = {{DType::I32, {2}}, {DType::I32, {2, 3}}};
  EXPECT_EQ(refusal(call), "kernel scatter_add: does not add tensor<2x3xi32> into tensor<5x3xf32>");
  call.operands[1] = {DType::F32, {3, 3}};
  EXPECT_EQ(refusal(call), "kernel scatter_add: operand 1 must be tensor<2x3xf32>, got tensor<3x3xf32>");
}

TEST(CpuReduce, AnySetOfDimensionsOfAnyNumberType) {
  for (DType type : {DType::F32, DType::BF16, DType::F16, DType::F64, DType::I32, DType::I64})
    for (std::vector<int64_t> shape :
         std::vector<std::vector<int64_t>>{{3, 17, 5}, {2, 3, 700}, {65, 1, 300}, {4, 0, 3}})
      for (int mask = 0; mask < 8; ++mask)
        for (const char *kind : {"sum", "max", "min"}) {
          bool isSum = std::string(kind) == "sum", isMax = std::string(kind) == "max";
          std::vector<int64_t> kept, dimensions, strides = stridesOf(shape);
          for (int64_t d = 0; d < 3; ++d)
            (mask >> d & 1 ? dimensions : kept).push_back(d);
          TensorType result{type, {}};
          for (int64_t d : kept)
            result.shape.push_back(shape[static_cast<size_t>(d)]);
          Tensor x = randomTensor(type, shape, 5, -3, 3);
          double neutral = isSum ? 0 : isFloat(type) ? (isMax ? -INFINITY : INFINITY) : NAN;
          if (x.elements() == 0 && std::isnan(neutral))
            continue;
          std::vector<double> expected(static_cast<size_t>(result.elements()), neutral);
          std::vector<int64_t> resultStrides = stridesOf(result.shape);
          for (int64_t i = 0; i < x.elements(); ++i) {
            int64_t to = 0;
            for (size_t k = 0; k < kept.size(); ++k) {
              auto d = static_cast<size_t>(kept[k]);
              to += i / strides[d] % shape[d] * resultStrides[k];
            }
            double &sum = expected[static_cast<size_t>(to)], value = x.at(i);
            sum = isSum ? sum + value : isMax ? std::fmax(sum, value) : std::fmin(sum, value);
          }
          KernelCall call = callOf("reduce", {result});
          call.setText("kind", kind);
          call.setIntegers("dimensions", dimensions);
          double terms = static_cast<double>(std::max<int64_t>(x.elements(), 1));
          double tolerance =
              isSum && isFloat(type)
                  ? epsilonOf(type) +
                        8 * std::sqrt(terms) * epsilonOf(type == DType::F64 ? DType::F64 : DType::F32)
                  : 0;
          expectNear(runOnThreads(call, {x})[0], expected, tolerance);
        }
}

TEST(CpuReduce, MaximaSeeNaN) {
  Tensor x = randomTensor(DType::F32, {3, 100}, 5);
  x.set(150, NAN);
  KernelCall call = callOf("reduce", {{DType::F32, {3}}});
  call.setText("kind", "max");
  call.setIntegers("dimensions", {1});
  Tensor y = runOnThreads(call, {x})[0];
  EXPECT_FALSE(std::isnan(y.at(0)));
  EXPECT_TRUE(std::isnan(y.at(1)));
}

TEST(CpuReduce, RefusesWhatDoesNotFit) {
  KernelCall call = callOf("reduce", {{DType::F32, {3}}});
  call.operands = {{DType::F32, {2, 3}}};
  call.setText("kind", "mean");
  call.setIntegers("dimensions", {0});
  EXPECT_EQ(refusal(call), "kernel reduce: kind \"mean\" is none of sum, max, min");
  call.setText("kind", "sum");
  call.setIntegers("dimensions", {2});
  EXPECT_EQ(refusal(call), "kernel reduce: dimension 2 is none of tensor<2x3xf32>");
  call.setIntegers("dimensions", {0, 0});
  EXPECT_EQ(refusal(call), "kernel reduce: dimension 0 is named twice");
  call.setIntegers("dimensions", {1});
  EXPECT_EQ(refusal(call), "kernel reduce: result 0 must be tensor<2xf32>, got tensor<3xf32>");
  call.results[0] = {DType::I32, {2}};
  EXPECT_EQ(refusal(call), "kernel reduce: does not reduce tensor<2x3xf32> to tensor<2xi32>");
}

TEST(CpuCumulativeSum, SumsInclusivelyAlongOneDimension) {
  for (DType type : {DType::F32, DType::BF16, DType::F64, DType::I32, DType::I64})
    for (int64_t dimension : {0, 1, 2}) {
      std::vector<int64_t> shape = {3, 17, 300}, strides = stridesOf(shape);
      auto d = static_cast<size_t>(dimension);
      Tensor x = randomTensor(type, shape, 6, -4, 4);
      std::vector<double> sums = x.values();
      for (size_t i = 0; i < sums.size(); ++i)
        if (static_cast<int64_t>(i) / strides[d] % shape[d] > 0) {
          double sum = sums[i - static_cast<size_t>(strides[d])] + sums[i];
          sums[i] = type == DType::F64 ? sum : roundTo(isFloat(type) ? DType::F32 : type, sum);
        }
      for (double &sum : sums)
        sum = roundTo(type, sum);
      KernelCall call = callOf("cumulative_sum", {{type, shape}});
      call.setInteger("dimension", dimension);
      expectNear(runOnThreads(call, {x})[0], sums, 0);
      expectNear(runInPlace(call, {x}, 0, 0), sums, 0);
    }
}

TEST(CpuTopK, DescendingWithTiesByIndexAndNaNLast) {
  for (DType type : {DType::F32, DType::BF16, DType::F16, DType::F64}) {
    Tensor x(type, {2, 6}, {1, NAN, 3, 3, -INFINITY, INFINITY, NAN, NAN, -1, -0.0, 0.0, NAN});
    KernelCall call = callOf("top_k", {{type, {2, 5}}, {DType::I32, {2, 5}}});
    call.setInteger("k", 5);
    auto results = runOnThreads(call, {x});
    EXPECT_EQ(results[1].values(), (std::vector<double>{5, 2, 3, 0, 4, 3, 4, 2, 0, 1}));
    expectNear(results[0], {INFINITY, 3, 3, 1, -INFINITY, 0, 0, -1, NAN, NAN}, 0);
  }
  Tensor x = randomTensor(DType::I32, {31, 257}, 8, -50, 50);
  KernelCall call = callOf("top_k", {{DType::I32, {31, 17}}, {DType::I32, {31, 17}}});
  call.setInteger("k", 17);
  auto results = runOnThreads(call, {x});
  for (int64_t row = 0; row < 31; ++row) {
    std::vector<int64_t> order(257);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      double left = x.at(row * 257 + a), right = x.at(row * 257 + b);
      return left > right || (left == right && a < b);
    });
    for (int64_t i = 0; i < 17; ++i)
      ASSERT_EQ(results[1].at(row * 17 + i), static_cast<double>(order[static_cast<size_t>(i)]));
  }
  call.operands = {{DType::I32, {31, 16}}};
  EXPECT_EQ(refusal(call), "kernel top_k: cannot take the largest 17 of the rows of tensor<31x16xi32>");
}

TEST(CpuRandomUniform, IsPhiloxOfSampleAndIndexWhateverTheBatch) {
  KernelCall call = callOf("random_uniform", {{DType::F32, {3, 7, 301}}});
  call.setInteger("seed", 42);
  call.setInteger("op_id", -5);
  Tensor step(DType::I64, {}, {9}), ids(DType::I64, {3}, {100, 7, 100});
  Tensor x = runOnThreads(call, {step, ids})[0];
  uint64_t key = philoxKey(42, 9, static_cast<uint64_t>(-5));
  for (int64_t i : {0, 1, 6, 2106, 2107, 4000, 6320}) {
    int64_t sample = i / 2107, index = i % 2107;
    PhiloxCounter words =
        philoxBlock(key, static_cast<uint64_t>(ids.at(sample)), static_cast<uint64_t>(index / 4));
    EXPECT_EQ(x.at(i), uniformFromBits(words[static_cast<size_t>(index % 4)]));
  }
  EXPECT_EQ(std::memcmp(x.data(), static_cast<const float *>(x.data()) + 2 * 2107, 2107 * 4), 0);
  call.operands = {{DType::I64, {}}, {DType::I64, {2}}};
  EXPECT_EQ(refusal(call),
            "kernel random_uniform: result 0 must be f32 with 2 samples, got tensor<3x7x301xf32>");
}

/// `x` without all but `count` rows of a dimension from `start`.
Tensor rowsOf(const Tensor &x, size_t dimension, int64_t start, int64_t count) {
  TensorType type = x.type;
  type.shape[dimension] = count;
  Tensor part(type);
  int64_t inner = byteSize(type.dtype), outer = 1;
  for (size_t i = 0; i < type.shape.size(); ++i)
    (i < dimension ? outer : inner) *= i == dimension ? 1 : type.shape[i];
  for (int64_t o = 0; o < outer; ++o)
    std::memcpy(static_cast<std::byte *>(part.data()) + o * count * inner,
                static_cast<const std::byte *>(x.data()) + (o * x.type.shape[dimension] + start) * inner,
                static_cast<size_t>(count * inner));
  return part;
}

TEST(CpuSquaredNorm, SumsEachRowWithBitsThatDoNotDependOnTheOthers) {
  for (DType type : {DType::F32, DType::BF16, DType::F16, DType::F64})
    for (const std::vector<int64_t> &shape :
         std::vector<std::vector<int64_t>>{{7}, {5, 600}, {600, 5}, {3, 300, 17}, {2, 7, 1}})
      for (size_t dimension = 0; dimension < shape.size(); ++dimension) {
        Tensor x = randomTensor(type, shape, 12);
        int64_t rows = shape[dimension];
        auto sumsOf = [&](const Tensor &part) {
          KernelCall call = callOf("squared_norm", {{DType::F64, {part.type.shape[dimension]}}});
          call.setInteger("rows", static_cast<int64_t>(dimension));
          return runOnThreads(call, {part})[0].values();
        };
        std::vector<double> expected(static_cast<size_t>(rows)), values = x.values();
        int64_t inner = 1;
        for (size_t i = dimension + 1; i < shape.size(); ++i)
          inner *= shape[i];
        for (size_t i = 0; i < values.size(); ++i)
          expected[i / static_cast<size_t>(inner) % static_cast<size_t>(rows)] += values[i] * values[i];
        std::vector<double> all = sumsOf(x);
        for (size_t row = 0; row < expected.size(); ++row)
          EXPECT_NEAR(all[row], expected[row], 1e-13 * expected[row]);
        int64_t first = rows / 3, count = rows - first - rows / 4;
        std::vector<double> some = sumsOf(rowsOf(x, dimension, first, count));
        for (int64_t row = 0; row < count; ++row)
          EXPECT_EQ(some[static_cast<size_t>(row)], all[static_cast<size_t>(first + row)]);
      }
  KernelCall call = callOf("squared_norm", {{DType::F64, {3}}});
  call.setInteger("rows", 1);
  call.operands = {{DType::F32, {3}}};
  EXPECT_EQ(refusal(call), "kernel squared_norm: rows 1 is no dimension of tensor<3xf32>");
  call.operands = {{DType::F32, {3, 4}}};
  EXPECT_EQ(refusal(call), "kernel squared_norm: result 0 must be tensor<4xf64>, got tensor<3xf64>");
}

TEST(CpuSquaredNorm, SumsSquaresInDoublePrecision) {
  for (DType type : {DType::F32, DType::BF16, DType::F16, DType::F64})
    for (int64_t count : {0, 1, 17, 100001}) {
      Tensor x = randomTensor(type, {count}, 12);
      double expected = 0;
      for (double value : x.values())
        expected += value * value;
      expectNear(runOnThreads(callOf("squared_norm", {{DType::F64, {}}}), {x})[0], {expected}, 1e-13);
    }
  KernelCall call = callOf("squared_norm", {{DType::F32, {}}});
  call.operands = {{DType::F32, {4}}};
  EXPECT_EQ(refusal(call), "kernel squared_norm: result 0 must be tensor<f64>, got tensor<f32>");
}

TEST(CpuKernels, RefuseShapesThatAreNone) {
  KernelCall call = callOf("copy", {{DType::F32, {int64_t{1} << 40, int64_t{1} << 40}}});
  call.operands = {{DType::F32, {-1}}};
  EXPECT_EQ(refusal(call),
            "kernel copy: operand 0 has the shape of tensor<-1xf32>: sizes must not be negative, and "
            "at most 2^48 elements in all");
  call.operands = {{DType::F32, {1}}};
  EXPECT_EQ(refusal(call),
            "kernel copy: result 0 has the shape of tensor<1099511627776x1099511627776xf32>: sizes "
            "must not be negative, and at most 2^48 elements in all");
  call.name = "convolve";
  EXPECT_EQ(refusal(call), "the CPU has no kernel convolve");
  EXPECT_FALSE(cpu::hasKernel(call));
}

TEST(CpuKernels, TheInstructionSetIsChosenOnce) {
  std::vector<cpu::InstructionSet> sets = cpu::supportedInstructionSets();
  ASSERT_FALSE(sets.empty());
  int accepted = 0;
  for (cpu::InstructionSet set : {cpu::InstructionSet::AVX2, cpu::InstructionSet::AVX512,
                                  cpu::InstructionSet::AVX512_BF16, cpu::InstructionSet::AMX_BF16}) {
    absl::Status status = cpu::useInstructionSet(set);
    accepted += status.ok();
    if (!status.ok())
      EXPECT_TRUE(std::string(status.message()).find("needs a process of its own") != std::string::npos)
          << status;
  }
  EXPECT_EQ(accepted, 1);
}

} // namespace
} // namespace weft::testing
