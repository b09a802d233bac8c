//===- FileError.h - What a failed system call says -----------------------===//
//
// One place turns errno into a status: the file, what was tried, the system's reason, and for those causes
// that a person can cure, the cure.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_FILEERROR_H
#define WEFT_RUNTIME_DATA_FILEERROR_H

#include "absl/status/status.h"

#include <string>

namespace weft {

/// `FILE: cannot ACTION: REASON`, from errno value `error`.
absl::Status fileError(const std::string &file, const std::string &action, int error);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_FILEERROR_H
