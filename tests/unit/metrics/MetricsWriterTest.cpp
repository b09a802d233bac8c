//===- MetricsWriterTest.cpp - metrics.jsonl over kills and resumes -------===//
#include "runtime/metrics/MetricsWriter.h"

#include "SampleMetrics.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

std::string lines(std::initializer_list<int64_t> steps) {
  std::string text;
  for (int64_t step : steps)
    text += jsonLine(sampleMetrics(step));
  return text;
}

TEST(MetricsWriter, WritesALineAStep) {
  TestFolder folder;
  auto writer = MetricsWriter::open(folder.path("m.jsonl"), 0);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->append(sampleMetrics(1)).ok());
  EXPECT_EQ(folder.read("m.jsonl"), lines({1}));
  ASSERT_TRUE(writer->append(sampleMetrics(2)).ok());
  ASSERT_TRUE(writer->sync().ok());
  EXPECT_EQ(folder.read("m.jsonl"), lines({1, 2}));
}

TEST(MetricsWriter, ResumingCutsWhatFollowsTheStep) {
  TestFolder folder;
  std::string path = folder.write("m.jsonl", lines({1, 2, 4, 5}) + "{\"step\":6,\"lo");
  {
    auto writer = MetricsWriter::open(path, 3);
    ASSERT_TRUE(writer.ok()) << writer.status();
    EXPECT_EQ(contentsOf(path), lines({1, 2}));
    ASSERT_TRUE(writer->append(sampleMetrics(4)).ok());
  }
  EXPECT_EQ(contentsOf(path), lines({1, 2, 4}));
}

TEST(MetricsWriter, ATornLineIsCutEvenWhenAllStepsAreKept) {
  TestFolder folder;
  std::string path = folder.write("m.jsonl", lines({1, 2}) + "{\"step\":3");
  ASSERT_TRUE(MetricsWriter::open(path, 100).ok());
  EXPECT_EQ(contentsOf(path), lines({1, 2}));
}

TEST(MetricsWriter, ANewRunBeginsAnEmptyFile) {
  TestFolder folder;
  std::string path = folder.write("m.jsonl", "whatever was there");
  ASSERT_TRUE(MetricsWriter::open(path, 0).ok());
  EXPECT_EQ(contentsOf(path), "");
}

TEST(MetricsWriter, ABrokenLineIsNamedAndNothingIsCut) {
  TestFolder folder;
  std::string contents = lines({1}) + "broken\n" + lines({2});
  std::string path = folder.write("m.jsonl", contents);
  EXPECT_EQ(folder.relative(MetricsWriter::open(path, 2).status().message()),
            "m.jsonl:2: not a JSON object. Move the file away to go on without the earlier steps.");
  EXPECT_EQ(contentsOf(path), contents);
}

TEST(MetricsWriter, SystemErrorsNameTheFile) {
  TestFolder folder;
  EXPECT_EQ(folder.relative(MetricsWriter::open(folder.path("no/m.jsonl"), 0).status().message()),
            "no/m.jsonl: cannot open: No such file or directory");
}

} // namespace
} // namespace weft
