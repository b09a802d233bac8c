//===- FaultyRank.h - A rank that dies or freezes before a collective -----===//
//
// Stands between a rank and its group, and counts its collectives. At a chosen one the rank dies: it leaves
// its group without a word, and everything it does fails from then on. Or it freezes: its thread stands still
// for good.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFTTRIALS_FAULTYRANK_H
#define WEFT_TOOLS_WEFTTRIALS_FAULTYRANK_H

#include "runtime/comm/Communicator.h"

#include <atomic>
#include <cstdint>

namespace weft::trials {

struct Fault {
  enum class Kind { None, Die, Freeze };
  Kind kind = Kind::None;
  int rank = 0;
  int64_t collective = 1; ///< before which it happens, from 1
  bool isInSave = false;  ///< counts the collectives of saves alone
};

/// What rank 0 called.
struct CollectiveCount {
  std::atomic<int64_t> all{0};
  std::atomic<int64_t> inSaves{0};
};

/// The communicator of a rank with the fault in it, where it is that rank's. `count` outlives it.
std::unique_ptr<Communicator> makeFaulty(std::unique_ptr<Communicator> inner, const Fault &fault,
                                         CollectiveCount &count);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFTTRIALS_FAULTYRANK_H
