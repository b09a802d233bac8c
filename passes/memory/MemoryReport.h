//===- MemoryReport.h - Where the memory of a job goes ------------------------===//
#ifndef WEFT_PASSES_MEMORY_MEMORYREPORT_H
#define WEFT_PASSES_MEMORY_MEMORYREPORT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace weft {

/// One row: bytes of the arena. The rows of a report add up to the arena.
struct MemoryReportRow {
  std::string category; ///< parameters, optimizer, gradients, cache, activations, workspaces, inputs,
                        ///< constants, other
  std::string name;
  int64_t bytes;
};

struct MemoryReport {
  std::vector<MemoryReportRow> rows;
  int64_t peakBytes = 0;
  /// What no offsets can go below: all bases, with the most bytes that live at once of each region.
  int64_t lowerBound = 0;
  /// Of all gradients of a step, whether or not they are there at the peak; and of those what train.reduction
  /// canonical keeps beside one buffer of each.
  int64_t gradientBytes = 0, levelBytes = 0;
  /// Of the caches of generation, most of it in memory that a step has for its own values.
  int64_t cacheBytes = 0;
  /// What is live in `step` at the peak of the program that needs most of it, largest first.
  std::string peakAction;
  std::vector<std::pair<std::string, int64_t>> peakHolders;
  /// The region of values in flight, the most that is needed of it in one run, and what that is: microbatches
  /// of stages, largest first.
  int64_t inFlightBytes = 0, inFlightLowerBound = 0;
  std::vector<std::pair<std::string, int64_t>> inFlightHolders;

  int64_t categoryBytes(const std::string &category) const;
};

/// Reads a module after the memory phase.
MemoryReport reportMemory(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_PASSES_MEMORY_MEMORYREPORT_H
