// Fuzzes the parsers and verifiers of our dialects, and the passes on whatever verifies. Seeds: corpus.
#include "tests/fuzz/ir/ExerciseIr.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned int seed) {
  if (size == 0 || seed % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text = weft::testing::mutateIr({reinterpret_cast<const char *>(data), size}, seed);
  size_t length = std::min(text.size(), maxSize);
  std::memcpy(data, text.data(), length);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  weft::testing::exerciseIr({reinterpret_cast<const char *>(data), size});
  return 0;
}
