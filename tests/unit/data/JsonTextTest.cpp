//===- JsonTextTest.cpp - One text out of one line of JSON ----------------===//
#include "runtime/data/JsonText.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

std::string text(std::string_view line, std::string_view key = "text") {
  std::string result;
  absl::Status status = readJsonText(line, key, result);
  EXPECT_TRUE(status.ok()) << status;
  return result;
}

std::string error(std::string_view line) {
  std::string result;
  return std::string(readJsonText(line, "text", result).message());
}

TEST(JsonText, FindsTheKeyAmongOthers) {
  EXPECT_EQ(text(R"({"text": "hi"})"), "hi");
  EXPECT_EQ(
      text(R"(  {"id" : -1.5e+3, "meta":{"text":"no","a":[1,[],{},[{"b":null}]]},"text":"yes","t":true} )"),
      "yes");
  EXPECT_EQ(text(R"({"text":"a","content":"b"})", "content"), "b");
  EXPECT_EQ(text(R"({"te\u0078t":"escaped key"})"), "escaped key");
  EXPECT_EQ(text(R"({"a":{},"b":[],"c":"x","text":""})"), "");
}

TEST(JsonText, DecodesEscapes) {
  EXPECT_EQ(text(R"({"text":"\"\\\/\b\f\n\r\t"})"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(text(R"({"text":"\u0041\u00e9\u20AC\ud83d\ude42"})"), "A\u00e9\u20ac\U0001f642");
}

TEST(JsonText, HalfASurrogatePairBecomesTheReplacementCharacter) {
  EXPECT_EQ(text(R"({"text":"\ud83dx"})"), "\ufffdx");
  EXPECT_EQ(text(R"({"text":"\ude42"})"), "\ufffd");
  EXPECT_EQ(text(R"({"text":"\ud83d\u0041"})"), "\ufffdA");
}

TEST(JsonText, BytesThatAreNotUtf8AreKept) { EXPECT_EQ(text("{\"text\":\"\xff\xfe\"}"), "\xff\xfe"); }

TEST(JsonText, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error(""), "the line ends where a JSON object is expected (column 1)");
  EXPECT_EQ(error("[1]"), "a JSON object is expected at column 1");
  EXPECT_EQ(error("{}"), "the object has no key \"text\"");
  EXPECT_EQ(error(R"({"a":{"text":"inner"}})"), "the object has no key \"text\"");
  EXPECT_EQ(error(R"({"text":5})"), "a string for the key \"text\" is expected at column 9");
  EXPECT_EQ(error(R"({"text":"a","text":"b"})"), "the key \"text\" comes twice");
  EXPECT_EQ(error(R"({"text":"a)"), "the line ends where the end of a string is expected (column 11)");
  EXPECT_EQ(error("{\"text\":\"a\tb\"}"), "an escape for a control character is expected at column 11");
  EXPECT_EQ(error(R"({"text":"\x"})"), "one of \"\\/bfnrtu after a backslash is expected at column 11");
  EXPECT_EQ(error(R"({"text":"\u12g4"})"), "a hexadecimal digit is expected at column 14");
  EXPECT_EQ(error(R"({"text":"a"} x)"), "the end of the line is expected at column 14");
  EXPECT_EQ(error(R"({"text":"a",})"), "a string is expected at column 13");
  EXPECT_EQ(error(R"({"a":[1 2],"text":"a"})"), "a comma or ] is expected at column 9");
  EXPECT_EQ(error(R"({"a":01,"text":"a"})"), "a comma or } is expected at column 7");
  EXPECT_EQ(error(R"({"a":1.,"text":"a"})"), "a digit is expected at column 8");
  EXPECT_EQ(error(R"({"a":1e,"text":"a"})"), "a digit is expected at column 8");
  EXPECT_EQ(error(R"({"a":tru,"text":"a"})"), "a value is expected at column 6");
  EXPECT_EQ(error(R"({"a":-,"text":"a"})"), "a value is expected at column 7");
  EXPECT_EQ(error(R"({"a" 1})"), "a colon is expected at column 6");
  EXPECT_EQ(error(R"({"a":[1,]})"), "a value is expected at column 9");
}

TEST(JsonText, NestingIsLimited) {
  std::string deep = "{\"a\":" + std::string(511, '[') + std::string(511, ']') + ",\"text\":\"x\"}";
  EXPECT_EQ(text(deep), "x");
  EXPECT_EQ(error("{\"a\":" + std::string(100000, '[')), "values are nested deeper than 512");
}

TEST(JsonText, EveryTruncationIsRefused) {
  std::string line = R"({"a":[1,{"b":"c\u0041"}],"text":"\ud83d\ude42 x"})";
  for (size_t size = 0; size < line.size(); ++size)
    EXPECT_NE(error(std::string_view(line).substr(0, size)), "") << size;
}

} // namespace
} // namespace weft
