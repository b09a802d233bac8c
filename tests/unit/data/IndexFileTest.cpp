//===- IndexFileTest.cpp - The .idx format, byte by byte, and what is refused ===//
#include "runtime/data/IndexFile.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

std::vector<std::byte> bytesOf(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values)
    bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

/// Two documents of u16 tokens: sequences of 3 and 1 tokens, then one of 2. The .bin has 12 bytes.
std::vector<std::byte> sample() {
  return indexBytes(TokenType::U16, std::vector<int32_t>{3, 1, 2}, std::vector<int64_t>{0, 2});
}

template <typename T> std::vector<std::byte> patched(size_t offset, T value) {
  std::vector<std::byte> bytes = sample();
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
  return bytes;
}

std::string error(std::span<const std::byte> bytes, int64_t binBytes = 12) {
  return std::string(parseIndex(bytes, binBytes, "a.idx").status().message());
}

// Offsets in sample(): 34 lengths (3 x 4), 46 pointers (3 x 8), 70 document indices (3 x 8), 94 end.

TEST(IndexFile, HasMegatronsLayout) {
  std::vector<std::byte> bytes =
      indexBytes(TokenType::U16, std::vector<int32_t>{3, 1}, std::vector<int64_t>{0, 1});
  EXPECT_EQ(bytes,
            bytesOf({'M', 'M', 'I', 'D', 'I', 'D', 'X', 0, 0,                      // magic
                     1,   0,   0,   0,   0,   0,   0,   0,                         // version
                     8,                                                            // u16
                     2,   0,   0,   0,   0,   0,   0,   0,                         // sequences
                     3,   0,   0,   0,   0,   0,   0,   0,                         // document indices
                     3,   0,   0,   0,   1,   0,   0,   0,                         // lengths
                     0,   0,   0,   0,   0,   0,   0,   0, 6, 0, 0, 0, 0, 0, 0, 0, // pointers
                     0,   0,   0,   0,   0,   0,   0,   0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, // documents
                     0,   0,   0}));
}

TEST(IndexFile, ReadsBackWhatItWrote) {
  std::vector<std::byte> bytes = sample();
  auto view = parseIndex(bytes, 12, "a.idx");
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->tokenType(), TokenType::U16);
  EXPECT_EQ(view->sequences(), 3);
  EXPECT_EQ(view->documents(), 2);
  EXPECT_EQ(view->tokens(), 6);
  EXPECT_EQ(view->sequenceLength(1), 1);
  EXPECT_EQ(view->sequenceStart(2), 4);
  EXPECT_EQ(view->documentBegin(1), 2);
}

TEST(IndexFile, FindsTheDocumentOfAToken) {
  std::vector<std::byte> bytes = sample();
  auto view = parseIndex(bytes, 12, "a.idx");
  std::vector<int64_t> documents;
  for (int64_t token = 0; token < 6; ++token)
    documents.push_back(view->documentOfToken(token));
  EXPECT_EQ(documents, (std::vector<int64_t>{0, 0, 0, 0, 1, 1}));
}

TEST(IndexFile, AnEmptyDatasetIsWellFormed) {
  auto bytes = indexBytes(TokenType::U16, {}, {});
  auto view = parseIndex(bytes, 0, "a.idx");
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->documents(), 0);
  EXPECT_EQ(view->tokens(), 0);
}

TEST(IndexFile, EveryTruncationIsRefused) {
  std::vector<std::byte> bytes = sample();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(parseIndex(std::span(bytes).first(size), 12, "a.idx").ok()) << size;
}

TEST(IndexFile, HeaderErrors) {
  EXPECT_EQ(error(bytesOf({1, 2, 3})),
            "a.idx: is not an index file: it does not begin with MMIDIDX. Make one with "
            "`weft data prepare`.");
  std::vector<std::byte> bytes = sample();
  EXPECT_EQ(error(std::span(bytes).first(20)),
            "a.idx: truncated: 20 bytes, the header alone has 34. Prepare the data again.");
  EXPECT_EQ(error(patched<uint64_t>(9, 2)), "a.idx: index version 2, this program reads version 1");
  EXPECT_EQ(error(patched<uint8_t>(17, 7)),
            "a.idx: token type code 7 is not an integer type. Known: 1 u8, 2 i8, 3 "
            "i16, 4 i32, 5 i64, 8 u16.");
}

TEST(IndexFile, SizeErrors) {
  std::vector<std::byte> bytes = sample();
  EXPECT_EQ(error(std::span(bytes).first(90)), "a.idx: truncated: 90 bytes are too few for 3 sequences and 3 "
                                               "document indices. Prepare the data again.");
  EXPECT_EQ(error(patched<uint64_t>(18, uint64_t{1} << 62)),
            "a.idx: truncated: 94 bytes are too few for 4611686018427387904 sequences and 3 document "
            "indices. Prepare "
            "the data again.");
  bytes.resize(95);
  EXPECT_EQ(error(bytes),
            "a.idx: 1 bytes too many for 3 sequences and 3 document indices. Prepare the data again.");
  bytes.resize(97);
  EXPECT_EQ(error(bytes),
            "a.idx: a multimodal index: it has a mode for each of its sequences, and only text is read");
  std::vector<std::byte> none = indexBytes(TokenType::U16, {}, {});
  none.resize(34);
  none[26] = std::byte{0};
  EXPECT_EQ(error(none), "a.idx: no document indices: at least the 0 is missing");
}

TEST(IndexFile, SequenceErrors) {
  EXPECT_EQ(error(patched<int32_t>(34, -3)), "a.idx: sequence 0 has length -3");
  EXPECT_EQ(error(patched<int64_t>(54, 4)),
            "a.idx: sequence 1 begins at byte 4, the one before ends at byte 6: they overlap");
  EXPECT_EQ(error(patched<int64_t>(54, 8)),
            "a.idx: sequence 1 begins at byte 8, the one before ends at byte 6: they leave a gap");
  EXPECT_EQ(error(sample(), 11),
            "a.idx: sequence 2 ends at byte 12 of a.bin, which has 11 bytes. Prepare the data again.");
  EXPECT_EQ(error(sample(), 14),
            "a.idx: describes 12 bytes of a.bin, which has 14: the two do not belong together. "
            "Prepare the data again.");
}

TEST(IndexFile, DocumentErrors) {
  EXPECT_EQ(error(patched<int64_t>(70, 1)), "a.idx: document index 0 is 1: they must ascend from 0 to 3");
  EXPECT_EQ(error(patched<int64_t>(78, -1)), "a.idx: document index 1 is -1: they must ascend from 0 to 3");
  EXPECT_EQ(error(patched<int64_t>(78, 4)), "a.idx: document index 1 is 4: they must ascend from 0 to 3");
  EXPECT_EQ(error(patched<int64_t>(86, 2)), "a.idx: document index 2 is 2: they must ascend from 0 to 3");
}

TEST(IndexFile, TokenTypesFollowTheVocabulary) {
  EXPECT_EQ(tokenTypeFor(257), TokenType::U16);
  EXPECT_EQ(tokenTypeFor(65499), TokenType::U16);
  EXPECT_EQ(tokenTypeFor(65500), TokenType::I32);
  EXPECT_EQ(name(TokenType::U16), "u16");
}

} // namespace
} // namespace weft
