//===- MatrixProduct.h - One single-threaded product by oneDNN ------------===//
//
// C = A B + beta C for matrices given by their strides, on the calling thread alone: what the tiles of
// einsum, attention and cross-entropy are made of. A and B are float32 or bfloat16, C is float32. Its bits
// are a function of types, shape, strides and instruction set. There is no state, so any number of threads
// may multiply at once, and nothing is allocated by us (oneDNN's packing buffers come and go inside the
// call).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_MATRIXPRODUCT_H
#define WEFT_KERNELS_CPU_MATRIXPRODUCT_H

#include <cstdint>

namespace weft::cpu {

/// Where the elements of a matrix lie: element (i, j) at i * row + j * column.
struct MatrixStrides {
  int64_t row = 0;
  int64_t column = 1;
};

/// A bfloat16 as it lies in memory.
enum class BFloat16 : uint16_t {};

/// True when oneDNN can read a rows x columns matrix in place: one stride is 1, the other spans that
/// dimension.
bool isAddressable(int64_t rows, int64_t columns, MatrixStrides strides);

/// True when the instruction set in use multiplies bfloat16 as it lies. Elsewhere whoever has it widens it.
bool multipliesBFloat16();

/// A is m x k, B is k x n, both addressable; C is m x n with column stride 1 and row stride `cRow` >= n, and
/// overlaps neither. beta 0 overwrites C (which may be uninitialized), beta 1 adds to it.
void multiply(int64_t m, int64_t n, int64_t k, const float *a, MatrixStrides aStrides, const float *b,
              MatrixStrides bStrides, float *c, int64_t cRow, float beta = 0);
/// Only where multipliesBFloat16(). Products are summed in float32.
void multiply(int64_t m, int64_t n, int64_t k, const BFloat16 *a, MatrixStrides aStrides, const BFloat16 *b,
              MatrixStrides bStrides, float *c, int64_t cRow, float beta = 0);

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_MATRIXPRODUCT_H
