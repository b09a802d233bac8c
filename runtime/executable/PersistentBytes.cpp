//===- PersistentBytes.cpp - What persists over steps, on all ranks -------===//
//
// Alignment is what the plan's bases hold beyond the variables' own types; everything else follows from how
// many parts a variable has, and how many ranks hold each.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/PersistentBytes.h"

namespace weft {

PersistentBytes persistentBytesOf(const Executable &executable) {
  PersistentBytes bytes;
  bytes.ranks = executable.mesh.ranks();
  for (const MemoryBase &base : executable.memory.bases)
    if (base.kind == BaseKind::Parameters)
      bytes.alignment += bytes.ranks * static_cast<int64_t>(base.bytes());
  for (const Variable &variable : executable.variables) {
    int64_t parts = 1;
    for (const DimensionSplit &split : variable.placement.dimensions)
      parts *= executable.mesh.sizeOf(split.axes);
    const TensorType wholeType = variable.placement.whole()
                                     ? variable.type
                                     : TensorType{variable.type.dtype, variable.placement.globalShape};
    const int64_t whole = wholeType.bytes(), onParts = parts * variable.type.bytes();
    bytes.whole += whole;
    bytes.copies += (bytes.ranks / parts - 1) * whole;
    bytes.uneven += bytes.ranks / parts * (onParts - whole);
    bytes.alignment -= bytes.ranks * variable.type.bytes();
  }
  return bytes;
}

} // namespace weft
