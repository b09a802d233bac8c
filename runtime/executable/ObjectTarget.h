//===- ObjectTarget.h - What generated kernels are compiled for -----------===//
//
// An object is for a level of x86-64 (System V ABI supplement, section 3.1), as LLVM and GCC name them; an
// executable for an instruction set, as devices name theirs. One table says what runs on which.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_OBJECTTARGET_H
#define WEFT_RUNTIME_EXECUTABLE_OBJECTTARGET_H

#include "absl/status/status.h"

#include <string>
#include <string_view>

namespace weft {

/// The highest level that an instruction set has, x86-64-v3 or x86-64-v4; empty when generated kernels do not
/// run on it.
std::string_view objectTarget(std::string_view instructionSet);

/// InvalidArgument, naming both, unless an object for `target` runs on the instruction set.
absl::Status checkObjectTarget(std::string_view target, std::string_view instructionSet);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_OBJECTTARGET_H
