//===- ReplayCorpus.cpp - A fuzzer's corpus, as a test ------------------------===//
//
// Gives every file of the folders on the command line to a fuzz target, once each, without libFuzzer: what
// the fuzzer has found interesting stays tested in every build. A folder that is missing or empty is an
// error.
//
//===----------------------------------------------------------------------===//
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  int replayed = 0;
  for (int index = 1; index < argc; ++index) {
    std::error_code error;
    int before = replayed;
    for (const auto &entry : std::filesystem::directory_iterator(argv[index], error)) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()), text.size());
      ++replayed;
    }
    if (error || replayed == before) {
      std::fprintf(stderr, "%s: no corpus there\n", argv[index]);
      return 1;
    }
  }
  std::printf("%d inputs replayed\n", replayed);
  return replayed == 0;
}
