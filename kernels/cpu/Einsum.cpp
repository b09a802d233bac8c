//===- Einsum.cpp - Contractions by tiles of matrix products --------------===//
//
// A plan (EinsumPlan.h) makes a contraction a loop of matrix products. Each product is cut into a fixed grid
// of tiles over rows and columns, never over the sum: a tile is one single-threaded product, and the threads
// take tiles. So an element's bits depend on the call and the instruction set alone. A tile of a result that
// is narrower than float32 is summed on the stack and rounded from there, while it is in the cache. float64
// products are a loop of our own; those of bfloat16 on a processor with tile registers are EinsumTiles.h
// where that pays.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/AttentionBlocks.h"
#include "kernels/cpu/EinsumPlan.h"
#include "kernels/cpu/EinsumTiles.h"
#include "kernels/cpu/MatrixProduct.h"
#include "kernels/cpu/Registry.h"
#include "kernels/cpu/StridedCopy.h"
#include "kernels/cpu/Strides.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>

namespace weft::cpu {
namespace {

/// One dimension cut into equal pieces, but for the last.
struct Cut {
  int64_t piece = 1, count = 1;
};

/// Pieces of at most `most` and of similar size, multiples of `unit` (the library's inner kernel).
Cut cut(int64_t size, int64_t most, int64_t unit) {
  Cut result;
  int64_t pieces = (size + most - 1) / most;
  if (pieces > 1) // an even number keeps two, or any even number of threads, equally busy
    pieces += pieces % 2;
  pieces = std::max<int64_t>(pieces, 1);
  result.piece = std::max<int64_t>((size + pieces - 1) / pieces, 1);
  result.piece = (result.piece + unit - 1) / unit * unit;
  result.count = std::max<int64_t>((size + result.piece - 1) / result.piece, 1);
  return result;
}

constexpr int64_t kMostRows = 128, kMostColumns = 384; ///< of a tile

class EinsumKernel final : public Kernel {
public:
  EinsumKernel(EinsumPlan planOfCall, const KernelCall &call);
  void run(const KernelArguments &arguments, ThreadPool &threads) const override;
  int64_t workspaceBytes() const override { return workspace; }

private:
  struct Matrices {
    const std::byte *left, *right;
    std::byte *result;
  };
  void runGrid(const Matrices &matrices, ThreadPool &threads) const;
  void runTile(const Matrices &matrices, int64_t tile) const;
  template <typename T> void multiplyTile(const Matrices &matrices, int64_t tile) const;
  int64_t reserve(int64_t elements, DType type) {
    int64_t offset = workspace;
    workspace += (elements * byteSize(type) + 63) / 64 * 64;
    return offset;
  }

