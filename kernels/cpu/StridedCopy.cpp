//===- StridedCopy.cpp - Moving elements between strided views ------------===//
//
// Dimensions that both views walk alike are merged; the one with the smallest result stride is the inner one.
// A unit of work is a piece of an inner run, or, where source and result are contiguous along different
// dimensions, a block of both.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/StridedCopy.h"

#include "kernels/common/ThreadPool.h"

#include <algorithm>
#include <cstring>

namespace weft::cpu {
namespace {

constexpr int64_t kRunElements = 16 * 1024; ///< longest piece of an inner run
constexpr int64_t kBlock = 16; ///< rows of an exchanged block, and columns at a time: a cache line each way
constexpr int64_t kTileElements = 16 * 1024;
constexpr int64_t kConvertElements = 256; ///< converted at a time, on the stack

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <typename T>
void copyStrided(const char *source, char *result, int64_t count, int64_t sourceStride,
                 int64_t resultStride) {
  auto *in = reinterpret_cast<const T *>(source);
  auto *out = reinterpret_cast<T *>(result);
  if (sourceStride == 0 && resultStride == 1)
    std::fill_n(out, count, *in);
  else
    for (int64_t i = 0; i < count; ++i)
      out[i * resultStride] = in[i * sourceStride];
}

/// Source rows lie along the columns of the result.
template <typename T>
void exchange(const char *source, char *result, int64_t rows, int64_t columns, int64_t sourceColumn,
              int64_t resultRow, int64_t sourceRow, int64_t resultColumn) {
  auto *in = reinterpret_cast<const T *>(source);
  auto *out = reinterpret_cast<T *>(result);
  for (int64_t begin = 0; begin < columns; begin += kBlock) {
    int64_t end = std::min(columns, begin + kBlock);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = begin; column < end; ++column)
        out[row * resultRow + column * resultColumn] = in[row * sourceRow + column * sourceColumn];
  }
}

} // namespace

StridedCopy::StridedCopy(const std::vector<int64_t> &shape, DType sourceType,
                         const std::vector<int64_t> &sourceStrides, DType resultType,
                         const std::vector<int64_t> &resultStrides) {
  sourceBytes = byteSize(sourceType);
  resultBytes = byteSize(resultType);
  if (sourceType != resultType) {
    converts = true;
    load = findLoadLoop(sourceType);
    cast = findInstructionLoop(ElementwiseOp::Cast, resultType, sourceType);
    store = findStoreLoop(resultType);
  }
  std::vector<Dimension> all;
  int64_t elements = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    elements *= shape[i];
    if (shape[i] != 1)
      all.push_back({shape[i], sourceStrides[i], resultStrides[i]});
  }
  if (elements == 0)
    return;
  std::sort(all.begin(), all.end(), [](const Dimension &a, const Dimension &b) {
    return std::make_pair(a.result, a.source) > std::make_pair(b.result, b.source);
  });
  for (const Dimension &next : all) {
    if (!outer.empty() && outer.back().source == next.size * next.source &&
        outer.back().result == next.size * next.result)
      outer.back() = {outer.back().size * next.size, next.source, next.result};
    else
      outer.push_back(next);
  }
  inner = {1, 1, 1};
  if (!outer.empty()) {
    inner = outer.back();
    outer.pop_back();
  }
  if (!converts && inner.source > 1)
    for (size_t i = 0; i < outer.size(); ++i)
      if (outer[i].source == 1) {
        exchanges = true;
        rowDimension = outer[i];
        outer.erase(outer.begin() + static_cast<int64_t>(i));
        break;
      }
  rowChunks = ceilDivide(rowDimension.size, kBlock);
  innerChunks = ceilDivide(inner.size, kRunElements);
  units = rowChunks * innerChunks;
  for (const Dimension &dimension : outer)
    units *= dimension.size;
  int64_t unitElements = std::max<int64_t>(elements / units, 1);
  unitsPerTile = std::max<int64_t>(kTileElements / unitElements, 1);
  tiles = ceilDivide(units, unitsPerTile);
}

void StridedCopy::convertRun(const char *source, char *result, int64_t count) const {
  alignas(64) char loaded[kConvertElements * 8], converted[kConvertElements * 8];
  for (int64_t begin = 0; begin < count; begin += kConvertElements) {
    int64_t part = std::min(kConvertElements, count - begin);
    load(loaded, source + begin * inner.source * sourceBytes, inner.source, part);
    cast(converted, loaded, nullptr, nullptr, part);
    char *out = result + begin * inner.result * resultBytes;
    if (inner.result == 1) {
      store(out, converted, part);
      continue;
    }
    store(loaded, converted, part);
    for (int64_t i = 0; i < part; ++i)
      std::memcpy(out + i * inner.result * resultBytes, loaded + i * resultBytes,
                  static_cast<size_t>(resultBytes));
  }
}

void StridedCopy::copyRun(const char *source, char *result, int64_t count) const {
  if (inner.source == 1 && inner.result == 1) {
    std::memcpy(result, source, static_cast<size_t>(count * sourceBytes));
    return;
  }
  switch (sourceBytes) {
  case 1:
    return copyStrided<uint8_t>(source, result, count, inner.source, inner.result);
  case 2:
    return copyStrided<uint16_t>(source, result, count, inner.source, inner.result);
  case 4:
    return copyStrided<uint32_t>(source, result, count, inner.source, inner.result);
  default:
    return copyStrided<uint64_t>(source, result, count, inner.source, inner.result);
  }
}

void StridedCopy::exchangeBlock(const char *source, char *result, int64_t rows, int64_t columns) const {
  auto call = [&](auto function) {
    function(source, result, rows, columns, inner.source, rowDimension.result, rowDimension.source,
             inner.result);
  };
  switch (sourceBytes) {
  case 1:
    return call(exchange<uint8_t>);
  case 2:
    return call(exchange<uint16_t>);
  case 4:
    return call(exchange<uint32_t>);
  default:
    return call(exchange<uint64_t>);
  }
}

void StridedCopy::runUnit(int64_t unit, const char *source, char *result) const {
  int64_t begin = unit % innerChunks * kRunElements;
  unit /= innerChunks;
  int64_t row = unit % rowChunks * kBlock;
  unit /= rowChunks;
  int64_t from = begin * inner.source + row * rowDimension.source;
  int64_t to = begin * inner.result + row * rowDimension.result;
  for (size_t i = outer.size(); i-- > 0; unit /= outer[i].size) {
    from += unit % outer[i].size * outer[i].source;
    to += unit % outer[i].size * outer[i].result;
  }
  source += from * sourceBytes;
  result += to * resultBytes;
  int64_t count = std::min(inner.size - begin, kRunElements);
  if (converts)
    convertRun(source, result, count);
  else if (exchanges)
    exchangeBlock(source, result, std::min(rowDimension.size - row, kBlock), count);
  else
    copyRun(source, result, count);
}

void StridedCopy::runTile(int64_t tile, const void *source, void *result) const {
  int64_t end = std::min(units, (tile + 1) * unitsPerTile);
  for (int64_t unit = tile * unitsPerTile; unit < end; ++unit)
    runUnit(unit, static_cast<const char *>(source), static_cast<char *>(result));
}

void StridedCopy::run(const void *source, void *result, ThreadPool &threads) const {
  threads.forEachTile(tiles, [&](int64_t tile, int) { runTile(tile, source, result); });
}

} // namespace weft::cpu
