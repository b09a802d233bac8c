//===- Indexed.cpp - gather, scatter_add, top_k, random_uniform -----------===//
//
// Kernels steered by integer operands. An index out of range is no error: it reads zeros, or is dropped.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/Philox.h"
#include "kernels/cpu/Accumulate.h"
#include "kernels/cpu/ElementwiseLoops.h"
#include "kernels/cpu/Signature.h"

#include <bit>
#include <cstring>

namespace weft::cpu {
namespace {

constexpr int64_t kPart = 256; ///< elements in registers at a time

int64_t readIndex(const void *indices, bool isWide, int64_t position) {
  return isWide ? static_cast<const int64_t *>(indices)[position]
                : static_cast<const int32_t *>(indices)[position];
}

absl::Status expectIndices(const KernelCall &call, const char *what, const TensorType &type) {
  if (type.dtype == DType::I32 || type.dtype == DType::I64)
    return absl::OkStatus();
  return invalidCall(call, what, " must hold i32 or i64 indices, got ", type.str());
}

/// indices.shape followed by the shape of one row.
std::vector<int64_t> rowsShape(const TensorType &indices, const TensorType &table) {
  std::vector<int64_t> shape = indices.shape;
  shape.insert(shape.end(), table.shape.begin() + 1, table.shape.end());
  return shape;
}

} // namespace

KernelOrError createGather(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 2, 1));
  const TensorType &table = call.operands[0], &indices = call.operands[1];
  if (table.shape.empty())
    return invalidCall(call, "operand 0 must have rows, got ", table.str());
  WEFT_CHECK_CALL(expectIndices(call, "operand 1", indices));
  WEFT_CHECK_CALL(expectType(call, "result 0", call.results[0], {table.dtype, rowsShape(indices, table)}));
  int64_t rows = table.shape[0], count = indices.elements();
  int64_t rowBytes = sizeOfDimensions(table.shape, 1, table.shape.size()) * byteSize(table.dtype);
  bool isWide = indices.dtype == DType::I64;
  int64_t piece = std::max<int64_t>(64 * 1024 / std::max<int64_t>(rowBytes, 8), 1);
  return makeKernel([=](const KernelArguments &arguments, ThreadPool &threads) {
    forEachPiece(threads, count, piece, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t index = readIndex(arguments.operands[1], isWide, i);
        std::byte *out = at(arguments.results[0], i * rowBytes);
        if (index >= 0 && index < rows)
          std::memcpy(out, at(arguments.operands[0], index * rowBytes), static_cast<size_t>(rowBytes));
        else
          std::memset(out, 0, static_cast<size_t>(rowBytes));
      }
    });
  });
}

