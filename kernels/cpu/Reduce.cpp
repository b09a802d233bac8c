//===- Reduce.cpp - reduce, cumulative_sum, squared_norm ------------------===//
//
// Reductions walk each result's values in ascending order; whatever is split over threads is split by
// results, or (the squared norm) into pieces of a fixed size whose sums are added in order.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/Accumulate.h"
#include "kernels/cpu/ElementwiseLoops.h"
#include "kernels/cpu/Signature.h"
#include "kernels/cpu/Strides.h"

#include <cstring>
#include <limits>
#include <optional>

namespace weft::cpu {
namespace {

constexpr int64_t kPart = 256; ///< elements in registers at a time

/// The type in which values of `type` are accumulated into results of `result`, if they can be.
std::optional<DType> accumulatorsOf(DType type, DType result) {
  const bool areFloats = isFloat(type) && isFloat(result);
  const bool areIntegers = type == result && (type == DType::I32 || type == DType::I64);
  return areFloats || areIntegers ? std::optional(accumulationType(type, result)) : std::nullopt;
}

/// Brings stored elements into registers of the accumulation type.
class Reader {
public:
  Reader() = default;
  Reader(DType stored, DType accumulated)
      : bytes(byteSize(stored)), load(findLoadLoop(stored)),
        cast(findInstructionLoop(ElementwiseOp::Cast, accumulated, stored)) {
    direct = isStoredAsRegister(stored) && stored == accumulated;
    needsCast = registerByteSize(stored) != registerByteSize(accumulated);
  }
  /// Elements [offset, offset + count), count <= kPart; the result is the memory itself or `buffer`.
  const void *read(const void *base, int64_t offset, int64_t count, void *buffer) const {
    const void *from = at(base, offset * bytes);
    if (direct)
      return from;
    if (!needsCast) {
      load(buffer, from, 1, count);
      return buffer;
    }
    alignas(64) std::byte stored[kPart * 8];
    load(stored, from, 1, count);
    cast(buffer, stored, nullptr, nullptr, count);
    return buffer;
  }

private:
  int64_t bytes = 1;
  LoadLoop load = nullptr;
  ElementwiseLoop cast = nullptr;
  bool direct = false, needsCast = false;
};

/// Rounds accumulators to the stored type and stores them contiguously.
class Writer {
public:
  Writer() = default;
  Writer(DType accumulated, DType stored)
      : bytes(byteSize(stored)), cast(findInstructionLoop(ElementwiseOp::Cast, stored, accumulated)),
        store(findStoreLoop(stored)) {}
  void write(void *base, int64_t offset, const void *accumulators, int64_t count) const {
    alignas(64) std::byte rounded[kPart * 8];
    cast(rounded, accumulators, nullptr, nullptr, count);
    store(at(base, offset * bytes), rounded, count);
  }

private:
  int64_t bytes = 1;
  ElementwiseLoop cast = nullptr;
  StoreLoop store = nullptr;
};

struct Reduction {
  Reader reader;
  Writer writer;
  AccumulateLoop accumulate = nullptr;
  FoldLoop fold = nullptr;
  int64_t registerBytes = 4;
  alignas(8) std::byte neutral[8] = {};      ///< an accumulator before the first value
  std::vector<StridedDimension> kept;        ///< outermost first, without the inner one when that is kept
  std::vector<StridedDimension> reduced;     ///< outermost first, without the inner one when that is reduced
  int64_t inner = 1, results = 1, terms = 1; ///< terms: product of `reduced`
  bool innerIsReduced = false;

