//===- TensorBoardWriterTest.cpp - Event files, parsed back ---------------===//
#include "runtime/metrics/TensorBoardWriter.h"
#include "TensorBoardEvent.pb.h"
#include "runtime/metrics/TfRecord.h"

#include "SampleMetrics.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace weft {
namespace {

/// The events of a file; checks both checksums of each record.
std::vector<tensorboard::Event> readEvents(const std::string &path) {
  std::string bytes = contentsOf(path);
  std::string_view rest = bytes;
  std::vector<tensorboard::Event> events;
  auto take = [&](size_t size) {
    EXPECT_LE(size, rest.size());
    std::string_view part = rest.substr(0, size);
    rest.remove_prefix(part.size());
    return part;
  };
  auto number = [](auto &value, std::string_view from) { std::memcpy(&value, from.data(), sizeof(value)); };
  while (!rest.empty()) {
    std::string_view lengthBytes = take(8);
    uint64_t length = 0;
    uint32_t lengthCrc = 0;
    uint32_t crc = 0;
    number(length, lengthBytes);
    number(lengthCrc, take(4));
    EXPECT_EQ(lengthCrc, maskedCrc32c(lengthBytes));
    std::string_view record = take(length);
    number(crc, take(4));
    EXPECT_EQ(crc, maskedCrc32c(record));
    EXPECT_TRUE(events.emplace_back().ParseFromString(std::string(record)));
  }
  return events;
}

TEST(TfRecord, ChecksumsAreThoseOfTheirStandard) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu); // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
}

TEST(TfRecord, AFrameIsLengthAndTwoMaskedChecksums) {
  std::string framed = frameRecord("abc");
  EXPECT_EQ(framed.size(), 8u + 4 + 3 + 4);
  EXPECT_EQ(framed.substr(0, 8), std::string("\3\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(framed.substr(12, 3), "abc");
}

TEST(TensorBoardWriter, EventsParseBack) {
  TestFolder folder;
  auto writer = TensorBoardWriter::open(folder.path("events"), 5);
  ASSERT_TRUE(writer.ok()) << writer.status();
  StepMetrics metrics = sampleMetrics(5, 2.5);
  metrics.valLoss = 2.25;
  metrics.others = {{"z_loss", 0.5}};
  ASSERT_TRUE(writer->append(metrics).ok());

  std::vector<tensorboard::Event> events = readEvents(writer->path());
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_EQ(events[1].step(), 5);
  EXPECT_EQ(events[1].session_log().status(), tensorboard::SessionLog::START);
  EXPECT_EQ(events[2].step(), 5);
  EXPECT_EQ(events[2].wall_time(), 1700000000.25);
  std::map<std::string, float> values;
  for (const auto &value : events[2].summary().value())
    values[value.tag()] = value.simple_value();
  EXPECT_EQ(values["loss"], 2.5f);
  EXPECT_EQ(values["val_loss"], 2.25f);
  EXPECT_EQ(values["z_loss"], 0.5f);
  EXPECT_EQ(values["lr"], 3e-4f);
  EXPECT_EQ(values.size(), 11u);
}

TEST(TensorBoardWriter, EachStartHasAFileOfItsOwn) {
  TestFolder folder;
  auto first = TensorBoardWriter::open(folder.path("events"), 1);
  auto second = TensorBoardWriter::open(folder.path("events"), 4);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->path(), second->path());
  EXPECT_NE(first->path().find("events.out.tfevents."), std::string::npos);
}

TEST(TensorBoardWriter, AFolderThatCannotBeMadeIsNamed) {
  TestFolder folder;
  folder.write("file", "");
  EXPECT_EQ(folder.relative(TensorBoardWriter::open(folder.path("file/events"), 1).status().message()),
            "file/events: cannot make the folder: Not a directory");
}

} // namespace
} // namespace weft
