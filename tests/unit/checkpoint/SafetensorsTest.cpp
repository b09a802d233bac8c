//===- SafetensorsTest.cpp - Every rule of the safetensors format ---------===//
//
// Files by hand, one broken rule each, with the message; then what the writer guarantees: order, alignment,
// the same bytes for the same tensors, and that the reader accepts them.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "runtime/checkpoint/Checksum.h"
#include "runtime/checkpoint/SafetensorsFile.h"

#include "gmock/gmock.h"

namespace weft::checkpoint {
namespace {
using ::testing::ElementsAre;

std::string lengthField(uint64_t length) {
  std::string text;
  for (int byte = 0; byte < 8; ++byte)
    text.push_back(static_cast<char>(length >> (8 * byte)));
  return text;
}

std::string file(const std::string &json, size_t dataBytes) {
  return lengthField(json.size()) + json + std::string(dataBytes, 'x');
}

absl::StatusOr<SafetensorsFile> openText(const std::string &text) {
  TestFolder folder;
  writeText(folder / "f", text);
  return SafetensorsFile::open(systemFiles(), folder / "f");
}

/// What the message says between the file's name and the remedy.
std::string problem(const std::string &text) {
  TestFolder folder;
  writeText(folder / "f", text);
  const absl::StatusOr<SafetensorsFile> opened = SafetensorsFile::open(systemFiles(), folder / "f");
  const std::string message(opened.status().message());
  const std::string start = folder / "f: not a valid safetensors file: ",
                    end = ". Write it again, or use another file.";
  if (message.rfind(start, 0) != 0 || message.size() < start.size() + end.size())
    return "unexpected: " + message;
  EXPECT_EQ(message.substr(message.size() - end.size()), end);
  return message.substr(start.size(), message.size() - start.size() - end.size());
}

std::string tensor(const std::string &type, const std::string &shape, const std::string &range) {
  return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + range + "}";
}

TEST(SafetensorsReader, AcceptsAFileOfTheSpecification) {
  const std::string json = R"({"__metadata__":{"format":"pt"},"b":)" + tensor("F32", "[1,2]", "[2,10]") +
                           R"(,"a":)" + tensor("BF16", "[]", "[0,2]") + R"(,"empty":)" +
                           tensor("U8", "[0,5]", "[10,10]") + "}   ";
  absl::StatusOr<SafetensorsFile> opened = openText(file(json, 10));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->header().metadata.at("format"), "pt");
  ASSERT_EQ(opened->header().entries.size(), 3u);
  EXPECT_EQ(opened->header().entries[0].name, "a");
  EXPECT_EQ(opened->bytes(*opened->find("b")).size(), 8u);
  EXPECT_EQ(opened->bytes(*opened->find("empty")).size(), 0u);
  EXPECT_EQ(opened->find("c"), nullptr);
}

TEST(SafetensorsReader, AcceptsAFileWithoutTensors) { EXPECT_TRUE(openText(file("{}", 0)).ok()); }

TEST(SafetensorsReader, AcceptsEveryTypeOfTheFormat) {
  const std::pair<const char *, size_t> bits[] = {
      {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},   {"I8", 8},
      {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"I16", 16}, {"F8_E5M2FNUZ", 8},
      {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32}, {"F32", 32},
      {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};
  for (const auto &[type, size] : bits) {
    ASSERT_TRUE(safetensorsTypeFromName(type)) << type;
    EXPECT_EQ(bitSize(*safetensorsTypeFromName(type)), size) << type;
    EXPECT_EQ(name(*safetensorsTypeFromName(type)), type);
    EXPECT_TRUE(
        openText(file(R"({"t":)" + tensor(type, "[4,3]", "[0," + std::to_string(12 * size / 8) + "]") + "}",
                      12 * size / 8))
            .ok())
        << type;
  }
  EXPECT_EQ(problem(file(R"({"t":)" + tensor("F4", "[3]", "[0,2]") + "}", 2)),
            "the shape of tensor 't' does not fill whole bytes");
}

TEST(SafetensorsReader, ChecksTheLengthOfTheHeader) {
  EXPECT_EQ(problem(""), "it has 0 bytes, a header needs at least 8");
  EXPECT_EQ(problem("1234567"), "it has 7 bytes, a header needs at least 8");
  EXPECT_EQ(problem(lengthField(3) + "{}"), "it was cut short: its header has 3 bytes, the file 10");
  EXPECT_EQ(problem(lengthField(100'000'001)),
            "its header would have 100000001 bytes, at most 100000000 are allowed");
  EXPECT_EQ(problem(lengthField(~uint64_t{0})),
            "its header would have 18446744073709551615 bytes, at most 100000000 are allowed");
  EXPECT_EQ(problem(lengthField(0)), "its header does not begin with '{'");
}

TEST(SafetensorsReader, ChecksThatTheHeaderIsJson) {
  EXPECT_EQ(problem(file(" {}", 0)), "its header does not begin with '{'");
  EXPECT_EQ(problem(file("{", 0)), "the header is not JSON at its byte 2");
  EXPECT_EQ(problem(file("{} {}", 0)), "the header is not JSON at its byte 4");
  EXPECT_EQ(problem(file("{\"\xff\":1}", 0)), "the header is not JSON at its byte 3");
  EXPECT_EQ(problem(file(std::string("{}\0{}", 5), 0)), "there is a zero byte in its header");
}

TEST(SafetensorsReader, ChecksTheFieldsOfATensor) {
  EXPECT_EQ(problem(file(R"({"t":{"dtype":"U8","shape":[1]}})", 1)), "data_offsets is missing in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":{"dtype":"U8","data_offsets":[0,1]}})", 1)),
            "shape is missing in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":{}})", 0)), "dtype is missing in tensor 't'");
  EXPECT_EQ(
      problem(file(R"({"t":)" + tensor("F128", "[1]", "[0,1]") + "}", 1)),
      "dtype 'F128' in tensor 't' is none of the format (F64 F32 F16 BF16 I64 I32 BOOL I16 I8 U64 U32 U16 U8 "
      "C64 F8_E5M2 F8_E4M3 F8_E8M0 F8_E5M2FNUZ F8_E4M3FNUZ F6_E3M2 F6_E2M3 F4)");
  EXPECT_EQ(problem(file(R"({"t":{"dtype":"U8","dtype":"U8"}})", 1)), "'dtype' comes twice in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":{"stride":1}})", 1)), "unknown key 'stride' in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":{"dtype":1}})", 1)), "a number where none belongs in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":{"shape":"1"}})", 1)), "a string where none belongs in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":{"shape":[[1]]}})", 1)), "a list where none belongs in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":{"shape":[{}]}})", 1)), "an object where none belongs in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":{"shape":null}})", 1)), "null where none belongs in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":true})", 1)), "true or false where none belongs in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":{"shape":[1.5]}})", 1)), "a fraction where none belongs in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":{"shape":[-1]}})", 1)), "a negative number -1 in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":{"shape":[9223372036854775808]}})", 1)),
            "the number 9223372036854775808 is too large in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":)" + tensor("U8", "[1]", "[0]") + "}", 1)),
            "data_offsets has 1 numbers instead of 2 in tensor 't'");
  EXPECT_EQ(problem(file(R"({"t":)" + tensor("U8", "[1]", "[0,1,2]") + "}", 1)),
            "data_offsets has 3 numbers instead of 2 in tensor 't'");
  std::string ones = "[1";
  for (int i = 0; i < 64; ++i)
    ones += ",1";
  EXPECT_EQ(problem(file(R"({"t":)" + tensor("U8", ones + "]", "[0,1]") + "}", 1)),
            "more than 64 dimensions in tensor 't'");
}

