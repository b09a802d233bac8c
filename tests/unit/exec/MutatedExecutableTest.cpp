// The fuzzer's target on a fixed set of mutations of the sample: part of every test run.
#include "runtime/executable/ExecutableFile.h"
#include "tests/fuzz/executable/ExerciseExecutable.h"
#include "tests/unit/executable/SampleExecutable.h"
#include "tests/unit/executable/SampleGenerated.h"
#include "tests/unit/executable/SampleInFlight.h"
#include "tests/unit/executable/SampleMeshExecutable.h"
#include "tests/unit/executable/SampleParts.h"
#include "tests/unit/object/TestObjects.h"

#include <gtest/gtest.h>

#include <iterator>
#include <random>

namespace weft::testing {
namespace {

TEST(MutatedExecutable, TheSampleItselfRuns) {
  EXPECT_EQ(exerciseExecutable(repairExecutable(*serializeExecutables({sampleExecutable()}))),
            Exercised::Ran);
}

void mutate(const std::vector<Executable> &parts) {
  std::string bytes = *serializeExecutables(parts);
  std::mt19937_64 random(1);
  constexpr uint8_t kInteresting[] = {0, 1, 2, 64, 127, 128, 255};
  int counts[3] = {};
  for (int i = 0; i < 4000; ++i) {
    std::string mutated = bytes;
    for (uint64_t edits = 1 + random() % 3; edits > 0; --edits)
      mutated[random() % mutated.size()] =
          static_cast<char>(kInteresting[random() % std::size(kInteresting)]);
    ++counts[static_cast<int>(exerciseExecutable(repairExecutable(mutated)))];
  }
  EXPECT_GT(counts[static_cast<int>(Exercised::Refused)], 100);
  EXPECT_GT(counts[static_cast<int>(Exercised::Ran)], 100);
}

TEST(MutatedExecutable, IsRefusedOrStaysInsideItsPlan) { mutate({sampleExecutable()}); }

TEST(MutatedExecutable, WithValuesInFlightIsRefusedOrStaysInsideItsPlan) { mutate({sampleInFlight()}); }

TEST(MutatedExecutable, OfAMeshIsRefusedOrRunsOnAllOfItsRanks) {
  EXPECT_EQ(exerciseExecutable(*serializeExecutables({sampleMeshExecutable()})), Exercised::Ran);
  EXPECT_EQ(exerciseExecutable(*serializeExecutables({sampleMeshExecutable(4, 4)})), Exercised::Loaded);
  mutate({sampleMeshExecutable()});
}

TEST(MutatedExecutable, OfSeveralPartsIsRefusedOrRunsOnAllOfItsRanks) {
  EXPECT_EQ(exerciseExecutable(*serializeExecutables(sampleParts())), Exercised::Ran);
  mutate(sampleParts());
}

TEST(MutatedExecutable, WithAnObjectIsRefusedOrStaysInsideItsPlan) {
  mutate({sampleGenerated(objectBytes("kernels"))});
}

/// FlatBuffers' own verifier lets lists of 8-byte elements start anywhere; reading them there would be
/// undefined.
TEST(MutatedExecutable, AListMovedOffItsAlignmentIsRefused) {
  std::string bytes = *serializeExecutables({sampleExecutable()});
  int misaligned = 0;
  for (size_t at = 128; at + 4 <= bytes.size(); at += 4) {
    std::string mutated = bytes;
    mutated[at] = static_cast<char>(mutated[at] + 4);
    mutated = repairExecutable(mutated);
    exerciseExecutable(mutated);
    misaligned +=
        parseExecutables(mutated, "a.weft").status().message() ==
        "a.weft: a list in its structure is not aligned. Write it again: weft compile RUN.yaml -o a.weft";
  }
  EXPECT_GT(misaligned, 0);
}

} // namespace
} // namespace weft::testing
