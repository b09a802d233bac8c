//===- GeneratedKernel.h - What a generated function is called with -------===//
//
// An `elementwise` call that has the text `symbol` runs as the function of that name in the executable's
// object (runtime/object): machine code that the compiler wrote for this one call. The call still holds its
// program in full, and the interpreter of blocks (kernels/cpu/Elementwise.cpp) is what the function is held
// to: the same bits for every element, the same results that may share the memory of an operand.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_GENERATEDKERNEL_H
#define WEFT_KERNELS_COMMON_GENERATEDKERNEL_H

#include "kernels/common/ElementwiseOps.h"

#include <cstdint>

namespace weft {

/// The attribute of a call that names its generated function, an exported symbol of the executable's object.
inline constexpr char kSymbolAttribute[] = "symbol";

extern "C" {
/// A generated function computes elements [begin, end) of the iteration space of its call (`shape`), in
/// linear order; begin < end. Pointers are in the order of the call's operands and results, each 64-byte
/// aligned and at the start of the whole tensor.
///
/// * `begin` is a multiple of the tile, `end` is begin + a tile or the number of elements. A tile of a
/// program
///   with reductions is of whole rows; its results of one element a row are those of these rows.
///   Several threads run tiles at the same time: nothing but elements [begin, end) of the results is
///   written, and the function keeps no state.
/// * A result may lie where a dense operand of its type lies. Of that operand only elements [begin, end) are
///   read, and element i of it before element i of any result is written. Otherwise results share memory
///   with nothing.
using GeneratedFunction = void(const void *const *operands, void *const *results, int64_t begin, int64_t end);
}

/// Elements of a tile: what one call of a generated function computes, and the last one of a call less.
inline constexpr int64_t kGeneratedTile = 16 * 1024;

/// The same for a program with reductions: as many whole rows as fit, at least one.
inline int64_t generatedTileOf(const ElementwiseProgram &program) {
  if (!program.hasReductions())
    return kGeneratedTile;
  const int64_t width = program.shape.back();
  return width < kGeneratedTile ? kGeneratedTile / width * width : width;
}

} // namespace weft

#endif // WEFT_KERNELS_COMMON_GENERATEDKERNEL_H
