//===- BytePairEncodingTest.cpp - Ids are those that the rule gives -------===//
//
// The judge of every way to encode is the rule itself, written down in the most plain way: look at all
// neighbors, merge the first of the lowest rank, begin again.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/BytePairEncoding.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace weft {
namespace {

using Ids = std::vector<int32_t>;

std::vector<std::string> bytesAnd(const std::vector<std::string> &more) {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.emplace_back(1, static_cast<char>(byte));
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

Ids encode(const BytePairEncoding &encoding, std::string_view piece) {
  Ids ids;
  BytePairEncoding::Scratch scratch;
  encoding.encode(piece, ids, scratch);
  return ids;
}

/// The rule for a list of ranked tokens.
Ids encodePlainly(const std::map<std::string, int32_t> &ranks, const std::string &piece) {
  if (const auto whole = ranks.find(piece); whole != ranks.end())
    return {whole->second};
  std::vector<std::string> parts;
  for (char byte : piece)
    parts.emplace_back(1, byte);
  while (true) {
    size_t best = parts.size();
    int32_t lowest = INT32_MAX;
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      if (const auto found = ranks.find(parts[i] + parts[i + 1]);
          found != ranks.end() && found->second < lowest) {
        lowest = found->second;
        best = i;
      }
    if (best == parts.size())
      break;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  Ids ids;
  for (const std::string &part : parts)
    ids.push_back(ranks.at(part));
  return ids;
}

/// A vocabulary over few letters: each token joins two that exist, or, where `isWild`, is any string.
std::vector<std::string> randomTokens(std::mt19937 &random, bool isWild) {
  const std::string letters = "abc";
  std::vector<std::string> tokens;
  std::set<std::string> seen;
  std::vector<std::string> parts = {"a", "b", "c"};
  while (tokens.size() < 24) {
    std::string token = parts[random() % parts.size()] + parts[random() % parts.size()];
    if (isWild) {
      token.clear();
      for (size_t i = 0, length = 2 + random() % 5; i < length; ++i)
        token += letters[random() % letters.size()];
    }
    if (token.size() > 12 || !seen.insert(token).second)
      continue;
    parts.push_back(token);
    tokens.push_back(token);
  }
  return tokens;
}

std::string randomPiece(std::mt19937 &random, size_t longest) {
  std::string piece;
  for (size_t i = 0, length = 1 + random() % longest; i < length; ++i)
    piece += "aaabbcd"[random() % 7];
  return piece;
}

TEST(BytePairEncoding, TheLowestRankMergesFirstAndOfEqualOnesTheLeftmost) {
  auto encoding = BytePairEncoding::createFromRanks(bytesAnd({"ab", "bc", "aa"}));
  ASSERT_TRUE(encoding.ok());
  EXPECT_EQ(encode(*encoding, "xabc"), (Ids{'x', 256, 'c'}));
  EXPECT_EQ(encode(*encoding, "xaaa"), (Ids{'x', 258, 'a'}));
}

TEST(BytePairEncoding, RanksGiveWhatTheRuleGivesForPiecesOfAllLengths) {
  std::mt19937 random(1);
  for (bool isWild : {false, true}) {
    for (int round = 0; round < 150; ++round) {
      const std::vector<std::string> tokens = bytesAnd(randomTokens(random, isWild));
      std::map<std::string, int32_t> ranks;
      for (const std::string &token : tokens)
        ranks.emplace(token, static_cast<int32_t>(ranks.size()));
      // The map sorts; the rank is the place in the list.
      for (size_t i = 0; i < tokens.size(); ++i)
        ranks[tokens[i]] = static_cast<int32_t>(i);
      auto encoding = BytePairEncoding::createFromRanks(tokens);
      ASSERT_TRUE(encoding.ok()) << encoding.status();
      BytePairEncoding::Scratch scratch;
      for (size_t longest : {8, 8, 15, 30, 30, 90, 90, 300}) {
        const std::string piece = randomPiece(random, longest);
        Ids ids;
        encoding->encode(piece, ids, scratch);
        ASSERT_EQ(ids, encodePlainly(ranks, piece)) << piece << (isWild ? ", wild" : "");
        encoding->encode(piece, ids, scratch);
        ASSERT_EQ(ids.size() % 2, 0u) << "the second time something else came: " << piece;
      }
    }
  }
}

TEST(BytePairEncoding, AListOfMergesMergesNothingElse) {
  // "bc" is a token, but nothing says that b and c merge.
  auto encoding =
      BytePairEncoding::create(bytesAnd({"bc", "ab", "abc"}), {{'a', 'b', 257}, {257, 'c', 258}}, {});
  ASSERT_TRUE(encoding.ok());
  EXPECT_EQ(encode(*encoding, "abc"), (Ids{258}));
  EXPECT_EQ(encode(*encoding, "bc"), (Ids{'b', 'c'}));
  BytePairEncoding::Options whole;
  whole.ignoreMerges = true;
  auto ignoring =
      BytePairEncoding::create(bytesAnd({"bc", "ab", "abc"}), {{'a', 'b', 257}, {257, 'c', 258}}, whole);
  EXPECT_EQ(encode(*ignoring, "bc"), (Ids{256}));
  EXPECT_EQ(encode(*ignoring, "xbc"), (Ids{'x', 'b', 'c'}));
}

TEST(BytePairEncoding, OfTwoMergesOfOnePairTheLastCounts) {
  // The first a b would come before b c; the one that counts comes after.
  auto encoding = BytePairEncoding::create(bytesAnd({"ab", "bc"}),
                                           {{'a', 'b', 256}, {'b', 'c', 257}, {'a', 'b', 256}}, {});
  ASSERT_TRUE(encoding.ok());
  EXPECT_EQ(encode(*encoding, "abc"), (Ids{'a', 257}));
}

TEST(BytePairEncoding, CharactersWithoutATokenFallBackToBytesOrAreUnknown) {
  BytePairEncoding::Options options;
  options.symbols = BytePairEncoding::Symbols::Characters;
  const std::vector<std::string> tokens = {"<unk>",   "a",      "b",      "ab",    "\u00E9",
                                           "a\u00E9", "<0xE2>", "<0x82>", "<0xAC>"};
  const std::vector<BytePairEncoding::Merge> merges = {{1, 2, 3}, {1, 4, 5}};
  EXPECT_EQ(encode(*BytePairEncoding::create(tokens, merges, options), "a\u20ACb"), (Ids{3})); // left out
  options.unknown = 0;
  EXPECT_EQ(encode(*BytePairEncoding::create(tokens, merges, options), "a\u00E9\u20AC\u20ACb"),
            (Ids{5, 0, 0, 2}));
  options.fuseUnknown = true;
  EXPECT_EQ(encode(*BytePairEncoding::create(tokens, merges, options), "a\u00E9\u20AC\u20ACb"),
            (Ids{5, 0, 2}));
  options.byteFallback = true;
  auto fallback = BytePairEncoding::create(tokens, merges, options);
  EXPECT_EQ(encode(*fallback, "a\u20ACab"), (Ids{1, 6, 7, 8, 3}));
  EXPECT_EQ(encode(*fallback, "a\u20ADb"), (Ids{1, 0, 2})); // not all of its bytes have a token
}

TEST(BytePairEncoding, AScratchOfAnotherVocabularyRemembersNothingOfIt) {
  auto one = BytePairEncoding::createFromRanks(bytesAnd({"ab"}));
  auto other = BytePairEncoding::createFromRanks(bytesAnd({"bc"}));
  BytePairEncoding::Scratch scratch;
  Ids ids;
  one->encode("abc", ids, scratch);
  other->encode("abc", ids, scratch);
  one->encode("abc", ids, scratch);
  EXPECT_EQ(ids, (Ids{256, 'c', 'a', 256, 256, 'c'}));
}

TEST(BytePairEncoding, AMillionEqualBytesAreEncoded) {
  auto encoding = BytePairEncoding::createFromRanks(bytesAnd({"aa", "aaaa", "aaaaaaaa"}));
  const Ids ids = encode(*encoding, std::string(1000001, 'a'));
  EXPECT_EQ(ids.size(), 125001u);
  EXPECT_EQ(ids.back(), 'a');
  // A token of a lower rank than its parts: these are merged by the queue.
  auto wild = BytePairEncoding::createFromRanks(bytesAnd({"aaaa", "aa"}));
  EXPECT_EQ(encode(*wild, std::string(1000000, 'a')).size(), 250000u);
}

/// Else a text that is given piece by piece takes time for all ids before with each piece.
TEST(BytePairEncoding, APieceNeedsRoomForItsOwnIdsAlone) {
  auto encoding = BytePairEncoding::createFromRanks(bytesAnd({"ab"}));
  BytePairEncoding::Scratch scratch;
  constexpr size_t before = 100000, room = 16;
  for (const std::string &piece : {std::string("ab"), std::string("a piece of it 16")}) {
    Ids ids;
    ids.reserve(before + room);
    ids.resize(before);
    const int32_t *place = ids.data();
    encoding->encode(piece, ids, scratch);
    EXPECT_EQ(ids.data(), place) << piece;
    EXPECT_EQ(ids.capacity(), before + room) << piece;
  }
}

TEST(BytePairEncoding, BadVocabulariesAreNamed) {
  EXPECT_EQ(BytePairEncoding::createFromRanks({"a", "b"}).status().message(),
            "no token for the byte 0x00: all 256 single bytes must be tokens");
  EXPECT_EQ(BytePairEncoding::createFromRanks(bytesAnd({"ab", "ab"})).status().message(),
            "tokens 256 and 257 are both \"ab\"");
  EXPECT_EQ(BytePairEncoding::create({"a", "b", "ab"}, {{0, 3, 2}}, {}).status().message(),
            "merge 0: id 3 is outside of the vocabulary of 3 ids");
  EXPECT_EQ(BytePairEncoding::create({"a", "b", "ab"}, {{1, 0, 2}}, {}).status().message(),
            "merge 0: \"b\" and \"a\" do not make \"ab\"");
}

} // namespace
} // namespace weft
