//===- ManifestTest.cpp - The manifest and each of its rules --------------===//
//
// A manifest comes back as it was written; one that says something impossible is refused although its
// checksum holds, with the message.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "runtime/checkpoint/Checksum.h"

namespace weft::checkpoint {
namespace {

Manifest sample() {
  Manifest manifest;
  manifest.state = {
      7, {{"config", "a: \"b\"\n"}}, {{"loss_scale", 0.1}, {"tokens", 1}, {"nested", {1, {{"x", nullptr}}}}}};
  manifest.files = {{"rank-00000.safetensors", 100}, {"rank-00001.safetensors", 90}};
  manifest.tensors = {{"a",
                       {DType::BF16, {4}},
                       "[t0]",
                       {{"rank-00000.safetensors", {{0}, {2}}, 80, 84, 1},
                        {"rank-00001.safetensors", {{2}, {2}}, 80, 84, ~uint64_t{0}}}},
                      {"b", {DType::I1, {}}, "", {{"rank-00000.safetensors", {{}, {}}, 84, 85, 5}}}};
  return manifest;
}

/// What is said of a manifest with a sound checksum in whose text `from` became `to`.
std::string problem(const std::string &from, const std::string &to) {
  const std::string text = *formatManifest(sample());
  const absl::StatusOr<Manifest> parsed =
      parseManifest(withManifestChecksum(replaced(text.substr(text.find('\n') + 1), from, to)), "m");
  const std::string message(parsed.status().message()),
      start = "m: broken manifest: ", end = ". Use another checkpoint.";
  if (message.rfind(start, 0) != 0 || message.size() < start.size() + end.size())
    return "unexpected: " + message;
  return message.substr(start.size(), message.size() - start.size() - end.size());
}

TEST(Manifest, ComesBackAsItWasWritten) {
  absl::StatusOr<std::string> text = formatManifest(sample());
  ASSERT_TRUE(text.ok()) << text.status();
  absl::StatusOr<Manifest> read = parseManifest(*text, "m");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, sample());
  EXPECT_EQ(*formatManifest(*read), *text);
}

TEST(Manifest, IsReadableJson) {
  const nlohmann::json json = nlohmann::json::parse(*formatManifest(sample()));
  EXPECT_EQ(json["format"], "weft checkpoint");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["step"], 7);
  EXPECT_EQ(json["tensors"][0]["dtype"], "bf16");
  EXPECT_EQ(json["tensors"][0]["pieces"][1]["xxh64"], "ffffffffffffffff");
}

TEST(Manifest, ChecksItsFirstLine) {
  const std::string text = *formatManifest(sample());
  const auto message = [](const std::string &changed) {
    return std::string(parseManifest(changed, "m").status().message());
  };
  EXPECT_EQ(message(""),
            "m: broken manifest: it does not begin as the manifest of a weft checkpoint. Use another "
            "checkpoint.");
  EXPECT_EQ(message(replaced(text, "\"version\": 1", "\"version\": x")),
            "m: broken manifest: its version is not a number. Use another checkpoint.");
  EXPECT_EQ(message(replaced(text, "xxh64", "xxh65")),
            "m: broken manifest: its checksum is missing. Use another checkpoint.");
  EXPECT_EQ(message(replaced(text, "\",\n", "\" ,\n")),
            "m: broken manifest: its first line is damaged. Use another checkpoint.");
  EXPECT_EQ(message(text.substr(0, text.size() - 1)), "m: broken manifest: its checksum does not match: it "
                                                      "was changed or cut short. Use another checkpoint.");
  EXPECT_EQ(message("{\"format\": \"weft checkpoint\", \"version\": 2, anything"),
            "m: checkpoint format version 2, this weft reads version 1. Use the weft that wrote it, or a "
            "newer one.");
}

TEST(Manifest, ChecksThatItIsJson) {
  EXPECT_EQ(problem("\"step\": 7,", "\"step\" 7,"), "it is not JSON");
  EXPECT_EQ(problem("\"step\": 7,", "\"step\": 7, \"step\": 7,"), "key 'step' comes twice");
  EXPECT_EQ(problem("\"loss_scale\": 0.1", "\"tokens\": 2"), "key 'tokens' comes twice");
  EXPECT_EQ(problem("0.1", std::string(70, '[') + std::string(70, ']')), "more than 64 levels of nesting");
  EXPECT_EQ(problem("0.1", "1e999"), "it is not JSON");
  EXPECT_EQ(problem("\"step\": 7,", std::string("\"step\": 7}\0,", 12)), "there is a zero byte in it");
}

