//===- StepMetricsTest.cpp - Lines of metrics.jsonl -----------------------===//
#include "SampleMetrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft {
namespace {

std::string error(const std::string &line) { return std::string(parseJsonLine(line).status().message()); }

TEST(StepMetrics, ALineHasTheDocumentedKeysInOrder) {
  StepMetrics metrics = sampleMetrics(120);
  EXPECT_EQ(jsonLine(metrics),
            "{\"step\":120,\"loss\":3.4121,\"grad_norm\":0.87,\"lr\":0.0003,\"tokens_per_second\":5310.4,"
            "\"mfu\":0.412,\"data_wait\":0.125,"
            "\"memory_bytes\":1299227607,\"resident_bytes\":1310000000,\"consumed_tokens\":983040,"
            "\"time\":1700000000.25}\n");
  metrics.valLoss = 1.5;
  metrics.mfu.reset();
  metrics.dataWait.reset();
  metrics.others = {{"z_loss", 0.01}};
  EXPECT_EQ(jsonLine(metrics),
            "{\"step\":120,\"loss\":3.4121,\"val_loss\":1.5,\"grad_norm\":0.87,\"lr\":0.0003,\"tokens_per_"
            "second\":5310.4,"
            "\"memory_bytes\":1299227607,\"resident_bytes\":1310000000,\"consumed_tokens\":983040,"
            "\"time\":1700000000.25,\"z_loss\":0.01}\n");
}

TEST(StepMetrics, NumbersReadBackBitForBit) {
  StepMetrics metrics = sampleMetrics(7, 0.1 + 0.2);
  metrics.valLoss = std::nextafter(1.0, 2.0);
  metrics.others = {{"a/b", 1e-300}, {"c", -0.0}};
  StepMetrics read = *parseJsonLine(jsonLine(metrics));
  EXPECT_EQ(read.loss, metrics.loss);
  EXPECT_EQ(read.valLoss, metrics.valLoss);
  EXPECT_EQ(read.others, metrics.others);
  EXPECT_EQ(jsonLine(read), jsonLine(metrics));
}

TEST(StepMetrics, ANumberThatIsNotFiniteIsNull) {
  StepMetrics metrics = sampleMetrics(1, std::numeric_limits<double>::infinity());
  EXPECT_NE(jsonLine(metrics).find("\"loss\":null"), std::string::npos);
  EXPECT_TRUE(std::isnan(parseJsonLine(jsonLine(metrics))->loss));
}

TEST(StepMetrics, WhatIsWrongWithALineIsSaid) {
  EXPECT_EQ(error("{\"step\": 1"), "not a JSON object");
  EXPECT_EQ(error("[1]"), "not a JSON object");
  EXPECT_EQ(error("{\"loss\": 1}"), "\"step\" is missing");
  EXPECT_EQ(error("{\"step\": 1.5}"), "\"step\" is not a whole number");
  EXPECT_EQ(error("{\"step\": 1, \"loss\": \"low\"}"), "\"loss\" is not a number");
  std::string line = jsonLine(sampleMetrics(1));
  EXPECT_EQ(error(line.substr(0, line.size() - 2) + ",\"note\":\"x\"}"), "\"note\" is not a number");
}

TEST(ReadMetrics, GivesAllRecordsAndLeavesOutATornLastLine) {
  TestFolder folder;
  std::string lines = jsonLine(sampleMetrics(1)) + jsonLine(sampleMetrics(2));
  auto records = readMetrics(folder.write("m.jsonl", lines + "{\"step\": 3, \"lo"));
  ASSERT_TRUE(records.ok()) << records.status();
  ASSERT_EQ(records->size(), 2u);
  EXPECT_EQ(records->back().step, 2);
}

TEST(ReadMetrics, ErrorsNameFileAndLine) {
  TestFolder folder;
  std::string first = jsonLine(sampleMetrics(5));
  auto error = [&](const std::string &contents) {
    return folder.relative(readMetrics(folder.write("m.jsonl", contents)).status().message());
  };
  EXPECT_EQ(error(first + "nonsense\n"), "m.jsonl:2: not a JSON object");
  EXPECT_EQ(error(first + first), "m.jsonl:2: step 5 does not follow step 5");
  EXPECT_EQ(folder.relative(readMetrics(folder.path("no")).status().message()), "no: no such file");
}

} // namespace
} // namespace weft
