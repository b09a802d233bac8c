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

constexpr int64_t kPair = kTileDepth;  ///< rows or columns of two strips
constexpr int64_t kFour = 4 * kTileSums; ///< their sums
constexpr int64_t kMostChunkDepth = 16;  ///< tiles: 32 KiB of the left matrix
constexpr int64_t kMostBlockRows = 128, kMostBlockColumns = 512;
constexpr int64_t kMostPacked = 4 << 20; ///< bytes of right matrices at a time, unless 256 columns need more
constexpr int64_t kLeastColumns = 256;
constexpr int64_t kPackedRows = 64; ///< of the right matrix, packed at a time

int64_t piecesOf(int64_t size, int64_t piece) { return (size + piece - 1) / piece; }

/// Pieces of at most `most` and similar size, multiples of 32.
int64_t pieceOf(int64_t size, int64_t most) {
  return tilePadded(piecesOf(size, piecesOf(size, most)));
}

/// True where a matrix's rows lie, false where its columns do. The strides of a dimension of size 1 mean
/// nothing.
bool rowsLie(int64_t rows, int64_t columns, MatrixStrides strides) {
  return (strides.column == 1 || columns == 1) && (strides.row >= columns || rows == 1);
}

/// Part of a matrix whose rows lie.
PackedFrom part(const BFloat16 *matrix, int64_t stride, int64_t row, int64_t rows, int64_t column,
                int64_t columns) {
  return {matrix + row * stride + column, stride, rows, columns};
}

} // namespace

bool EinsumTiles::pay(const EinsumPlan &plan) {
  return plan.operands == DType::BF16 && multipliesByTiles() && plan.m > 0 && plan.n > 0 && plan.k > 0;
}

EinsumTiles::EinsumTiles(const EinsumPlan &plan, DType resultType)
    : m(plan.m), n(plan.n), k(plan.k), resultRow(plan.resultRow), left(plan.left), right(plan.right),
      resultType(resultType), leftRowsLie(rowsLie(m, k, left)), rightRowsLie(rowsLie(k, n, right)),
      depth(tileCount(k)), chunkDepth(tileCount(pieceOf(k, kMostChunkDepth * kTileDepth))),
      chunks(piecesOf(depth, chunkDepth)) {
  for (const EinsumLoop &loop : plan.loops) {
    (loop.right != 0 ? rightLoops : otherLoops).push_back(loop);
    (loop.right != 0 ? rightMatrices : others) *= loop.size;
  }
  // Rows a multiple of 2 KiB apart share few sets of the first-level cache.
  leftInPlace = leftRowsLie && left.row % kTileDepth == 0 && left.row % 1024 != 0 && k % kTileDepth == 0;

  columnsPerGroup = n;
  const int64_t columnBytes = depth * kTileDepth * static_cast<int64_t>(sizeof(BFloat16));
  matricesPerGroup = std::clamp<int64_t>(kMostPacked / (tilePadded(n) * columnBytes), 1, rightMatrices);
  if (tilePadded(n) * columnBytes > kMostPacked)
    columnsPerGroup = pieceOf(n, std::max(kMostPacked / columnBytes, kLeastColumns));
  blockColumns = pieceOf(columnsPerGroup, kMostBlockColumns);
  blockRows = pieceOf(m, kMostBlockRows);
  groups = piecesOf(rightMatrices, matricesPerGroup) * piecesOf(n, columnsPerGroup);
}

int64_t EinsumTiles::packedElements(const Group &group) const {
  return tilePadded(group.columns) * depth * kTileDepth;
}

int64_t EinsumTiles::workspaceBytes() const {
  return matricesPerGroup * tilePadded(columnsPerGroup) * depth * kTileDepth *
         static_cast<int64_t>(sizeof(BFloat16));
}

void EinsumTiles::move(Place &place, const std::vector<EinsumLoop> &loops, int64_t index) {
  for (size_t i = loops.size(); i-- > 0; index /= loops[i].size) {
    const int64_t position = index % loops[i].size;
    place.left += position * loops[i].left;
    place.right += position * loops[i].right;
    place.result += position * loops[i].result;
  }
}

EinsumTiles::Group EinsumTiles::groupOf(int64_t index) const {
  const int64_t cuts = piecesOf(n, columnsPerGroup);
  const int64_t matrix = index / cuts * matricesPerGroup, column = index % cuts * columnsPerGroup;
  return {matrix, std::min(matricesPerGroup, rightMatrices - matrix), column,
          std::min(columnsPerGroup, n - column)};
}

/// A piece is memory that lies together: rows of a matrix whose rows lie, else 32 columns.
int64_t EinsumTiles::packPieces(const Group &group) const {
  return group.matrices * (rightRowsLie ? piecesOf(k, kPackedRows) : piecesOf(group.columns, kPair));
}