TEST(Manifest, ChecksItsFields) {
  EXPECT_EQ(problem("\"step\": 7,", ""), "the manifest has no 'step'");
  EXPECT_EQ(problem("\"step\": 7,", "\"step\": 7, \"more\": 1,"), "the manifest has an unknown key 'more'");
  EXPECT_EQ(problem("\"step\": 7,", "\"step\": 7.5,"), "step is not a whole number of 64 bits");
  EXPECT_EQ(problem("\"step\": 7,", "\"step\": 9223372036854775808,"),
            "step is not a whole number of 64 bits");
  EXPECT_EQ(problem("\"step\": 7,", "\"step\": -7,"), "step -7 is negative");
  EXPECT_EQ(problem("\"dtype\":\"i1\"", "\"dtype\":\"i2\""), "tensor 'b' has an unknown dtype 'i2'");
  EXPECT_EQ(problem("\"0000000000000001\"", "\"1\""),
            "the checksum of a piece of tensor 'a' is not 16 hexadecimal digits");
  EXPECT_EQ(problem("\"bytes\":100", "\"size\":100"), "a file has no 'bytes'");
  EXPECT_EQ(problem("\"shape\":[4]", "\"shape\":4"), "the shape of tensor 'a' is not a list");
  EXPECT_EQ(problem("\"placement\":\"[t0]\"", "\"placement\":0"), "the placement of tensor 'a' is not text");
  EXPECT_EQ(problem("\"a: \\\"b\\\"\\n\"", "1"), "text 'config' is not text");
}

TEST(Manifest, ChecksThatItsPartsAgree) {
  EXPECT_EQ(problem("\"rank-00000.safetensors\",\"bytes\"", "\"../x\",\"bytes\""),
            "'../x' is not a name for a file of tensors");
  EXPECT_EQ(problem("\"rank-00000.safetensors\",\"bytes\"", "\"manifest.json\",\"bytes\""),
            "'manifest.json' is not a name for a file of tensors");
  EXPECT_EQ(problem("\"bytes\":100", "\"bytes\":-1"), "file 'rank-00000.safetensors' has a negative size");
  EXPECT_EQ(problem("\"rank-00001.safetensors\",\"bytes\"", "\"rank-00000.safetensors\",\"bytes\""),
            "file 'rank-00000.safetensors' comes twice");
  EXPECT_EQ(problem("\"name\":\"b\"", "\"name\":\"a\""), "tensor 'a' comes twice");
  EXPECT_EQ(problem("\"name\":\"b\"", "\"name\":\"A\""),
            "tensor 'A' is not in its place in the order of names");
  EXPECT_EQ(problem("\"shape\":[4]", "\"shape\":[9223372036854775807]"), "tensor 'a': its shape overflows");
  EXPECT_EQ(problem("\"shape\":[4]", "\"shape\":[5]"), "tensor 'a': its slices hold 4 of 5 elements");
  EXPECT_EQ(problem("\"offset\":[2]", "\"offset\":[1]"), "tensor 'a': slices [0+2] and [1+2] overlap");
  EXPECT_EQ(problem("\"file\":\"rank-00001.safetensors\"", "\"file\":\"rank-00002.safetensors\""),
            "tensor 'a': lies in file 'rank-00002.safetensors', which is not listed");
  EXPECT_EQ(problem("\"begin\":84,\"end\":85", "\"begin\":100,\"end\":101"),
            "tensor 'b': bytes 100 to 101 lie outside of rank-00000.safetensors");
  EXPECT_EQ(problem("\"begin\":84,\"end\":85", "\"begin\":84,\"end\":86"),
            "tensor 'b': slice [] needs 1 bytes, 2 are recorded");
}

TEST(Manifest, WithoutPiecesIsRefused) {
  Manifest manifest = sample();
  manifest.tensors[1].pieces.clear();
  EXPECT_EQ(checkManifest(manifest), "tensor 'b': nothing of it is stored");
}

TEST(ChecksumText, HasOneSpelling) {
  EXPECT_EQ(checksumText(0xfe), "00000000000000fe");
  EXPECT_EQ(checksumFromText("00000000000000fe"), 0xfeu);
  EXPECT_FALSE(checksumFromText("00000000000000FE"));
  EXPECT_FALSE(checksumFromText("fe"));
}

} // namespace
} // namespace weft::checkpoint