TEST(SafetensorsReader, ChecksThatNamesComeOnce) {
  const std::string one = tensor("U8", "[1]", "[0,1]");
  EXPECT_EQ(problem(file(R"({"t":)" + one + R"(,"t":)" + one + "}", 1)), "tensor 't' comes twice");
  EXPECT_EQ(problem(file(R"({"__metadata__":{},"__metadata__":{}})", 0)), "__metadata__ comes twice");
  EXPECT_EQ(problem(file(R"({"__metadata__":{"a":"1","a":"2"}})", 0)), "metadata 'a' comes twice");
}

TEST(SafetensorsReader, ChecksThatMetadataAreStrings) {
  const std::string expected = "__metadata__ is not a map from strings to strings";
  EXPECT_EQ(problem(file(R"({"__metadata__":{"a":1}})", 0)), expected);
  EXPECT_EQ(problem(file(R"({"__metadata__":{"a":{}}})", 0)), expected);
  EXPECT_EQ(problem(file(R"({"__metadata__":"a"})", 0)), expected);
}

TEST(SafetensorsReader, ChecksThatRangesCoverTheDataOnce) {
  const auto two = [](const char *first, const char *second) {
    return R"({"a":)" + tensor("U8", "[4]", first) + R"(,"b":)" + tensor("U8", "[4]", second) + "}";
  };
  EXPECT_TRUE(openText(file(two("[4,8]", "[0,4]"), 8)).ok());
  EXPECT_EQ(problem(file(two("[0,4]", "[3,7]"), 7)), "tensor 'b' overlaps the one before it");
  EXPECT_EQ(problem(file(two("[0,4]", "[5,9]"), 9)), "1 bytes before tensor 'b' belong to no tensor");
  EXPECT_EQ(problem(file(two("[0,4]", "[4,8]"), 9)), "1 bytes behind the last tensor belong to no tensor");
  EXPECT_EQ(problem(file(two("[0,4]", "[4,8]"), 7)),
            "it was cut short: the tensors need 8 bytes, 7 are there");
  EXPECT_EQ(problem(file(two("[0,4]", "[8,4]"), 8)), "tensor 'b' ends before it begins");
  EXPECT_EQ(problem(file(two("[0,4]", "[4,7]"), 7)), "tensor 'b' has 3 bytes, its type and shape need 4");
}

