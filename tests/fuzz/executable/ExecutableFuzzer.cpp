// Fuzzes the reader of executables, verify(), and the executor. Seeds: tests/data/executable.
#include "tests/fuzz/executable/ExerciseExecutable.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  weft::testing::exerciseExecutable(bytes);
  weft::testing::exerciseExecutable(weft::testing::repairExecutable(bytes));
  return 0;
}
