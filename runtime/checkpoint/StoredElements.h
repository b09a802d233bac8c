//===- StoredElements.h - Elements as they lie in files -------------------===//
//
// What an element of a file is worth, and floats of one type as floats of another: to the nearest value, ties
// to even, in one rounding from any type to any other, and with a count of what that changed. Data need not
// be aligned.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_STOREDELEMENTS_H
#define WEFT_RUNTIME_CHECKPOINT_STOREDELEMENTS_H

#include "runtime/checkpoint/SafetensorsHeader.h"

#include <cstddef>
#include <span>

namespace weft::checkpoint {

/// Whether elements of the type are real numbers of whole bytes, of the kinds that machines compute with. The
/// others (8 bits and fewer of float, complex numbers) are bytes to weft.
bool isNumber(SafetensorsType type);

/// The value of one element; 0 of a type that is no number.
double elementValue(SafetensorsType type, const std::byte *elements, int64_t index);

/// What a conversion did to the elements.
struct FloatChanges {
  int64_t rounded = 0;    ///< have another value now
  int64_t overflowed = 0; ///< of these, are infinite now and were not
  int64_t firstOverflow = -1;

  void add(const FloatChanges &later, int64_t elementsBefore);
};

/// Writes `count` elements of the float type `from` as elements of the float type `to`. Equal types: the same
/// bits. A NaN stays one.
FloatChanges convertFloats(DType from, const std::byte *source, DType to, std::byte *into, int64_t count);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_STOREDELEMENTS_H
