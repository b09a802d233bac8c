//===- CorpusTest.cpp - What fuzzing has tried, tried again ---------------===//
//
// Runs the fuzzer's function, which aborts when loading breaks a promise, over its corpus.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/FileText.h"

#include "gtest/gtest.h"

#include <filesystem>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace weft {

TEST(FuzzCorpus, EveryInputKeepsThePromises) {
  int inputs = 0;
  for (const auto &entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/tests/fuzz/config/corpus")) {
    SCOPED_TRACE(entry.path());
    absl::StatusOr<std::string> text = readFileText(entry.path(), 1 << 20);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text->data()), text->size()), 0);
    ++inputs;
  }
  EXPECT_GE(inputs, 5);
}

} // namespace weft