TEST(SafetensorsReader, ChecksThatShapesDoNotOverflow) {
  EXPECT_EQ(problem(file(R"({"t":)" + tensor("F64", "[4294967296,4294967296]", "[0,0]") + "}", 0)),
            "the shape of tensor 't' overflows");
  EXPECT_EQ(problem(file(R"({"t":)" + tensor("U8", "[9223372036854775807,3,0]", "[0,0]") + "}", 0)),
            "the shape of tensor 't' overflows");
}

TEST(SafetensorsReader, RefusesWhatIsNoFile) {
  TestFolder folder;
  EXPECT_EQ(std::string(SafetensorsFile::open(systemFiles(), folder.path()).status().message()),
            folder.path() + ": not a regular file. Check the path.");
  EXPECT_EQ(std::string(SafetensorsFile::open(systemFiles(), folder / "absent").status().message()),
            folder / "absent: cannot open: No such file or directory. Check the path.");
}

TEST(SafetensorsWriter, AlignsEachTensorToItsElements) {
  absl::StatusOr<SafetensorsHeader> header = layOutSafetensors({{"mask", SafetensorsType::Bool, {3}, 0, 0},
                                                                {"b", SafetensorsType::F32, {1}, 0, 0},
                                                                {"half", SafetensorsType::BF16, {3}, 0, 0},
                                                                {"a", SafetensorsType::F32, {2}, 0, 0},
                                                                {"wide", SafetensorsType::I64, {}, 0, 0}},
                                                               {}, "f");
  ASSERT_TRUE(header.ok());
  std::vector<std::string> order;
  for (const SafetensorsEntry &entry : header->entries) {
    order.push_back(entry.name);
    EXPECT_EQ(entry.begin * 8 % bitSize(entry.type), 0) << entry.name;
  }
  EXPECT_THAT(order, ElementsAre("wide", "a", "b", "half", "mask"));
}

