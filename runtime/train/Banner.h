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
std::string bannerLine(const Config &config, const Executable &executable, int ranks);

/// `compiled in 1.1 s   peak 212 MiB (parameters 20.6, ...), allocated 222,298,112 of 222,298,112 bytes
/// planned   machine 85.2 GFLOP/s`. No "compiled" when `compileSeconds` is 0, no machine when `peakFlops` is.
std::string programLine(const Executor &executor, double compileSeconds, double peakFlops);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_BANNER_H
