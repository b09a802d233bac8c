//===- ManifestTest.cpp - The manifest and each of its rules --------------===//
//
// A manifest comes back as it was written; one that says something impossible is refused although its
// checksum holds, with the message.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "runtime/checkpoint/Checksum.h"

#include "absl/strings/str_cat.h"

namespace weft::checkpoint {
namespace {

Manifest sample() {
  Manifest manifest;
  manifest.blockBytes = 64;
  manifest.state = {
      7, {{"config", "a: \"b\"\n"}}, {{"loss_scale", 0.1}, {"tokens", 1}, {"nested", {1, {{"x", nullptr}}}}}};
  manifest.files = {{"rank-00000.safetensors", 100, {{0, 64, 1}, {64, 100, 2}}},
                    {"rank-00001.safetensors", 90, {{0, 64, 3}, {64, 90, ~uint64_t{0}}}}};
  manifest.tensors = {
      {"a",
       {DType::BF16, {4}},
       "[t0]",
       {{"rank-00000.safetensors", {{0}, {2}}, 80, 84}, {"rank-00001.safetensors", {{2}, {2}}, 80, 84}}},
      {"b", {DType::I1, {}}, "", {{"rank-00000.safetensors", {{}, {}}, 84, 85}}}};
  return manifest;
}

/// The same as it was in version 1: each piece has a checksum, files have none.
std::string sampleOfVersion1() {
  std::string text = *formatManifest(sample());
  text = text.substr(text.find('\n') + 1);
  const auto drop = [&](const std::string &what) { text = replaced(text, what, ""); };
  drop("\"block_bytes\": 64,\n");
  drop(",\"xxh64\":\"00000000000000010000000000000002\"");
  drop(",\"xxh64\":\"0000000000000003ffffffffffffffff\"");
  for (const char *piece : {"\"offset\":[0],\"size\":[2],\"begin\":80,\"end\":84",
                            "\"offset\":[2],\"size\":[2],\"begin\":80,\"end\":84",
                            "\"offset\":[],\"size\":[],\"begin\":84,\"end\":85"})
    text = replaced(text, piece, absl::StrCat(piece, ",\"xxh64\":\"000000000000000a\""));
  return text;
}

/// What is said of the text of a manifest, without its first line.
std::string problemOf(const std::string &rest, int64_t version = kManifestVersion) {
  const absl::StatusOr<Manifest> parsed = parseManifest(withManifestChecksum(rest, version), "m");
  const std::string message(parsed.status().message()),
      start = "m: broken manifest: ", end = ". Use another checkpoint.";
  if (message.rfind(start, 0) != 0 || message.size() < start.size() + end.size())
    return "unexpected: " + message;
  return message.substr(start.size(), message.size() - start.size() - end.size());
}

/// The same of the sample, in whose text `from` became `to`.
std::string problem(const std::string &from, const std::string &to) {
  const std::string text = *formatManifest(sample());
  return problemOf(replaced(text.substr(text.find('\n') + 1), from, to));
}

TEST(Manifest, ComesBackAsItWasWritten) {
  absl::StatusOr<std::string> text = formatManifest(sample());
  ASSERT_TRUE(text.ok()) << text.status();
  absl::StatusOr<Manifest> read = parseManifest(*text, "m");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, sample());
  EXPECT_EQ(*formatManifest(*read), *text);
}

TEST(Manifest, LongerThanReadersTakeIsNotWritten) {
  const auto bytes = static_cast<int64_t>(formatManifest(sample())->size());
  EXPECT_TRUE(formatManifest(sample(), bytes).ok());
  const absl::Status status = formatManifest(sample(), bytes - 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("its manifest takes"), std::string::npos) << status;
}

TEST(Manifest, IsReadableJson) {
  const nlohmann::json json = nlohmann::json::parse(*formatManifest(sample()));
  EXPECT_EQ(json["format"], "weft checkpoint");
  EXPECT_EQ(json["version"], 2);
  EXPECT_EQ(json["block_bytes"], 64);
  EXPECT_EQ(json["files"][1]["xxh64"], "0000000000000003ffffffffffffffff");
  EXPECT_EQ(json["step"], 7);
  EXPECT_EQ(json["tensors"][0]["dtype"], "bf16");
  EXPECT_EQ(json["tensors"][0]["pieces"][1]["begin"], 80);
}

TEST(Manifest, ChecksItsFirstLine) {
  const std::string text = *formatManifest(sample());
  const auto message = [](const std::string &changed) {
    return std::string(parseManifest(changed, "m").status().message());
  };
  EXPECT_EQ(message(""),
            "m: broken manifest: it does not begin as the manifest of a weft checkpoint. Use another "
            "checkpoint.");
  EXPECT_EQ(message(replaced(text, "\"version\": 2", "\"version\": x")),
            "m: broken manifest: its version is not a number. Use another checkpoint.");
  EXPECT_EQ(message(replaced(text, "xxh64", "xxh65")),
            "m: broken manifest: its checksum is missing. Use another checkpoint.");
  EXPECT_EQ(message(replaced(text, "\",\n", "\" ,\n")),
            "m: broken manifest: its first line is damaged. Use another checkpoint.");
  EXPECT_EQ(message(text.substr(0, text.size() - 1)), "m: broken manifest: its checksum does not match: it "
                                                      "was changed or cut short. Use another checkpoint.");
  for (const std::string version : {"0", "3"})
    EXPECT_EQ(message("{\"format\": \"weft checkpoint\", \"version\": " + version + ", anything"),
              "m: checkpoint format version " + version +
                  ", this weft reads versions 1 to 2. Use the weft that wrote it, or a newer one.");
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
  EXPECT_EQ(problem("\"bytes\":100", "\"size\":100"), "a file has no 'bytes'");
  EXPECT_EQ(problem("\"shape\":[4]", "\"shape\":4"), "the shape of tensor 'a' is not a list");
  EXPECT_EQ(problem("\"placement\":\"[t0]\"", "\"placement\":0"), "the placement of tensor 'a' is not text");
  EXPECT_EQ(problem("\"a: \\\"b\\\"\\n\"", "1"), "text 'config' is not text");
}

TEST(Manifest, ChecksItsBlocks) {
  const std::string file =
      "file 'rank-00000.safetensors' of 100 bytes has not 16 hexadecimal digits for each block of ";
  EXPECT_EQ(problem("0000000000000001", "1"), file + "64");
  EXPECT_EQ(problem("0000000000000001", "000000000000000G"), file + "64");
  EXPECT_EQ(problem("0000000000000001", ""), file + "64");
  EXPECT_EQ(problem("\"block_bytes\": 64", "\"block_bytes\": 100"), file + "100");
  EXPECT_EQ(problem("\"block_bytes\": 64", "\"block_bytes\": 49"), file + "49");
  EXPECT_EQ(problem("\"block_bytes\": 64", "\"block_bytes\": 50"),
            "unexpected: "); // as many blocks; not as saved
  EXPECT_EQ(problem("\"block_bytes\": 64", "\"block_bytes\": 0"), "blocks of 0 bytes cannot be");
  EXPECT_EQ(problem("\"block_bytes\": 64", "\"block_bytes\": -9223372036854775808"),
            "blocks of -9223372036854775808 bytes cannot be");
  EXPECT_EQ(problem("\"block_bytes\": 64", "\"block_bytes\": \"64\""),
            "block_bytes is not a whole number of 64 bits");
  EXPECT_EQ(problem("\"block_bytes\": 64,", ""), "the manifest has no 'block_bytes'");
  EXPECT_EQ(problem(",\"xxh64\":\"00000000000000010000000000000002\"", ""), "a file has no 'xxh64'");
  Manifest manifest = sample();
  manifest.files[0].blocks.pop_back();
  EXPECT_EQ(checkManifest(manifest),
            "file 'rank-00000.safetensors' of 100 bytes is not cut into blocks of 64");
}

TEST(Manifest, OfVersion1HasABlockForEachPiece) {
  absl::StatusOr<Manifest> manifest = parseManifest(withManifestChecksum(sampleOfVersion1(), 1), "m");
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->blockBytes, 0);
  EXPECT_EQ(manifest->files[0].blocks, (std::vector<Block>{{80, 84, 10}, {84, 85, 10}}));
  EXPECT_EQ(manifest->files[1].blocks, (std::vector<Block>{{80, 84, 10}}));
  EXPECT_EQ(manifest->tensors, sample().tensors);
  EXPECT_EQ(manifest->state, sample().state);
}

TEST(Manifest, OfVersion1IsHeldAgainstItsOwnRules) {
  const std::string text = sampleOfVersion1();
  EXPECT_EQ(problemOf(text, 2), "the manifest has no 'block_bytes'");
  EXPECT_EQ(problemOf(replaced(text, "000000000000000a", "a"), 1),
            "the checksum of a piece of tensor 'a' is not 16 hexadecimal digits");
  EXPECT_EQ(problemOf(replaced(text, ",\"xxh64\":\"000000000000000a\"", ""), 1),
            "a piece of tensor 'a' has no 'xxh64'");
  EXPECT_EQ(problemOf(replaced(text, "\"step\"", "\"block_bytes\": 64, \"step\""), 1),
            "the manifest has an unknown key 'block_bytes'");
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
  EXPECT_EQ(problem("\"begin\":84,\"end\":85", "\"begin\":83,\"end\":84"),
            "tensors 'a' and 'b' share bytes of rank-00000.safetensors");
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
