//===- Compile.h - From a config to an executable ------------------------------===//
#ifndef WEFT_COMPILER_COMPILE_H
#define WEFT_COMPILER_COMPILE_H

#include "compiler/PhaseCosts.h"
#include "passes/memory/MemoryReport.h"
#include "passes/pipeline/schedules/Timeline.h"
#include "runtime/config/Config.h"
#include "runtime/executable/MemoryLimits.h"

#include "absl/status/statusor.h"

#include <map>
#include <string>
#include <vector>

namespace weft {

struct CompileOptions {
  Target target;              ///< the instruction set is the one in use in this process
  std::string printAfter;     ///< a phase whose result is printed; empty for none
  std::string reproducerPath; ///< where a failing pass leaves its input; empty for nowhere
  bool explainPlacement = false;
  std::vector<std::string>
      drawn; ///< shell patterns of what the picture of placements shows; empty: none is made
  PhaseClock *clock = nullptr; ///< told when a phase ends
  int64_t verifiedRanks = 20;  ///< whose command lists are held against each other
  int64_t tokenizerIds = 0;    ///< that the model must know at least
};

/// How often each composite became a kernel, and how often its decomposition.
struct CompositeCount {
  int64_t kernels = 0, decompositions = 0;
};

struct Compiled {
  std::vector<Executable> parts;    ///< one for each pipeline rank; one without a pipeline
  std::vector<MemoryReport> memory; ///< of each part
  std::map<std::string, CompositeCount> composites;
  std::map<std::string, int64_t> apart; ///< why element-wise ops are not in one region, and how often
  int64_t rematerializedLaunches = 0;   ///< of values that are computed again where they are read next
  int64_t rematerializedBytes = 0;      ///< by which that lowers the peak of values of one action, at most
  std::string placement;                ///< the table of --explain placement, if it was asked for
  std::string picture;                  ///< the SVG file of --draw, if it was asked for
  std::string schedule;                 ///< of the pipeline, as people write it; empty without one
  schedules::ActionTimes times;         ///< that it was made with: floating-point operations
  int64_t verifiedRanks = 0,
          verifiedCalls = 0; ///< whose command lists meet, and how many calls those have
};

/// Compiles the programs of a job. InvalidArgument, with the
/// compiler's diagnostics, when the program cannot be compiled. The memory limit is not looked at: see
/// checkMemoryLimit.
absl::StatusOr<Compiled> compileJob(const Config &config, const std::string &resolvedConfig,
                                    const CompileOptions &options);

/// OK, or ResourceExhausted with the table and the three changes that save most, each compiled to know its
/// bytes.
absl::Status checkMemoryLimit(const Config &config, const Compiled &compiled, const MemoryLimits &limits);

/// The tables of --explain memory, communication (of the program `step`) and fusion.
std::string explainMemory(const Compiled &compiled);
std::string explainCommunication(const Compiled &compiled);
std::string explainFusion(const Compiled &compiled);

} // namespace weft

#endif // WEFT_COMPILER_COMPILE_H
