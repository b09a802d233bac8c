//===- ConsoleLineTest.cpp - What people read on the terminal -------------===//
#include "runtime/metrics/ConsoleLine.h"
#include "runtime/metrics/HumanFormat.h"

#include "SampleMetrics.h"

#include <gtest/gtest.h>

#include <limits>

namespace weft {
namespace {

TEST(ConsoleLine, IsTheOneOfTheDesign) {
  EXPECT_EQ(formatStepLine(sampleMetrics(120), 300, 72),
            "step 120/300  loss 3.4121  grad_norm 0.87  lr 3.0e-04  tok/s 5,310  mfu 41.2%  "
            "data_wait 12%  mem 1.21 GiB  eta 1m12s");
}

TEST(ConsoleLine, KeepsItsColumnsAndShowsWhatWasMeasured) {
  StepMetrics metrics = sampleMetrics(7);
  metrics.valLoss = 2;
  metrics.mfu.reset();
  metrics.dataWait = 0.004; // not worth a word
  EXPECT_EQ(formatStepLine(metrics, 1000, 0), "step    7/1000  loss 3.4121  val_loss 2.0000  grad_norm 0.87  "
                                              "lr 3.0e-04  tok/s 5,310  mem 1.21 GiB  eta 0s");
}

TEST(HumanFormat, BytesHaveThreeDigits) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1024), "1.00 KiB");
  EXPECT_EQ(formatBytes(1299227607), "1.21 GiB");
  EXPECT_EQ(formatBytes(int64_t{212} << 20), "212 MiB");
  EXPECT_EQ(formatBytes(10238), "10.0 KiB");
  EXPECT_EQ(formatBytes((int64_t{1} << 30) - 1), "1.00 GiB");
  EXPECT_EQ(formatBytes(std::numeric_limits<int64_t>::max()), "8.00 EiB");
}

TEST(HumanFormat, DurationsHaveTwoUnits) {
  EXPECT_EQ(formatDuration(0.2), "0s");
  EXPECT_EQ(formatDuration(59.4), "59s");
  EXPECT_EQ(formatDuration(59.6), "1m00s");
  EXPECT_EQ(formatDuration(196), "3m16s");
  EXPECT_EQ(formatDuration(3599.9), "1h00m");
  EXPECT_EQ(formatDuration(7380), "2h03m");
  EXPECT_EQ(formatDuration(100800), "1d04h");
  EXPECT_EQ(formatDuration(-1), "?");
  EXPECT_EQ(formatDuration(std::numeric_limits<double>::infinity()), "?");
}

TEST(HumanFormat, CountsAreSeparated) {
  EXPECT_EQ(formatCount(0), "0");
  EXPECT_EQ(formatCount(999), "999");
  EXPECT_EQ(formatCount(5310), "5,310");
  EXPECT_EQ(formatCount(2826112), "2,826,112");
  EXPECT_EQ(formatCount(-123456), "-123,456");
}

} // namespace
} // namespace weft
