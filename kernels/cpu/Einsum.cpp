//===- Einsum.cpp - Contractions by tiles of matrix products --------------===//
//
// A plan (EinsumPlan.h) makes a contraction a loop of matrix products. Each product is cut into a fixed grid
// of tiles over rows and columns, never over the sum: a tile is one single-threaded product, and the threads
// take tiles. So an element's bits depend on the call and the instruction set alone. float64 products are a
// loop of our own.
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/EinsumPlan.h"
#include "kernels/cpu/MatrixProduct.h"
#include "kernels/cpu/ProductF64.h"
#include "kernels/cpu/Registry.h"
#include "kernels/cpu/StridedCopy.h"
#include "kernels/cpu/Strides.h"

#include <algorithm>
#include <cstddef>
#include <optional>

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

class EinsumKernel final : public Kernel {
public:
  explicit EinsumKernel(EinsumPlan planOfCall) : plan(std::move(planOfCall)) {}
  absl::Status prepare(const KernelCall &call);
  void run(const KernelArguments &arguments, ThreadPool &threads) const override;
  int64_t workspaceBytes() const override { return workspace; }

private:
  struct Matrices {
    const std::byte *left, *right;
    std::byte *result;
  };
  void runTile(const Matrices &matrices, int64_t tile) const;
  int64_t reserve(int64_t elements) {
    int64_t offset = workspace;
    workspace += (elements * byteSize(plan.compute) + 63) / 64 * 64;
    return offset;
  }

  EinsumPlan plan;
  std::optional<MatrixProduct> product; ///< of one tile; absent for float64
  Cut rows, columns;
  StridedCopy packLeft, packRight, unpackResult;
  int64_t leftOffset = 0, rightOffset = 0, resultOffset = 0, workspace = 0;
};

absl::Status EinsumKernel::prepare(const KernelCall &call) {
  // Small products are one tile each: there are enough of them, or none of them is worth a second thread.
  constexpr int64_t kSmallWork = 1 << 20;
  bool isSmall = plan.m * plan.n * std::max<int64_t>(plan.k, 1) <= kSmallWork;
  rows = cut(plan.m, isSmall ? std::max<int64_t>(plan.m, 1) : 128, 8);
  columns = cut(plan.n, isSmall ? std::max<int64_t>(plan.n, 1) : 384, 48);

  const TensorType &left = call.operands[plan.exchanged ? 1 : 0],
                   &right = call.operands[plan.exchanged ? 0 : 1];
  auto pack = [&](const EinsumPacking &packing, DType type) {
    return StridedCopy(packing.shape, type, packing.strides, plan.compute, denseStrides(packing.shape));
  };
  if (plan.packsLeft) {
    packLeft = pack(plan.leftPacking, left.dtype);
    leftOffset = reserve(plan.leftPacking.elements);
  }
  if (plan.packsRight) {
    packRight = pack(plan.rightPacking, right.dtype);
    rightOffset = reserve(plan.rightPacking.elements);
  }
  if (plan.packsResult) {
    const EinsumPacking &packing = plan.resultPacking;
    unpackResult = StridedCopy(packing.shape, plan.compute, denseStrides(packing.shape),
                               call.results[0].dtype, packing.strides);
    resultOffset = reserve(packing.elements);
  }
  if (plan.compute == DType::F32) {
    auto created = MatrixProduct::create(plan.m, plan.n, plan.k, plan.left, plan.right, plan.resultRow);
    if (!created.ok())
      return created.status();
    product = *created;
  }
  return absl::OkStatus();
}

void EinsumKernel::runTile(const Matrices &matrices, int64_t tile) const {
  int64_t column = tile % columns.count * columns.piece;
  tile /= columns.count;
  int64_t row = tile % rows.count * rows.piece;
  tile /= rows.count;
  int64_t left = row * plan.left.row, right = column * plan.right.column,
          result = row * plan.resultRow + column;
  for (size_t i = plan.loops.size(); i-- > 0; tile /= plan.loops[i].size) {
    int64_t index = tile % plan.loops[i].size;
    left += index * plan.loops[i].left;
    right += index * plan.loops[i].right;
    result += index * plan.loops[i].result;
  }
  int64_t height = std::min(rows.piece, plan.m - row), width = std::min(columns.piece, plan.n - column);
  if (product)
    product->execute(height, width, reinterpret_cast<const float *>(matrices.left) + left,
                     reinterpret_cast<const float *>(matrices.right) + right,
                     reinterpret_cast<float *>(matrices.result) + result);
  else
    multiplyF64(height, width, plan.k, reinterpret_cast<const double *>(matrices.left) + left, plan.left,
                reinterpret_cast<const double *>(matrices.right) + right, plan.right,
                reinterpret_cast<double *>(matrices.result) + result, plan.resultRow);
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
  int64_t tiles = plan.m == 0 || plan.n == 0 ? 0 : plan.products() * rows.count * columns.count;
  threads.forEachTile(tiles, [&](int64_t tile, int) { runTile(matrices, tile); });
  if (plan.packsResult)
    unpackResult.run(result, arguments.results[0], threads);
}

} // namespace

KernelOrError createEinsum(const KernelCall &call) {
  auto plan = planEinsum(call);
  if (!plan.ok())
    return plan.status();
  auto kernel = std::make_unique<EinsumKernel>(*std::move(plan));
  if (absl::Status status = kernel->prepare(call); !status.ok())
    return status;
  return kernel;
}

} // namespace weft::cpu
