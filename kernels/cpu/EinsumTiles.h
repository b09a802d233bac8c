//===- EinsumTiles.h - The products of a plan by tile registers -----------===//
//
// A plan's products of bfloat16 on a processor with tiles. The right matrices are packed once for all rows of
// the result, in the workspace, as many columns at a time as a few MiB hold. The left ones are multiplied as
// they lie where their rows are whole tiles; else they are packed, 32 rows at a time on the stack, or in the
// workspace where that is quicker. An element is the sum over its depth in ascending order, so no bit depends
// on how the result is cut (docs/decisions/040).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_EINSUMTILES_H
#define WEFT_KERNELS_CPU_EINSUMTILES_H

#include "kernels/cpu/EinsumPlan.h"

namespace weft {
class ThreadPool;
}

namespace weft::cpu {

class EinsumTiles {
public:
  /// True when packing costs less than it saves, by the plan alone.
  static bool pay(const EinsumPlan &plan);

  /// `resultType` is what the products' results are stored as.
  EinsumTiles(const EinsumPlan &plan, DType resultType);

  int64_t workspaceBytes() const;

  struct Matrices {
    const BFloat16 *left, *right;
    void *result;
    BFloat16 *packed; ///< workspaceBytes()
  };
  void run(const Matrices &matrices, ThreadPool &threads) const;

private:
  /// Offsets of one product's matrices, in elements.
  struct Place {
    int64_t left = 0, right = 0, result = 0;
  };
  /// What is multiplied at a time: some right matrices whole, or some columns of one, by some rows.
  struct Group {
    int64_t firstMatrix, matrices;
    int64_t firstColumn, columns;
    int64_t firstRow, rows;
  };
  /// What a thread takes of the result.
  struct Block {
    Place place;
    int64_t row, rows, column, columns;
    const BFloat16 *left, *right; ///< where they are packed
  };

  static void move(Place &place, const std::vector<EinsumLoop> &loops, int64_t index);
  int64_t groupCount() const;
  Group groupOf(int64_t index) const;
  /// Elements of one packed right matrix of the group.
  int64_t packedElements(const Group &group) const;

  int64_t rightPieces(const Group &group) const;
  void packRightPiece(const Matrices &matrices, const Group &group, int64_t piece) const;
  void packLeftPiece(const Matrices &matrices, const Group &group, int64_t piece) const;

  int64_t blockCount(const Group &group) const;
  Block blockOf(const Matrices &matrices, const Group &group, int64_t index) const;
  void multiplyBlock(const Matrices &matrices, const Block &block) const;
  void multiplyRows(const Matrices &matrices, const Block &block, int64_t row, int64_t chunk,
                    float *sums) const;
  void store(const float *tiles, void *result, int64_t offset, int64_t rows, int64_t columns) const;

  /// How the left matrix comes to the tiles.
  enum class Left : uint8_t { AsItLies, PackedOnStack, PackedInWorkspace };

  int64_t m, n, k, resultRow;
  MatrixStrides left, right;
  DType resultType;
  bool leftRowsLie, rightRowsLie; ///< not columns
  Left leftWay;
  /// Loops that change the right matrix are around those that do not.
  std::vector<EinsumLoop> rightLoops, otherLoops;
  int64_t rightMatrices = 1, others = 1;
  int64_t depth;              ///< in tiles
  int64_t chunkDepth, chunks; ///< of the depth, summed one after another
  int64_t blockRows, blockColumns;
  int64_t matricesPerGroup, columnsPerGroup, rowsPerGroup;
  int64_t leftOffset; ///< of the packed left matrix, in elements
};

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_EINSUMTILES_H
