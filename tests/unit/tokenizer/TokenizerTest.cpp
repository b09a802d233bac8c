//===- TokenizerTest.cpp - The tokenizer contract, held by each kind ------===//
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/config/Config.h"
#include "runtime/tokenizer/StreamingDecoder.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

std::string allBytes() {
  std::string text;
  for (int i = 0; i < 256; ++i)
    text.push_back(static_cast<char>(i));
  return text;
}

std::unique_ptr<Tokenizer> bytesTokenizer() { return std::move(createTokenizer(TokenizerConfig())).value(); }

TEST(BytesTokenizer, IdsAreTheBytesAnd256EndsADocument) {
  auto tokenizer = bytesTokenizer();
  std::vector<int32_t> ids = {7};
  EXPECT_TRUE(tokenizer->encode("a\xff", {}, ids, *tokenizer->makeScratch()).ok());
  EXPECT_EQ(ids, (std::vector<int32_t>{7, 97, 255}));
  EXPECT_EQ(tokenizer->vocabularySize(), 257);
  EXPECT_EQ(tokenizer->endOfDocument(), 256);
  EXPECT_EQ(tokenizer->kind(), "bytes");
}

TEST(BytesTokenizer, AnyBytesRoundTrip) {
  auto tokenizer = bytesTokenizer();
  EXPECT_EQ(*tokenizer->decode(*tokenizer->encode(allBytes())), allBytes());
}

TEST(BytesTokenizer, EndOfDocumentDecodesToNothing) {
  EXPECT_EQ(*bytesTokenizer()->decode(std::vector<int32_t>{104, 256, 105}), "hi");
}

TEST(BytesTokenizer, AnIdOutsideOfTheVocabularyIsNamed) {
  auto text = bytesTokenizer()->decode(std::vector<int32_t>{1, 257});
  EXPECT_EQ(text.status().message(), "token 1 of 2: id 257 is outside of the vocabulary of 257 ids");
  EXPECT_FALSE(bytesTokenizer()->bytesOf(-1).ok());
}

TEST(BytesTokenizer, EveryPrefixMayBeEncodedAlone) {
  EXPECT_EQ(bytesTokenizer()->independentPrefix("abc"), 3u);
}

TEST(Tokenizer, BlobGivesAnEqualTokenizer) {
  auto tokenizer = bytesTokenizer();
  auto loaded = loadTokenizer(tokenizer->serialize());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ((*loaded)->checksum(), tokenizer->checksum());
  EXPECT_EQ((*loaded)->kind(), "bytes");
}

TEST(Tokenizer, BrokenBlobsAreRefused) {
  EXPECT_EQ(loadTokenizer("nonsense").status().message(),
            "tokenizer: the blob does not begin with a line \"weft-tokenizer 1 KIND\"");
  EXPECT_EQ(loadTokenizer("weft-tokenizer 2 bytes\n").status().message(),
            "tokenizer: blob of version \"2\", this program reads version 1");
  EXPECT_EQ(loadTokenizer("weft-tokenizer 1 bytes\nabc").status().message(),
            "tokenizer: a blob of kind bytes carries 3 bytes of payload that this kind does not have");
  EXPECT_EQ(loadTokenizer("weft-tokenizer 1 bpe\n").status().message(),
            "tokenizer: a blob of kind \"bpe\". Known: bytes, file.");
}

TEST(StreamingDecoder, HoldsBackUnfinishedCharacters) {
  auto tokenizer = bytesTokenizer();
  StreamingDecoder decoder(*tokenizer);
  std::vector<std::string> pieces;
  for (unsigned char byte : std::string("a\xC3\xA9\xF0\x9F\x99\x82"))
    pieces.push_back(*decoder.feed(byte));
  EXPECT_EQ(pieces, (std::vector<std::string>{"a", "", "\xC3\xA9", "", "", "", "\xF0\x9F\x99\x82"}));
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamingDecoder, JoinedPiecesAreTheDecodedTextWhateverTheBytes) {
  auto tokenizer = bytesTokenizer();
  uint32_t state = 1;
  for (int round = 0; round < 200; ++round) {
    std::vector<int32_t> ids;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525u + 1013904223u;
      ids.push_back(static_cast<int32_t>(0x80 + (state >> 25)));
    }
    StreamingDecoder decoder(*tokenizer);
    std::string text;
    for (int32_t id : ids)
      text += *decoder.feed(id);
    text += decoder.finish();
    EXPECT_EQ(text, *tokenizer->decode(ids));
  }
}

TEST(StreamingDecoder, BytesThatCannotBeACharacterAreNotHeldBack) {
  auto tokenizer = bytesTokenizer();
  StreamingDecoder decoder(*tokenizer);
  EXPECT_EQ(*decoder.feed(0xFF), "\xFF");
  EXPECT_EQ(*decoder.feed(0xE2), "");
  EXPECT_EQ(*decoder.feed('x'), "\xE2x");
  EXPECT_FALSE(decoder.feed(300).ok());
}

TEST(StreamingDecoder, FinishGivesTheHeldBackBytes) {
  auto tokenizer = bytesTokenizer();
  StreamingDecoder decoder(*tokenizer);
  EXPECT_EQ(*decoder.feed(0xE2), "");
  EXPECT_EQ(decoder.finish(), "\xE2");
}

} // namespace
} // namespace weft