  void fill(std::byte *accumulators, int64_t count) const {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(accumulators + i * registerBytes, neutral, static_cast<size_t>(registerBytes));
  }
};

int64_t offsetOf(const std::vector<StridedDimension> &dimensions, int64_t index) {
  int64_t offset = 0;
  for (size_t i = dimensions.size(); i-- > 0; index /= dimensions[i].size)
    offset += index % dimensions[i].size * dimensions[i].stride;
  return offset;
}

/// One result whose values end in contiguous runs.
void reduceRuns(const Reduction &r, const void *x, void *y, int64_t result) {
  alignas(64) std::byte lanes[kFoldLanes * 8], buffer[kPart * 8];
  int64_t width = std::clamp<int64_t>(r.inner, 1, kFoldLanes), base = offsetOf(r.kept, result);
  r.fill(lanes, width);
  for (int64_t term = 0; term < r.terms; ++term) {
    int64_t run = base + offsetOf(r.reduced, term);
    for (int64_t begin = 0; begin < r.inner; begin += kPart) {
      int64_t part = std::min(kPart, r.inner - begin);
      const void *values = r.reader.read(x, run + begin, part, buffer);
      for (int64_t i = 0; i < part; i += width)
        r.accumulate(lanes, at(values, i * r.registerBytes), std::min(width, part - i));
    }
  }
  r.fold(lanes, width);
  r.writer.write(y, result, lanes, 1);
}

/// Neighboring results [begin, begin + count) of one outer index: rows of values are added up.
void reduceRows(const Reduction &r, const void *x, void *y, int64_t outer, int64_t begin, int64_t count) {
  alignas(64) std::byte sums[kPart * 8], buffer[kPart * 8];
  int64_t base = offsetOf(r.kept, outer) + begin;
  r.fill(sums, count);
  for (int64_t term = 0; term < r.terms; ++term)
    r.accumulate(sums, r.reader.read(x, base + offsetOf(r.reduced, term), count, buffer), count);
  r.writer.write(y, outer * r.inner + begin, sums, count);
}

void runReduction(const Reduction &r, const KernelArguments &arguments, ThreadPool &threads) {
  const void *x = arguments.operands[0];
  void *y = arguments.results[0];
  int64_t cost = std::max<int64_t>(r.terms * (r.innerIsReduced ? r.inner : std::min(r.inner, kPart)), 1);
  int64_t piece = std::max<int64_t>(16 * 1024 / cost, 1);
  if (r.innerIsReduced) {
    forEachPiece(threads, r.results, piece, [&](int64_t begin, int64_t end) {
      for (int64_t result = begin; result < end; ++result)
        reduceRuns(r, x, y, result);
    });
    return;
  }
  int64_t parts = (r.inner + kPart - 1) / kPart;
  forEachPiece(threads, r.results * parts, piece, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t first = unit % parts * kPart;
      reduceRows(r, x, y, unit / parts, first, std::min(kPart, r.inner - first));
    }
  });
}

/// The value that changes no other: 0, -infinity or the lowest integer, infinity or the highest.
void setNeutral(Reduction &r, Combination combination, DType type) {
  double value = combination == Combination::Sum       ? 0
                 : combination == Combination::Maximum ? -std::numeric_limits<double>::infinity()
                                                       : std::numeric_limits<double>::infinity();
  findInstructionLoop(ElementwiseOp::Cast, type, DType::F64)(r.neutral, &value, nullptr, nullptr, 1);
}

/// Splits the merged walk over x into what is kept and what is reduced.
void splitDimensions(Reduction &r, const std::vector<int64_t> &shape, const std::vector<bool> &isReduced) {
  std::vector<int64_t> strides = denseStrides(shape);
  struct Piece {
    StridedDimension dimension;
    bool reduced;
  };
  std::vector<Piece> pieces;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    if (!pieces.empty() && pieces.back().reduced == isReduced[i])
      pieces.back().dimension = {pieces.back().dimension.size * shape[i], strides[i]};
    else
      pieces.push_back({{shape[i], strides[i]}, isReduced[i]});
  }
  if (pieces.empty())
    pieces.push_back({{1, 1}, false});
  r.innerIsReduced = pieces.back().reduced;
  r.inner = pieces.back().dimension.size;
  pieces.pop_back();
  for (const Piece &piece : pieces) {
    (piece.reduced ? r.reduced : r.kept).push_back(piece.dimension);
    (piece.reduced ? r.terms : r.results) *= piece.dimension.size;
  }
}

} // namespace

