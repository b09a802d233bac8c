//===- Banner.h - What a run says before its first step -------------------===//
//
// Two lines: what is trained and on what, and what it needs.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_BANNER_H
#define WEFT_RUNTIME_TRAIN_BANNER_H

#include "runtime/config/Config.h"
#include "runtime/exec/Executor.h"

#include <string>

namespace weft {

/// `weft 0.1.0   llama 10.7 M parameters   1 rank   float32   AVX2, 2 threads`
/// `threads` of each process, which is a rank where they are separate.
std::string bannerLine(const Config &config, const std::vector<Executable> &parts, int threads,
                       bool areSeparate);

/// How the ranks share the work: `1 rank`, `4 ranks: data 2 x tensor 2 (sequence parallel), zero 1`.
std::string describeRanks(const ParallelConfig &parallel);

/// `peak 212 MiB per rank (parameters 20.6, ...)`: of the part whose ranks need most, which is named where
/// there are several (`peak 212 MiB per rank on pipeline rank 0 (stages 0, 3) (parameters ...)`); no "per
/// rank" on one.
std::string peakText(const std::vector<Executable> &parts);

/// `compiled in 1.1 s   PEAK, allocated 889,192,448 of 889,192,448 bytes planned   machine 85.2 GFLOP/s`:
/// bytes on all ranks together. No "compiled" when `compileSeconds` is 0, no machine when `peakFlops` is.
std::string programLine(const std::string &peak, int64_t planned, int64_t allocated, double compileSeconds,
                        double peakFlops);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_BANNER_H
