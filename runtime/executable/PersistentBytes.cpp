//===- PersistentBytes.cpp - What persists over steps, on all ranks -------===//
//
// Alignment is what the plans' bases hold beyond the variables' own types; everything else follows from how
// many pieces a variable has, how many ranks hold each, and whether a part of the job is its owner.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/PersistentBytes.h"

namespace weft {

PersistentBytes persistentBytesOf(const std::vector<Executable> &parts) {
  const Mesh &mesh = parts.front().mesh;
  PersistentBytes bytes;
  bytes.ranks = mesh.ranks();
  const int64_t ranksOfPart = bytes.ranks / static_cast<int64_t>(parts.size());
  for (size_t place = 0; place < parts.size(); ++place) {
    for (const MemoryBase &base : parts[place].memory.bases)
      if (base.kind == BaseKind::Parameters)
        bytes.alignment += ranksOfPart * static_cast<int64_t>(base.bytes());
    for (const Variable &variable : parts[place].variables) {
      int64_t pieces = 1;
      for (const DimensionSplit &split : variable.placement.dimensions)
        pieces *= mesh.sizeOf(split.axes);
      const TensorType wholeType = variable.placement.whole()
                                       ? variable.type
                                       : TensorType{variable.type.dtype, variable.placement.globalShape};
      const int64_t whole = wholeType.bytes(), onPieces = pieces * variable.type.bytes();
      const bool isOwn = variable.pipelineOwner == place;
      bytes.whole += isOwn ? whole : 0;
      bytes.copies += (ranksOfPart / pieces - (isOwn ? 1 : 0)) * whole;
      bytes.uneven += ranksOfPart / pieces * (onPieces - whole);
      bytes.alignment -= ranksOfPart * variable.type.bytes();
    }
  }
  return bytes;
}

} // namespace weft