KernelOrError createReduce(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 1, 1));
  const TensorType &x = call.operands[0], &y = call.results[0];
  auto kind = call.text("kind");
  if (!kind.ok())
    return kind.status();
  if (*kind != "sum" && *kind != "max" && *kind != "min")
    return invalidCall(call, "kind \"", *kind, "\" is none of sum, max, min");
  auto dimensions = call.integers("dimensions");
  if (!dimensions.ok())
    return dimensions.status();
  std::vector<bool> isReduced(x.shape.size(), false);
  for (int64_t dimension : *dimensions) {
    if (dimension < 0 || dimension >= static_cast<int64_t>(x.shape.size()))
      return invalidCall(call, "dimension ", dimension, " is none of ", x.str());
    if (isReduced[static_cast<size_t>(dimension)])
      return invalidCall(call, "dimension ", dimension, " is named twice");
    isReduced[static_cast<size_t>(dimension)] = true;
  }
  TensorType expected{y.dtype, {}};
  for (size_t i = 0; i < x.shape.size(); ++i)
    if (!isReduced[i])
      expected.shape.push_back(x.shape[i]);
  WEFT_CHECK_CALL(expectType(call, "result 0", y, expected));
  std::optional<DType> accumulated = accumulatorsOf(x.dtype, y.dtype);
  if (!accumulated)
    return invalidCall(call, "does not reduce ", x.str(), " to ", y.str());

  Reduction reduction;
  Combination combination = *kind == "sum"   ? Combination::Sum
                            : *kind == "max" ? Combination::Maximum
                                             : Combination::Minimum;
  reduction.reader = Reader(x.dtype, *accumulated);
  reduction.writer = Writer(*accumulated, y.dtype);
  reduction.accumulate = findAccumulateLoop(combination, *accumulated);
  reduction.fold = findFoldLoop(combination, *accumulated);
  reduction.registerBytes = registerByteSize(*accumulated);
  setNeutral(reduction, combination, *accumulated);
  splitDimensions(reduction, x.shape, isReduced);
  return makeKernel([reduction](const KernelArguments &arguments, ThreadPool &threads) {
    runReduction(reduction, arguments, threads);
  });
}

KernelOrError createCumulativeSum(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 1, 1));
  const TensorType &x = call.operands[0];
  WEFT_CHECK_CALL(expectType(call, "result 0", call.results[0], x));
  auto dimension = readDimension(call, x);
  if (!dimension.ok())
    return dimension.status();
  std::optional<DType> accumulated = accumulatorsOf(x.dtype, x.dtype);
  if (!accumulated)
    return invalidCall(call, "does not sum ", x.str());
  int64_t outer = sizeOfDimensions(x.shape, 0, *dimension), steps = x.shape[*dimension];
  int64_t inner = sizeOfDimensions(x.shape, *dimension + 1, x.shape.size());
  Reader reader(x.dtype, *accumulated);
  Writer writer(*accumulated, x.dtype);
  AccumulateLoop add = findAccumulateLoop(Combination::Sum, *accumulated);
  int64_t parts = (inner + kPart - 1) / kPart;
  int64_t piece = std::max<int64_t>(16 * 1024 / std::max<int64_t>(steps * std::min(inner, kPart), 1), 1);
  auto body = [=](const KernelArguments &arguments, ThreadPool &threads) {
    forEachPiece(threads, outer * parts, piece, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        alignas(64) std::byte sums[kPart * 8] = {}, buffer[kPart * 8];
        int64_t first = unit % parts * kPart, count = std::min(kPart, inner - first);
        int64_t offset = unit / parts * steps * inner + first;
        for (int64_t step = 0; step < steps; ++step, offset += inner) {
          add(sums, reader.read(arguments.operands[0], offset, count, buffer), count);
          writer.write(arguments.results[0], offset, sums, count);
        }
      }
    });
  };
  return makeKernel(body, 0, true);
}

namespace {
/// What a sum of squares for each index of one dimension walks: [outer][rows][inner]. A row's additions are a
/// function of outer and inner alone, not of how many rows there are.
struct SquaredRows {
  DType type = DType::F32;
  int64_t outer = 1, rows = 1, inner = 1;
  Reader reader;
  ElementwiseLoop multiply = nullptr;
  AccumulateLoop add = nullptr;