TEST(SafetensorsWriter, WritesTheseBytes) {
  TestFolder folder;
  absl::StatusOr<SafetensorsWriter> writer = SafetensorsWriter::create(
      systemFiles(), folder / "f", {{"t", SafetensorsType::U8, {2}, 0, 0}}, {{"by", "us"}});
  ASSERT_TRUE(writer.ok());
  const std::string data = "hi";
  ASSERT_TRUE(writer->write(std::as_bytes(std::span(data))).ok());
  absl::StatusOr<std::vector<Block>> blocks = writer->finish();
  ASSERT_TRUE(blocks.ok());
  const std::string written = readText(folder / "f");
  EXPECT_EQ(*blocks, (std::vector<Block>{{0, static_cast<int64_t>(written.size()), checksumOf(written)}}));
  const std::string json =
      R"({"__metadata__":{"by":"us"},"t":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  const std::string padding((8 - json.size() % 8) % 8, ' ');
  EXPECT_EQ(readText(folder / "f"), lengthField(json.size() + padding.size()) + json + padding + "hi");
  EXPECT_TRUE(SafetensorsFile::open(systemFiles(), folder / "f").ok());
}

TEST(SafetensorsWriter, RefusesNamesThatCannotBe) {
  const auto layOut = [](std::vector<SafetensorsEntry> entries) {
    return std::string(layOutSafetensors(std::move(entries), {}, "f").status().message());
  };
  const SafetensorsEntry entry{"t", SafetensorsType::U8, {1}, 0, 0};
  SafetensorsEntry reserved = entry, notText = entry, huge = entry;
  reserved.name = "__metadata__";
  notText.name = "\xff";
  huge.shape = {int64_t{1} << 62, 4};
  EXPECT_EQ(layOut({entry, entry}), "f: tensor name 't' comes twice. Give each tensor a name of its own.");
  EXPECT_EQ(layOut({reserved}),
            "f: tensor name '__metadata__' is reserved by the format. Give each tensor a name of its own.");
  EXPECT_EQ(layOut({notText}), "f: a tensor name or metadata text is not UTF-8. Rename it.");
  EXPECT_EQ(layOut({huge}), "f: the shape of tensor 't' overflows. Split the tensor.");
}

TEST(SafetensorsWriter, WantsEveryTensorOnceAndWhole) {
  TestFolder folder;
  absl::StatusOr<SafetensorsWriter> writer =
      SafetensorsWriter::create(systemFiles(), folder / "f", {{"t", SafetensorsType::U8, {2}, 0, 0}}, {});
  const std::string data = "hi";
  EXPECT_EQ(std::string(writer->finish().status().message()), folder / "f: tensor 't' was not written");
  EXPECT_EQ(std::string(writer->write(std::as_bytes(std::span(data).first(1))).message()),
            folder / "f: tensor 't' needs 2 bytes, 1 were given");
  EXPECT_TRUE(writer->write(std::as_bytes(std::span(data))).ok());
  EXPECT_EQ(std::string(writer->write({}).message()), folder / "f: every tensor was written already");
  EXPECT_TRUE(writer->finish().ok());
}

TEST(SafetensorsWriter, TakesATensorInParts) {
  TestFolder folder;
  const auto create = [&](const char *name) {
    return SafetensorsWriter::create(systemFiles(), folder / name, {{"t", SafetensorsType::U8, {4}, 0, 0}},
                                     {});
  };
  const std::string data = "abcd";
  const auto bytes = std::as_bytes(std::span(data));
  absl::StatusOr<SafetensorsWriter> whole = create("whole"), parts = create("parts");
  EXPECT_TRUE(parts->append(bytes.first(1)).ok());
  EXPECT_EQ(std::string(parts->endEntry().message()),
            folder / "parts: tensor 't' needs 4 bytes, 1 were given");
  EXPECT_EQ(std::string(parts->append(bytes).message()),
            folder / "parts: tensor 't' needs 4 bytes, 5 were given");
  EXPECT_TRUE(parts->append(bytes.subspan(1)).ok());
  EXPECT_TRUE(parts->endEntry().ok());
  EXPECT_TRUE(whole->write(bytes).ok());
  EXPECT_EQ(*parts->finish(), *whole->finish());
  EXPECT_EQ(readText(folder / "parts"), readText(folder / "whole"));
}

} // namespace
} // namespace weft::checkpoint
