//===- PersistentBytes.h - What persists over steps, on all ranks ---------===//
//
// Parameters and optimizer state, summed over the ranks of a mesh, and why that is more than one copy of
// them: values that several ranks hold, the tails of parts that do not divide evenly, and the alignment of
// every variable's place. The four add up to what the ranks' memory plans say, to the byte.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_PERSISTENTBYTES_H
#define WEFT_RUNTIME_EXECUTABLE_PERSISTENTBYTES_H

#include "runtime/executable/Executable.h"

namespace weft {

/// In bytes, of all ranks together.
struct PersistentBytes {
  int64_t ranks = 1;
  int64_t whole = 0;     ///< one copy of every variable
  int64_t copies = 0;    ///< of parts that more than one rank holds
  int64_t uneven = 0;    ///< behind the last elements of parts
  int64_t alignment = 0; ///< between variables

  int64_t onAll() const { return whole + copies + uneven + alignment; }
  int64_t onRank() const { return onAll() / ranks; } ///< all ranks of one part hold as much as any other
  bool operator==(const PersistentBytes &) const = default;
};

/// Of all parts of a job, which must have passed verify().
PersistentBytes persistentBytesOf(const std::vector<Executable> &parts);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_PERSISTENTBYTES_H