  /// Rows of contiguous runs, run after run.
  void sumRuns(const void *x, double *sums, int64_t begin, int64_t end) const {
    for (int64_t row = begin; row < end; ++row) {
      sums[row] = 0;
      for (int64_t run = 0; run < outer; ++run)
        sums[row] += sumOfSquares(type, at(x, (run * rows + row) * inner * byteSize(type)), inner);
    }
  }
  /// Neighboring rows of single elements, at most kPart: an element of each at a time.
  void sumElements(const void *x, double *sums, int64_t begin, int64_t count) const {
    alignas(64) std::byte buffer[kPart * 8], squares[kPart * 8];
    std::fill(sums + begin, sums + begin + count, 0.0);
    for (int64_t run = 0; run < outer; ++run) {
      const void *values = reader.read(x, run * rows + begin, count, buffer);
      multiply(squares, values, values, nullptr, count);
      add(sums + begin, squares, count);
    }
  }
};

KernelOrError createSquaredRows(const KernelCall &call, int64_t dimension) {
  const TensorType &x = call.operands[0];
  if (dimension < 0 || dimension >= static_cast<int64_t>(x.shape.size()))
    return invalidCall(call, "rows ", dimension, " is no dimension of ", x.str());
  size_t at = static_cast<size_t>(dimension);
  WEFT_CHECK_CALL(expectType(call, "result 0", call.results[0], {DType::F64, {x.shape[at]}}));
  SquaredRows walk{x.dtype, sizeOfDimensions(x.shape, 0, at), x.shape[at],
                   sizeOfDimensions(x.shape, at + 1, x.shape.size())};
  walk.reader = Reader(x.dtype, DType::F64);
  walk.multiply = findInstructionLoop(ElementwiseOp::Multiply, DType::F64, DType::F64);
  walk.add = findAccumulateLoop(Combination::Sum, DType::F64);
  int64_t piece = walk.inner == 1
                      ? kPart
                      : std::max<int64_t>(16 * 1024 / std::max<int64_t>(walk.outer * walk.inner, 1), 1);
  return makeKernel([walk, piece](const KernelArguments &arguments, ThreadPool &threads) {
    forEachPiece(threads, walk.rows, piece, [&](int64_t begin, int64_t end) {
      auto *sums = static_cast<double *>(arguments.results[0]);
      if (walk.inner == 1)
        walk.sumElements(arguments.operands[0], sums, begin, end - begin);
      else
        walk.sumRuns(arguments.operands[0], sums, begin, end);
    });
  });
}
} // namespace

KernelOrError createSquaredNorm(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 1, 1));
  const TensorType &x = call.operands[0];
  WEFT_CHECK_CALL(expectFloat(call, "operand 0", x));
  if (call.has("rows")) {
    auto rows = call.integer("rows");
    return rows.ok() ? createSquaredRows(call, *rows) : KernelOrError(rows.status());
  }
  WEFT_CHECK_CALL(expectType(call, "result 0", call.results[0], {DType::F64, {}}));
  constexpr int64_t kPiece = 32 * 1024;
  int64_t count = x.elements(), pieces = (count + kPiece - 1) / kPiece;
  DType type = x.dtype;
  auto body = [=](const KernelArguments &arguments, ThreadPool &threads) {
    auto *sums = static_cast<double *>(arguments.workspace);
    forEachPiece(threads, count, kPiece, [&](int64_t begin, int64_t end) {
      sums[begin / kPiece] =
          sumOfSquares(type, at(arguments.operands[0], begin * byteSize(type)), end - begin);
    });
    double total = 0;
    for (int64_t piece = 0; piece < pieces; ++piece)
      total += sums[piece];
    *static_cast<double *>(arguments.results[0]) = total;
  };
  return makeKernel(body, pieces * static_cast<int64_t>(sizeof(double)));
}

} // namespace weft::cpu
