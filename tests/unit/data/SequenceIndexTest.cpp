//===- SequenceIndexTest.cpp - Sequences and documents of a dataset -------===//
#include "runtime/data/SequenceIndex.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(SequenceIndex, TokensMayComeInAnyPortions) {
  SequenceIndex one(4);
  one.addTokens(10);
  one.endDocument();
  one.addTokens(4);
  one.endDocument();
  SequenceIndex other(4);
  for (int64_t count : {3, 1, 6})
    other.addTokens(count);
  other.endDocument();
  other.endDocument();
  other.add(std::vector<int64_t>{4}, 0);
  EXPECT_EQ(one.bytes(TokenType::U16), other.bytes(TokenType::U16));
  EXPECT_EQ(one.tokens(), 14);
  EXPECT_EQ(one.documents(), 2);
}

TEST(SequenceIndex, ADocumentMayStayOpen) {
  SequenceIndex index;
  index.add(std::vector<int64_t>{5, 2}, 3);
  EXPECT_EQ(index.documents(), 3);
  index.add(std::vector<int64_t>{1}, 0);
  EXPECT_EQ(index.documents(), 3);
  EXPECT_EQ(index.tokens(), 11);
  auto bytes = index.bytes(TokenType::I32);
  auto view = parseIndex(bytes, 11 * 4, "d.idx");
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->sequenceLength(2), 4);
}

} // namespace
} // namespace weft