  EinsumPlan plan;
  DType resultType;
  std::optional<EinsumTiles> tiles;
  int64_t tilesOffset = 0;
  Cut rows, columns;
  StridedCopy packLeft, packRight, unpackResult;
  int64_t leftOffset = 0, rightOffset = 0, resultOffset = 0, workspace = 0;
};

EinsumKernel::EinsumKernel(EinsumPlan planOfCall, const KernelCall &call)
    : plan(std::move(planOfCall)), resultType(plan.packsResult ? plan.compute : call.results[0].dtype) {
  // Small products are one tile each: there are enough of them, or none of them is worth a second thread.
  constexpr int64_t kSmallWork = 1 << 20;
  const bool isSmall = plan.m * plan.n * std::max<int64_t>(plan.k, 1) <= kSmallWork &&
                       plan.m * plan.n <= kMostRows * kMostColumns;
  rows = cut(plan.m, isSmall ? std::max<int64_t>(plan.m, 1) : kMostRows, 8);
  columns = cut(plan.n, isSmall ? std::max<int64_t>(plan.n, 1) : kMostColumns, 48);

  const TensorType &left = call.operands[plan.exchanged ? 1 : 0],
                   &right = call.operands[plan.exchanged ? 0 : 1];
  auto pack = [&](const EinsumPacking &packing, DType type) {
    return StridedCopy(packing.shape, type, packing.strides, plan.operands, denseStrides(packing.shape));
  };
  if (plan.packsLeft) {
    packLeft = pack(plan.leftPacking, left.dtype);
    leftOffset = reserve(plan.leftPacking.elements, plan.operands);
  }
  if (plan.packsRight) {
    packRight = pack(plan.rightPacking, right.dtype);
    rightOffset = reserve(plan.rightPacking.elements, plan.operands);
  }
  if (plan.packsResult) {
    const EinsumPacking &packing = plan.resultPacking;
    unpackResult = StridedCopy(packing.shape, plan.compute, denseStrides(packing.shape),
                               call.results[0].dtype, packing.strides);
    resultOffset = reserve(packing.elements, plan.compute);
  }
  if (EinsumTiles::pay(plan)) {
    tiles.emplace(plan, resultType);
    tilesOffset = workspace;
    workspace += tiles->workspaceBytes();
  }
}

template <typename T> void EinsumKernel::multiplyTile(const Matrices &matrices, int64_t tile) const {
  const int64_t column = tile % columns.count * columns.piece;
  tile /= columns.count;
  const int64_t row = tile % rows.count * rows.piece;
  tile /= rows.count;
  int64_t left = row * plan.left.row, right = column * plan.right.column,
          result = row * plan.resultRow + column;
  for (size_t i = plan.loops.size(); i-- > 0; tile /= plan.loops[i].size) {
    const int64_t index = tile % plan.loops[i].size;
    left += index * plan.loops[i].left;
    right += index * plan.loops[i].right;
    result += index * plan.loops[i].result;
  }
  const int64_t height = std::min(rows.piece, plan.m - row), width = std::min(columns.piece, plan.n - column);
  auto multiplyInto = [&](auto *c, int64_t cRow) {
    multiplyBlocks(height, width, plan.k, reinterpret_cast<const T *>(matrices.left) + left, plan.left,
                   reinterpret_cast<const T *>(matrices.right) + right, plan.right, c, cRow, 0);
  };
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  if (resultType == plan.compute)
    return multiplyInto(reinterpret_cast<Sum *>(matrices.result) + result, plan.resultRow);
  alignas(64) Sum sums[kMostRows * kMostColumns];
  multiplyInto(sums, width);
  storeBlock(sums, width, resultType, matrices.result, {result, height, width, plan.resultRow});
}

void EinsumKernel::runTile(const Matrices &matrices, int64_t tile) const {
  if (plan.operands == DType::F64)
    multiplyTile<double>(matrices, tile);
  else if (plan.operands == DType::BF16)
    multiplyTile<BFloat16>(matrices, tile);
  else
    multiplyTile<float>(matrices, tile);
}

void EinsumKernel::runGrid(const Matrices &matrices, ThreadPool &threads) const {
  const int64_t count = plan.m == 0 || plan.n == 0 ? 0 : plan.products() * rows.count * columns.count;
  threads.forEachTile(count, [&](int64_t tile, int) { runTile(matrices, tile); });
}

void EinsumKernel::run(const KernelArguments &arguments, ThreadPool &threads) const {
  auto *scratch = static_cast<std::byte *>(arguments.workspace);
  const void *left = arguments.operands[plan.exchanged ? 1 : 0],
             *right = arguments.operands[plan.exchanged ? 0 : 1];
  void *result = arguments.results[0];
  if (plan.packsLeft) {
    packLeft.run(left, scratch + leftOffset, threads);
    left = scratch + leftOffset;
  }
  if (plan.packsRight) {
    packRight.run(right, scratch + rightOffset, threads);
    right = scratch + rightOffset;
  }
  if (plan.packsResult)
    result = scratch + resultOffset;
  Matrices matrices{static_cast<const std::byte *>(left), static_cast<const std::byte *>(right),
                    static_cast<std::byte *>(result)};
  if (tiles)
    tiles->run({reinterpret_cast<const BFloat16 *>(matrices.left),
                reinterpret_cast<const BFloat16 *>(matrices.right), matrices.result,
                reinterpret_cast<BFloat16 *>(scratch + tilesOffset)},
               threads);
  else
    runGrid(matrices, threads);
  if (plan.packsResult)
    unpackResult.run(result, arguments.results[0], threads);
}

} // namespace

KernelOrError createEinsum(const KernelCall &call) {
  auto plan = planEinsum(call);
  if (!plan.ok())
    return plan.status();
  return std::make_unique<EinsumKernel>(*std::move(plan), call);
}

} // namespace weft::cpu
