// Philox 4x32-10 against the known answers of the Random123 distribution, and the key against the xxHash
// library.
#include "kernels/common/Philox.h"

#include "gtest/gtest.h"

#include <random>
#include <set>
#include <xxhash.h>

namespace weft {
namespace {

TEST(Philox, GivesTheKnownAnswersOfRandom123) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, 0), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, ~uint64_t{0}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822u),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, CountsBlocksInTheLowHalfOfTheCounterAndSamplesInTheHighHalf) {
  EXPECT_EQ(philoxBlock(7, 0x1122334455667788u, 0x99aabbccddeeff00u),
            philox4x32({0xddeeff00, 0x99aabbcc, 0x55667788, 0x11223344}, 7));
}

TEST(PhiloxKey, IsXxh64OfSeedStepAndOp) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    uint64_t words[3] = {random(), random(), random()};
    ASSERT_EQ(philoxKey(words[0], words[1], words[2]), XXH64(words, sizeof(words), 0));
  }
  uint64_t zeros[3] = {};
  EXPECT_EQ(philoxKey(0, 0, 0), XXH64(zeros, sizeof(zeros), 0));
}

TEST(PhiloxKey, TellsSeedStepAndOpApart) {
  std::set<uint64_t> keys = {philoxKey(1, 0, 0), philoxKey(0, 1, 0), philoxKey(0, 0, 1), philoxKey(0, 0, 0)};
  EXPECT_EQ(keys.size(), 4u);
}

TEST(Uniform, CoversZeroToJustBelowOneOnAGridOfTwoToTheMinus24) {
  EXPECT_EQ(uniformFromBits(0), 0.0f);
  EXPECT_EQ(uniformFromBits(255), 0.0f);
  EXPECT_EQ(uniformFromBits(256), 0x1p-24f);
  EXPECT_EQ(uniformFromBits(~0u), 1.0f - 0x1p-24f);
}

} // namespace
} // namespace weft
