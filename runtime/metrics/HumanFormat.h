//===- HumanFormat.h - Numbers as people read them ------------------------===//
//
// Three significant digits for bytes, two units for durations, thousands separated: what the console line,
// progress lines and tables print. None depends on the locale.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_METRICS_HUMANFORMAT_H
#define WEFT_RUNTIME_METRICS_HUMANFORMAT_H

#include "runtime/support/FormatCount.h"

#include <cstdint>
#include <string>

namespace weft {

/// `512 B`, `1.21 GiB`, `212 MiB`: powers of 1024.
std::string formatBytes(int64_t bytes);

/// `0s`, `12s`, `1m12s`, `2h03m`, `1d04h`, rounded to the smaller unit shown; `?` when it is not known
/// (negative or not finite).
std::string formatDuration(double seconds);

} // namespace weft

#endif // WEFT_RUNTIME_METRICS_HUMANFORMAT_H