KernelOrError createScatterAdd(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 2, 1));
  const TensorType &indices = call.operands[0], &updates = call.operands[1], &y = call.results[0];
  WEFT_CHECK_CALL(expectIndices(call, "operand 0", indices));
  if (y.shape.empty())
    return invalidCall(call, "result 0 must have rows, got ", y.str());
  if (y.dtype == DType::I1 || isFloat(updates.dtype) != isFloat(y.dtype) ||
      (!isFloat(y.dtype) && y.dtype != updates.dtype))
    return invalidCall(call, "does not add ", updates.str(), " into ", y.str());
  WEFT_CHECK_CALL(expectType(call, "operand 1", updates, {updates.dtype, rowsShape(indices, y)}));
  // Rows are summed in registers of this type: in the result itself, or in the workspace.
  DType sums = isFloat(y.dtype) && y.dtype != DType::F64 ? DType::F32 : y.dtype;
  struct {
    int64_t rows, rowSize, count, sumBytes, updateBytes, resultBytes;
    bool isWideIndex, sumsInResult;
    LoadLoop load;
    ElementwiseLoop widen, narrow;
    AccumulateLoop add;
    StoreLoop store;
  } s;
  s.rows = y.shape[0], s.rowSize = sizeOfDimensions(y.shape, 1, y.shape.size()), s.count = indices.elements();
  s.sumBytes = registerByteSize(sums), s.updateBytes = byteSize(updates.dtype),
  s.resultBytes = byteSize(y.dtype);
  s.isWideIndex = indices.dtype == DType::I64, s.sumsInResult = y.dtype == sums;
  s.load = findLoadLoop(updates.dtype);
  s.widen = findInstructionLoop(ElementwiseOp::Cast, sums, updates.dtype);
  s.narrow = findInstructionLoop(ElementwiseOp::Cast, y.dtype, sums);
  s.add = findAccumulateLoop(Combination::Sum, sums);
  s.store = findStoreLoop(y.dtype);
  // Each tile owns a range of rows and reads all indices: rows are few enough, and nobody waits for anybody.
  int64_t piece = std::max<int64_t>((s.rows + 15) / 16, 1);
  auto body = [s, piece](const KernelArguments &arguments, ThreadPool &threads) {
    void *base = s.sumsInResult ? arguments.results[0] : arguments.workspace;
    forEachPiece(threads, s.rows, piece, [&](int64_t first, int64_t last) {
      alignas(64) std::byte loaded[kPart * 8], wide[kPart * 8];
      std::memset(at(base, first * s.rowSize * s.sumBytes), 0,
                  static_cast<size_t>((last - first) * s.rowSize * s.sumBytes));
      for (int64_t i = 0; i < s.count; ++i) {
        int64_t index = readIndex(arguments.operands[0], s.isWideIndex, i);
        if (index < first || index >= last)
          continue;
        for (int64_t column = 0; column < s.rowSize; column += kPart) {
          int64_t part = std::min(kPart, s.rowSize - column);
          s.load(loaded, at(arguments.operands[1], (i * s.rowSize + column) * s.updateBytes), 1, part);
          s.widen(wide, loaded, nullptr, nullptr, part);
          s.add(at(base, (index * s.rowSize + column) * s.sumBytes), wide, part);
        }
      }
      if (s.sumsInResult)
        return;
      for (int64_t i = first * s.rowSize; i < last * s.rowSize; i += kPart) {
        int64_t part = std::min(kPart, last * s.rowSize - i);
        s.narrow(wide, at(base, i * s.sumBytes), nullptr, nullptr, part);
        s.store(at(arguments.results[0], i * s.resultBytes), wide, part);
      }
    });
  };
  return makeKernel(body, s.sumsInResult ? 0 : y.elements() * s.sumBytes);
}

namespace {

/// Ranks the elements of a row: larger first, then lower index; NaN after every number.
template <typename Stored, typename Value, Value (*read)(Stored)> struct RowRanking {
  const Stored *row;
  bool operator()(int32_t a, int32_t b) const {
    Value x = read(row[a]), y = read(row[b]);
    bool xIsNumber = x == x, yIsNumber = y == y;
    if (xIsNumber != yIsNumber)
      return xIsNumber;
    if (xIsNumber && x != y)
      return x > y;
    return a < b;
  }
};

/// Keeps the best k indices of a row in a heap whose top is the worst of them, in the result's own memory.
template <typename Stored, typename Value, Value (*read)(Stored)>
void topOfRow(const void *x, int64_t n, int64_t k, void *values, int32_t *indices) {
  auto *row = static_cast<const Stored *>(x);
  RowRanking<Stored, Value, read> isBetter{row};
  for (int32_t i = 0; i < n; ++i) {
    if (i < k) {
      indices[i] = i;
      std::push_heap(indices, indices + i + 1, isBetter);
    } else if (k > 0 && isBetter(i, indices[0])) {
      std::pop_heap(indices, indices + k, isBetter);
      indices[k - 1] = i;
      std::push_heap(indices, indices + k, isBetter);
    }
  }
  std::sort_heap(indices, indices + k, isBetter);
  for (int64_t i = 0; i < k; ++i)
    static_cast<Stored *>(values)[i] = row[indices[i]];
}

template <typename T> T itself(T x) { return x; }
float readBf16(uint16_t x) { return std::bit_cast<float>(uint32_t{x} << 16); }
/// f16 orders like its bits once the sign is folded in; NaN becomes one.
float readF16(uint16_t x) {
  uint32_t magnitude = x & 0x7FFFu;
  float value = magnitude > 0x7C00u ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(magnitude);
  return (x & 0x8000u) != 0 ? -value : value;
}

using TopOfRow = void (*)(const void *, int64_t, int64_t, void *, int32_t *);
TopOfRow findTopOfRow(DType type) {
  switch (type) {
  case DType::I1:
    return topOfRow<uint8_t, uint8_t, itself<uint8_t>>;
  case DType::I32:
    return topOfRow<int32_t, int32_t, itself<int32_t>>;
  case DType::I64:
    return topOfRow<int64_t, int64_t, itself<int64_t>>;
  case DType::BF16:
    return topOfRow<uint16_t, float, readBf16>;
  case DType::F16:
    return topOfRow<uint16_t, float, readF16>;
  case DType::F32:
    return topOfRow<float, float, itself<float>>;
  case DType::F64:
    return topOfRow<double, double, itself<double>>;
  }
  return nullptr;
}

} // namespace

