//===- Parts.h - A job as the executables of its pipeline ranks -----------===//
//
// What holds for a job and not for a rank is asked of all its parts together: which part a rank runs, every
// variable once although several parts may hold it, and what the ranks need of a machine's memory. Part i is
// that of pipeline rank i; verify() has seen the parts.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_PARTS_H
#define WEFT_RUNTIME_EXECUTABLE_PARTS_H

#include "runtime/executable/Executable.h"

#include <string>
#include <vector>

namespace weft {

/// The part that a rank of the mesh runs.
const Executable &partOf(const std::vector<Executable> &parts, int64_t rank);

/// Every variable of the job once, of the part that owns it, in the order of the parts.
std::vector<const Variable *> variablesOf(const std::vector<Executable> &parts);

/// Bytes that the devices of all ranks allocate.
int64_t allocatedOnAll(const std::vector<Executable> &parts);

/// The place along the pipeline whose ranks need most memory, the lowest of several.
size_t largestPart(const std::vector<Executable> &parts);

/// Peak bytes of `ranks` ranks together: of those that need most, since any of them may share a machine.
int64_t peakOfRanks(const std::vector<Executable> &parts, int64_t ranks);

/// The stages that a part computes, ascending, by the names of its actions (`3F`, `3B`, ...); none for a
/// part that is no pipeline's.
std::vector<int64_t> stagesOf(const Executable &part);

/// How messages call a part: `pipeline rank 1 (stages 1, 6)`.
std::string partText(const std::vector<Executable> &parts, size_t part);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_PARTS_H
