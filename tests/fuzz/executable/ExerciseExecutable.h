//===- ExerciseExecutable.h - Everything that is done to a file that is read ===//
//
// Repairs the checksums of arbitrary bytes (else no change would get past them), then reads, verifies, prints
// and writes them, and runs their programs on a device whose kernels touch every byte of their operands,
// results and workspace, in memory of exactly the planned size: under AddressSanitizer, a reference that
// verify() should have refused is found. A mesh of a few ranks is run by as many threads, with its real
// collectives.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_FUZZ_EXECUTABLE_EXERCISEEXECUTABLE_H
#define WEFT_TESTS_FUZZ_EXECUTABLE_EXERCISEEXECUTABLE_H

#include <string>
#include <string_view>

namespace weft::testing {

/// The same bytes with a header that fits them: magic, version, sizes and checksums.
std::string repairExecutable(std::string_view bytes);

enum class Exercised { Refused, Loaded, Ran };

/// Aborts when something that was read is written or read back differently.
Exercised exerciseExecutable(std::string_view bytes);

} // namespace weft::testing

#endif // WEFT_TESTS_FUZZ_EXECUTABLE_EXERCISEEXECUTABLE_H