KernelOrError createTopK(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 1, 2));
  const TensorType &x = call.operands[0];
  auto k = call.integer("k");
  if (!k.ok())
    return k.status();
  if (x.shape.empty() || *k < 0 || *k > x.shape.back() ||
      x.shape.back() > std::numeric_limits<int32_t>::max())
    return invalidCall(call, "cannot take the largest ", *k, " of the rows of ", x.str());
  TensorType expected = x;
  expected.shape.back() = *k;
  WEFT_CHECK_CALL(expectType(call, "result 0", call.results[0], expected));
  expected.dtype = DType::I32;
  WEFT_CHECK_CALL(expectType(call, "result 1", call.results[1], expected));
  int64_t n = x.shape.back(), rows = sizeOfDimensions(x.shape, 0, x.shape.size() - 1),
          bytes = byteSize(x.dtype);
  int64_t piece = std::max<int64_t>(4096 / std::max<int64_t>(n, 1), 1);
  TopOfRow top = findTopOfRow(x.dtype);
  return makeKernel([=, k = *k](const KernelArguments &arguments, ThreadPool &threads) {
    forEachPiece(threads, rows, piece, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        top(at(arguments.operands[0], row * n * bytes), n, k, at(arguments.results[0], row * k * bytes),
            static_cast<int32_t *>(arguments.results[1]) + row * k);
    });
  });
}

KernelOrError createRandomUniform(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 2, 1));
  const TensorType &samples = call.operands[1], &x = call.results[0];
  WEFT_CHECK_CALL(expectType(call, "operand 0", call.operands[0], {DType::I64, {}}));
  if (samples.dtype != DType::I64 || samples.shape.size() != 1)
    return invalidCall(call, "operand 1 must hold one i64 sample id for each sample, got ", samples.str());
  if (x.dtype != DType::F32 || x.shape.empty() || x.shape[0] != samples.shape[0])
    return invalidCall(call, "result 0 must be f32 with ", samples.shape[0], " samples, got ", x.str());
  auto seed = call.integer("seed"), opId = call.integer("op_id");
  if (!seed.ok())
    return seed.status();
  if (!opId.ok())
    return opId.status();
  // A unit is 256 blocks of four numbers of one sample.
  constexpr int64_t kUnit = 1024;
  int64_t count = x.shape[0], perSample = sizeOfDimensions(x.shape, 1, x.shape.size()),
          unitsOfSample = (perSample + kUnit - 1) / kUnit;
  return makeKernel([=, seed = *seed, opId = *opId](const KernelArguments &arguments, ThreadPool &threads) {
    uint64_t step = *static_cast<const uint64_t *>(arguments.operands[0]);
    uint64_t key = philoxKey(static_cast<uint64_t>(seed), step, static_cast<uint64_t>(opId));
    auto *ids = static_cast<const uint64_t *>(arguments.operands[1]);
    auto *out = static_cast<float *>(arguments.results[0]);
    forEachPiece(threads, count * unitsOfSample, 4, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        int64_t sample = unit / unitsOfSample, first = unit % unitsOfSample * kUnit;
        int64_t last = std::min(perSample, first + kUnit);
        for (int64_t i = first; i < last; i += 4) {
          PhiloxCounter words = philoxBlock(key, ids[sample], static_cast<uint64_t>(i / 4));
          for (int64_t lane = 0; lane < std::min<int64_t>(4, last - i); ++lane)
            out[sample * perSample + i + lane] = uniformFromBits(words[static_cast<size_t>(lane)]);
        }
      }
    });
  });
}

} // namespace weft::cpu
