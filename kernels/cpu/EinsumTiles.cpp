//===- EinsumTiles.cpp - The products of a plan by tile registers ---------===//
//
// A thread sums a block of the result. 32 rows of the left matrix stay in the first-level cache over a piece
// of the depth, while the block's columns of the right one stream from the second; sums of a longer depth
// wait on the stack. 32 x 32 sums go to the result from the first-level cache, rounded where it is narrower.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/EinsumTiles.h"

#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/AttentionBlocks.h"
#include "kernels/cpu/TileProduct.h"

#include <algorithm>

namespace weft::cpu {
namespace {

constexpr int64_t kPair = kTileDepth;        ///< rows or columns of two strips
constexpr int64_t kPairSums = 4 * kTileSums; ///< of two strips by two
constexpr int64_t kMostChunkDepth = 16;      ///< tiles: 32 rows of the left matrix are 32 KiB
constexpr int64_t kMostBlockRows = 128, kMostBlockColumns = 512;
constexpr int64_t kMostPacked = 4 << 20; ///< bytes of a side packed at a time, unless 256 columns are more
constexpr int64_t kLeastPacked = 256;    ///< columns of the right matrix, rows of the left
constexpr int64_t kPieceRows = 64;       ///< of a matrix whose columns become strips
/// Elements from row to row: a multiple of 2 KiB, and the rows of a pair share few sets of the first-level
/// cache.
constexpr int64_t kBadStride = 1024;
constexpr int64_t kSmallMatrix = 1 << 17; ///< elements: packed in the second-level cache
constexpr int64_t kPageStride = 2048;     ///< a page

int64_t piecesOf(int64_t size, int64_t piece) { return (size + piece - 1) / piece; }

/// Pieces of at most `most` and similar size, multiples of 32.
int64_t pieceOf(int64_t size, int64_t most) { return tilePadded(piecesOf(size, piecesOf(size, most))); }

/// True where a matrix's rows lie, false where its columns do. The strides of a dimension of size 1 mean
/// nothing.
bool rowsLie(int64_t rows, int64_t columns, MatrixStrides strides) {
  return (strides.column == 1 || columns == 1) && (strides.row >= columns || rows == 1);
}

} // namespace

bool EinsumTiles::pay(const EinsumPlan &plan) {
  if (plan.operands != DType::BF16 || !multipliesByTiles() || plan.k == 0 || plan.products() == 0)
    return false;
  int64_t rows = plan.m; // that share a right matrix
  for (const EinsumLoop &loop : plan.loops)
    rows *= loop.right == 0 ? loop.size : 1;
  // A few columns do not pay for packing the left matrix, a few rows not for the right one unless it is
  // small.
  const bool leftIsRead = rowsLie(plan.m, plan.k, plan.left);
  return plan.n >= (leftIsRead ? 8 : 32) && (rows >= 64 || (rows > 1 && plan.k * plan.n <= kSmallMatrix));
}

EinsumTiles::EinsumTiles(const EinsumPlan &plan, DType resultType)
    : m(plan.m), n(plan.n), k(plan.k), resultRow(plan.resultRow), left(plan.left), right(plan.right),
      resultType(resultType), leftRowsLie(rowsLie(m, k, left)), rightRowsLie(rowsLie(k, n, right)),
      leftWay(Left::PackedOnStack), depth(tileCount(k)),
      chunkDepth(tileCount(pieceOf(k, kMostChunkDepth * kTileDepth))), chunks(piecesOf(depth, chunkDepth)) {
  for (const EinsumLoop &loop : plan.loops) {
    (loop.right != 0 ? rightLoops : otherLoops).push_back(loop);
    (loop.right != 0 ? rightMatrices : others) *= loop.size;
  }
  // Columns a page apart, or packed again for each block of columns, are packed for all of them.
  if (leftRowsLie && k % kTileDepth == 0 && left.row % kTileDepth == 0 && left.row % kBadStride != 0)
    leftWay = Left::AsItLies;
  else if (!leftRowsLie && plan.products() == 1 && (n > kMostBlockColumns || left.column > kPageStride))
    leftWay = Left::PackedInWorkspace;

  const int64_t columnBytes = depth * kTileDepth * static_cast<int64_t>(sizeof(BFloat16));
  const int64_t most = std::max(kMostPacked / columnBytes / kPair * kPair, kLeastPacked);
  columnsPerGroup = pieceOf(n, most);
  matricesPerGroup = std::clamp<int64_t>(most / columnsPerGroup, 1, columnsPerGroup < n ? 1 : rightMatrices);
  rowsPerGroup = leftWay == Left::PackedInWorkspace ? pieceOf(m, most) : tilePadded(m);
  blockColumns = pieceOf(std::min(columnsPerGroup, n), kMostBlockColumns);
  blockRows = pieceOf(std::min(rowsPerGroup, m), kMostBlockRows);
  leftOffset = matricesPerGroup * columnsPerGroup * depth * kTileDepth;
}

int64_t EinsumTiles::workspaceBytes() const {
  const int64_t leftElements =
      leftWay == Left::PackedInWorkspace ? rowsPerGroup * depth * kTileDepth : int64_t{0};
  return (leftOffset + leftElements) * static_cast<int64_t>(sizeof(BFloat16));
}

void EinsumTiles::run(const Matrices &matrices, ThreadPool &threads) const {
  const int64_t rowGroups = piecesOf(m, rowsPerGroup);
  for (int64_t i = 0; i < groupCount(); ++i) {
    const Group group = groupOf(i);
    if (group.firstRow == 0)
      threads.forEachTile(rightPieces(group),
                          [&](int64_t piece, int) { packRightPiece(matrices, group, piece); });
    if (leftWay == Left::PackedInWorkspace && (i == 0 || rowGroups > 1))
      threads.forEachTile(piecesOf(k, kPieceRows),
                          [&](int64_t piece, int) { packLeftPiece(matrices, group, piece); });
    threads.forEachTile(blockCount(group), [&](int64_t block, int) {
      multiplyBlock(matrices, blockOf(matrices, group, block));
    });
  }
}

void EinsumTiles::move(Place &place, const std::vector<EinsumLoop> &loops, int64_t index) {
  for (size_t i = loops.size(); i-- > 0; index /= loops[i].size) {
    const int64_t position = index % loops[i].size;
    place.left += position * loops[i].left;
    place.right += position * loops[i].right;
    place.result += position * loops[i].result;
  }
}

int64_t EinsumTiles::groupCount() const {
  return piecesOf(rightMatrices, matricesPerGroup) * piecesOf(n, columnsPerGroup) * piecesOf(m, rowsPerGroup);
}

EinsumTiles::Group EinsumTiles::groupOf(int64_t index) const {
  const int64_t rowGroups = piecesOf(m, rowsPerGroup), columnGroups = piecesOf(n, columnsPerGroup);
  Group group;
  group.firstRow = index % rowGroups * rowsPerGroup;
  group.rows = std::min(rowsPerGroup, m - group.firstRow);
  index /= rowGroups;
  group.firstColumn = index % columnGroups * columnsPerGroup;
  group.columns = std::min(columnsPerGroup, n - group.firstColumn);
  group.firstMatrix = index / columnGroups * matricesPerGroup;
  group.matrices = std::min(matricesPerGroup, rightMatrices - group.firstMatrix);
  return group;
}

int64_t EinsumTiles::packedElements(const Group &group) const {
  return tilePadded(group.columns) * depth * kTileDepth;
}

/// A piece is memory that lies together: some rows where they lie, else 32 columns.
int64_t EinsumTiles::rightPieces(const Group &group) const {
  return group.matrices * (rightRowsLie ? piecesOf(k, kPieceRows) : piecesOf(group.columns, kPair));
}

void EinsumTiles::packRightPiece(const Matrices &matrices, const Group &group, int64_t piece) const {
  const int64_t pieces = rightPieces(group) / group.matrices, matrix = piece / pieces;
  piece %= pieces;
  Place place;
  move(place, rightLoops, group.firstMatrix + matrix);
  const BFloat16 *from = matrices.right + place.right;
  BFloat16 *to = matrices.packed + matrix * packedElements(group);
  if (rightRowsLie) {
    const int64_t row = piece * kPieceRows;
    packRightPart(
        {from + row * right.row + group.firstColumn, right.row, std::min(kPieceRows, k - row), group.columns},
        to + row * kStrip, depth * kTileElements);
    return;
  }
  const int64_t column = piece * kPair;
  packRightTransposed({from + (group.firstColumn + column) * right.column, right.column,
                       std::min(kPair, group.columns - column), k},
                      to + column * depth * kTileDepth);
}

void EinsumTiles::packLeftPiece(const Matrices &matrices, const Group &group, int64_t piece) const {
  const int64_t row = piece * kPieceRows;
  packLeftTransposedPart({matrices.left + row * left.column + group.firstRow, left.column,
                          std::min(kPieceRows, k - row), group.rows},
                         matrices.packed + leftOffset + row * kStrip, depth * kTileElements);
}

/// Blocks of the same columns are neighbors: the columns stay in the cache of their thread.
int64_t EinsumTiles::blockCount(const Group &group) const {
  return group.matrices * others * piecesOf(group.columns, blockColumns) * piecesOf(group.rows, blockRows);
}

EinsumTiles::Block EinsumTiles::blockOf(const Matrices &matrices, const Group &group, int64_t index) const {
  const int64_t rowBlocks = piecesOf(group.rows, blockRows),
                columnBlocks = piecesOf(group.columns, blockColumns);
  const int64_t row = index % rowBlocks * blockRows;
  index /= rowBlocks;
  const int64_t column = index % columnBlocks * blockColumns;
  index /= columnBlocks;
  Block block;
  block.row = group.firstRow + row;
  block.rows = std::min(blockRows, group.rows - row);
  block.column = group.firstColumn + column;
  block.columns = std::min(blockColumns, group.columns - column);
  move(block.place, otherLoops, index % others);
  const int64_t matrix = index / others;
  move(block.place, rightLoops, group.firstMatrix + matrix);
  block.left = matrices.packed + leftOffset + row * depth * kTileDepth;
  block.right = matrices.packed + matrix * packedElements(group) + column * depth * kTileDepth;
  return block;
}

void EinsumTiles::multiplyBlock(const Matrices &matrices, const Block &block) const {
  alignas(64) float sums[kMostBlockRows * kMostBlockColumns];
  const TilesInUse inUse;
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    for (int64_t row = 0; row < block.rows; row += kPair)
      multiplyRows(matrices, block, row, chunk, chunks == 1 ? sums : sums + row * blockColumns);
}

/// 32 rows of a block, a piece of their depth.
void EinsumTiles::multiplyRows(const Matrices &matrices, const Block &block, int64_t row, int64_t chunk,
                               float *sums) const {
  alignas(64) BFloat16 packed[kPair * kMostChunkDepth * kTileDepth];
  const int64_t firstTile = chunk * chunkDepth, tiles = std::min(chunkDepth, depth - firstTile);
  const int64_t firstDepth = firstTile * kTileDepth, depths = std::min(tiles * kTileDepth, k - firstDepth);
  const int64_t firstRow = block.row + row, rows = std::min(kPair, block.rows - row);
  const BFloat16 *from = matrices.left + block.place.left;
  TileProduct product = {.rowPairs = 1,
                         .columnPairs = 1,
                         .depth = tiles,
                         .a = packed,
                         .aStrip = tiles * kTileElements,
                         .b = block.right + firstTile * kTileElements,
                         .bStrip = depth * kTileElements,
                         .c = sums,
                         .cBelow = 2 * kTileSums,
                         .cBeside = kTileSums,
                         .accumulate = chunk > 0};
  if (leftWay == Left::PackedInWorkspace) {
    product.a = block.left + row * depth * kTileDepth + firstTile * kTileElements;
    product.aStrip = depth * kTileElements;
  } else if (leftWay == Left::AsItLies && rows == kPair) {
    product.a = from + firstRow * left.row + firstDepth;
    product.aStrip = kStrip * left.row;
    product.aRow = left.row;
    product.aTile = kTileDepth;
  } else if (leftRowsLie) {
    packLeft({from + firstRow * left.row + firstDepth, left.row, rows, depths}, packed);
  } else {
    packLeftTransposed({from + firstDepth * left.column + firstRow, left.column, depths, rows}, packed);
  }
  for (int64_t column = 0; column < block.columns; column += kPair) {
    multiplyTiles(product);
    if (chunk == chunks - 1)
      store(product.c, matrices.result, block.place.result + firstRow * resultRow + block.column + column,
            rows, std::min(kPair, block.columns - column));
    product.b += 2 * product.bStrip;
    if (chunks > 1)
      product.c += kPairSums;
  }
}

void EinsumTiles::store(const float *tiles, void *result, int64_t offset, int64_t rows,
                        int64_t columns) const {
  if (resultType == DType::F32)
    return storeTiles(tiles, rows, columns, static_cast<float *>(result) + offset, resultRow);
  if (resultType == DType::BF16)
    return storeTiles(tiles, rows, columns, static_cast<BFloat16 *>(result) + offset, resultRow);
  float lying[kPairSums];
  storeTiles(tiles, rows, kPair, lying, kPair);
  storeBlock(lying, kPair, resultType, result, {offset, rows, columns, resultRow});
}

} // namespace weft::cpu
