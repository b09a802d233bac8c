//===- DocumentLengthsTest.cpp - How long documents are -------------------===//
#include "runtime/data/DocumentLengths.h"

#include <gtest/gtest.h>

#include <numeric>

namespace weft {
namespace {

DocumentLengths measure(const std::vector<int32_t> &sequences, const std::vector<int64_t> &begins) {
  auto bytes = indexBytes(TokenType::U16, sequences, begins);
  int64_t tokens = std::accumulate(sequences.begin(), sequences.end(), int64_t{0});
  auto view = parseIndex(bytes, 2 * tokens, "d.idx");
  EXPECT_TRUE(view.ok()) << view.status();
  return measureDocuments(*view);
}

TEST(DocumentLengths, CountsByPowersOfTwo) {
  // Documents of 3, 4, 7, 16 + 4 and 3 tokens: the fourth is two sequences.
  DocumentLengths lengths = measure({3, 4, 7, 16, 4, 3}, {0, 1, 2, 3, 5});
  EXPECT_EQ(lengths.documents, 5);
  EXPECT_EQ(lengths.shortest, 3);
  EXPECT_EQ(lengths.median, 4);
  EXPECT_EQ(lengths.percentile90, 20);
  EXPECT_EQ(lengths.longest, 20);
  EXPECT_DOUBLE_EQ(lengths.mean, 37.0 / 5);
  ASSERT_EQ(lengths.histogram.size(), 4u);
  std::vector<std::vector<int64_t>> rows;
  for (const DocumentLengths::Bucket &bucket : lengths.histogram)
    rows.push_back({bucket.from, bucket.to, bucket.documents, bucket.tokens});
  EXPECT_EQ(rows,
            (std::vector<std::vector<int64_t>>{{2, 4, 2, 6}, {4, 8, 2, 11}, {8, 16, 0, 0}, {16, 32, 1, 20}}));
}

TEST(DocumentLengths, EmptyDocumentsHaveABucket) {
  DocumentLengths lengths = measure({1}, {0, 0});
  EXPECT_EQ(lengths.shortest, 0);
  EXPECT_EQ(lengths.histogram.front().to, 1);
  EXPECT_EQ(lengths.histogram.front().documents, 1);
  EXPECT_EQ(measure({}, {}).documents, 0);
}

} // namespace
} // namespace weft