void EinsumTiles::packPiece(const Matrices &matrices, const Group &group, int64_t piece) const {
  const int64_t pieces = packPieces(group) / group.matrices, matrix = piece / pieces;
  piece %= pieces;
  Place place;
  move(place, rightLoops, group.firstMatrix + matrix);
  const BFloat16 *from = matrices.right + place.right;
  BFloat16 *to = matrices.packed + matrix * packedElements(group);
  if (rightRowsLie) {
    const int64_t row = piece * kPackedRows;
    packRight(part(from, right.row, row, std::min(kPackedRows, k - row), group.firstColumn, group.columns),
              to + row / kTileDepth * kTileElements, depth * kTileElements);
    return;
  }
  const int64_t column = piece * kPair;
  packRightTransposed(part(from, right.column, group.firstColumn + column,
                           std::min(kPair, group.columns - column), 0, k),
                      to + column * depth * kTileDepth);
}

int64_t EinsumTiles::blocks(const Group &group) const {
  return group.matrices * others * piecesOf(group.columns, blockColumns) * piecesOf(m, blockRows);
}

void EinsumTiles::multiplyBlock(const Matrices &matrices, const Group &group, int64_t index) const {
  const int64_t rowBlocks = piecesOf(m, blockRows), columnBlocks = piecesOf(group.columns, blockColumns);
  Block block;
  block.row = index % rowBlocks * blockRows;
  index /= rowBlocks;
  const int64_t column = index % columnBlocks * blockColumns;
  index /= columnBlocks;
  block.column = group.firstColumn + column;
  block.rows = std::min(blockRows, m - block.row);
  block.columns = std::min(blockColumns, group.columns - column);
  move(block.place, otherLoops, index % others);
  const int64_t matrix = index / others;
  move(block.place, rightLoops, group.firstMatrix + matrix);
  block.packed = matrices.packed + matrix * packedElements(group) + column * depth * kTileDepth;

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
  const int64_t first = chunk * chunkDepth, tiles = std::min(chunkDepth, depth - first);
  const int64_t firstRow = block.row + row, rows = std::min(kPair, block.rows - row);
  const int64_t firstDepth = first * kTileDepth, depths = std::min(tiles * kTileDepth, k - firstDepth);
  const BFloat16 *from = matrices.left + block.place.left;
  TileProduct product = {.rowPairs = 1,
                         .columnPairs = 1,
                         .depth = tiles,
                         .a = packed,
                         .aStrip = tiles * kTileElements,
                         .b = block.packed + first * kTileElements,
                         .bStrip = depth * kTileElements,
                         .c = sums,
                         .cBelow = 2 * kTileSums,
                         .cBeside = kTileSums,
                         .accumulate = chunk > 0};
  if (leftInPlace && rows == kPair) {
    product.a = from + firstRow * left.row + firstDepth;
    product.aStrip = kStrip * left.row;
    product.aRow = left.row;
    product.aTile = kTileDepth;
  } else if (leftRowsLie) {
    packLeft(part(from, left.row, firstRow, rows, firstDepth, depths), packed);
  } else {
    packLeftTransposed(part(from, left.column, firstDepth, depths, firstRow, rows), packed);
  }
  for (int64_t column = 0; column < block.columns; column += kPair) {
    multiplyTiles(product);
    if (chunk == chunks - 1)
      store(product.c, matrices.result,
            block.place.result + firstRow * resultRow + block.column + column, rows,
            std::min(kPair, block.columns - column));
    product.b += 2 * product.bStrip;
    if (chunks > 1)
      product.c += kFour;
  }
}

void EinsumTiles::store(const float *tiles, void *result, int64_t offset, int64_t rows,
                        int64_t columns) const {
  if (resultType == DType::F32)
    return storeTiles(tiles, rows, columns, static_cast<float *>(result) + offset, resultRow);
  if (resultType == DType::BF16)
    return storeTiles(tiles, rows, columns, static_cast<BFloat16 *>(result) + offset, resultRow);
  float lying[kFour];
  storeTiles(tiles, rows, columns, lying, kPair);
  storeBlock(lying, kPair, resultType, result, {offset, rows, columns, resultRow});
}

void EinsumTiles::run(const Matrices &matrices, ThreadPool &threads) const {
  for (int64_t i = 0; i < groups; ++i) {
    const Group group = groupOf(i);
    threads.forEachTile(packPieces(group),
                        [&](int64_t piece, int) { packPiece(matrices, group, piece); });
    threads.forEachTile(blocks(group), [&](int64_t block, int) { multiplyBlock(matrices, group, block); });
  }
}

} // namespace weft::cpu
