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

uint64_t numberOr(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// WEFT_IR_MUTATIONS sets how many changed texts there are (400 unless set), WEFT_IR_SEED the first one's
/// seed. The text at hand is left in the file that WEFT_IR_LAST names; WEFT_IR_ABORT ends the process at the
/// first.
TEST(IrCorpus, EveryChangedProgramReturns) {
  const char *last = std::getenv("WEFT_IR_LAST");
  std::map<Reached, int> reached;
  std::map<std::string, std::string> texts = corpus();
  const uint64_t count = numberOr("WEFT_IR_MUTATIONS", 400), first = numberOr("WEFT_IR_SEED", 1);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    auto text = std::next(texts.begin(), static_cast<std::ptrdiff_t>(seed % texts.size()));
    std::string changed = mutateIr(text->second, seed);
    if (last)
      std::ofstream(last) << changed;
    if (std::getenv("WEFT_IR_ABORT"))
      std::abort();
    ++reached[exerciseIr(changed)];
  }
  // Enough of the changes are small enough to come through, and some are not.
  if (count >= 100) {
    EXPECT_GT(reached[Reached::Nothing], 0);
    EXPECT_GT(reached[Reached::Emitted], 0);
  }
}
} // namespace
} // namespace weft::testing
