//===- PhaseCosts.h - What each phase of a compilation took --------------------===//
//
// Time on the wall and of the processor, the ops there are when a phase ends, and the most memory that the
// process has had until then. --explain compilation prints it, benchmarks/run.sh compile holds it against its
// bounds.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_PHASECOSTS_H
#define WEFT_COMPILER_PHASECOSTS_H

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

struct PhaseCost {
  std::string phase;
  double seconds = 0;
  double processorSeconds = 0; ///< of all threads, user and system
  int64_t ops = 0;             ///< when it ended; 0: it leaves no program behind
  int64_t peakBytes = 0;       ///< resident, of the process until then
};

/// Runs from its construction; each phase lasts from the end of the one before.
class PhaseClock {
public:
  PhaseClock();
  void finish(std::string phase, int64_t ops = 0);
  const std::vector<PhaseCost> &costs() const { return finished; }

private:
  std::chrono::steady_clock::time_point begin;
  double processorBegin;
  std::vector<PhaseCost> finished;
};

/// The table of --explain compilation.
std::string explainCompilation(const std::vector<PhaseCost> &costs);

} // namespace weft

#endif // WEFT_COMPILER_PHASECOSTS_H
