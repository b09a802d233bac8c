//===- RingCases.h - Attentions on random rings -----------------------------===//
//
// A case is a function in the global view: an attention that is marked `ring`, and its backward, with every
// placement in its types. The seed says the mesh (data, one or two axes of the ring, heads), how the sequence
// is split, sizes, and which of mask, window, segments, sinks and soft cap there are.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_RINGCASES_H
#define WEFT_TOOLS_WEFT_TRIALS_RINGCASES_H

#include "tools/weft-trials/CaseBuilder.h"

#include <set>

namespace weft::trials {

struct RingCase {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< @main
  std::vector<Tensor> inputs;
  size_t positionsInput = 0; ///< which of them says where queries and keys are
  std::vector<std::string> resultNames;
  /// Of each result: a bound of the norm of what it is a difference of; 0 where nothing cancels.
  std::vector<double> cancelling;
  std::string kind; ///< `ring of 4, zigzag`
  std::set<std::string> features;
  std::string text;

  int64_t ranks = 1; ///< of the ring
  bool isZigzag = false;
  bool isPlainlyCausal = false; ///< causal, and nothing else hides a key
  /// Bytes of one rank's block, of all that travels, and of what comes home with it.
  int64_t travellingBytes = 0, homeBytes = 0;

  /// Once around without the last move in each direction; gradients come home.
  int64_t bytesSent() const { return ranks == 1 ? 0 : 2 * (ranks - 1) * travellingBytes + ranks * homeBytes; }
};

RingCase drawRingCase(mlir::MLIRContext *context, uint64_t seed);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_RINGCASES_H
