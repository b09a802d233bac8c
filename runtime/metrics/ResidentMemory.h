//===- ResidentMemory.h - What this process holds in memory ---------------===//
//
// Anonymous and shared resident memory: what the memory plan answers for. Pages of mapped files are left out,
// for the kernel takes those back when it needs to.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_METRICS_RESIDENTMEMORY_H
#define WEFT_RUNTIME_METRICS_RESIDENTMEMORY_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <string_view>

namespace weft {

/// RssAnon + RssShmem of this process, in bytes. Allocates nothing unless it fails.
absl::StatusOr<int64_t> residentBytes();

/// The same from the text of a /proc/PID/status file.
absl::StatusOr<int64_t> residentBytesOf(std::string_view status);

} // namespace weft

#endif // WEFT_RUNTIME_METRICS_RESIDENTMEMORY_H
