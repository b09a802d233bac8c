//===- IrCorpusTest.cpp - The IR fuzzer's corpus, and what it grows into ----===//
//
// Every text of tests/fuzz/ir/corpus is exercised as it is, and in some thousand changed forms: no text,
// however odd, may do more than be refused.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/ir/ExerciseIr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace weft::testing {
namespace {
std::map<std::string, std::string> corpus() {
  std::map<std::string, std::string> texts;
  for (const auto &entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/tests/fuzz/ir/corpus")) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    texts[entry.path().filename()] = text.str();
  }
  return texts;
}

TEST(IrCorpus, ValidProgramsBecomeExecutables) {
  int valid = 0;
  for (const auto &[name, text] : corpus()) {
    SCOPED_TRACE(name);
    Reached reached = exerciseIr(text);
    if (name.starts_with("valid_")) {
      EXPECT_EQ(reached, Reached::Emitted);
      ++valid;
    }
  }
  EXPECT_GE(valid, 4);
}

/// WEFT_IR_MUTATIONS sets how many changed texts there are (400 unless set), WEFT_IR_SEED their first seed;
/// the text at hand is left in WEFT_IR_LAST, if that names a file.
TEST(IrCorpus, ChangedProgramsAreRefusedOrCompiled) {
  const char *count = std::getenv("WEFT_IR_MUTATIONS"), *first = std::getenv("WEFT_IR_SEED"),
             *last = std::getenv("WEFT_IR_LAST");
  std::map<Reached, int> reached;
  std::map<std::string, std::string> texts = corpus();
  uint64_t seed = first ? std::strtoull(first, nullptr, 10) : 1;
  for (int index = 0, end = count ? std::atoi(count) : 400; index < end; ++index) {
    auto text = std::next(texts.begin(), index % static_cast<int>(texts.size()));
    std::string changed = mutateIr(text->second, seed++);
    if (last)
      std::ofstream(last) << changed;
    ++reached[exerciseIr(changed)];
  }
  EXPECT_GT(reached[Reached::Nothing], 0);
  EXPECT_GT(reached[Reached::Emitted], 0);
}
} // namespace
} // namespace weft::testing
