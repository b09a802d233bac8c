//===- CkptCommandTest.cpp - weft ckpt inspect|verify|diff ----------------===//
//
// What the commands print and with which code they end, through the command line's own parser.
//
//===----------------------------------------------------------------------===//
#include "TestSupport.h"

#include "tools/weft/CkptCommand.h"
#include "tools/weft/Command.h"

#include "runtime/checkpoint/CheckpointComparison.h"

namespace weft::checkpoint {
namespace {

struct Ran {
  int code = 0;
  std::string out, err;
};

Ran run(const std::string &arguments) {
  CLI::App app("", "weft");
  addCkptCommand(app);
  Ran result;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  try {
    app.parse(arguments);
  } catch (const CLI::RuntimeError &error) {
    result.code = error.get_exit_code();
  }
  result.out = ::testing::internal::GetCapturedStdout();
  result.err = ::testing::internal::GetCapturedStderr();
  return result;
}

class CkptCommand : public ::testing::Test {
protected:
  void SetUp() override {
    for (int64_t step : {1, 2})
      save(folder / "run/checkpoints", Program(step));
  }
  static void save(const std::string &checkpoints, const Program &program) {
    const absl::Status status = saveCheckpoint(checkpoints, program.state, program.views());
    ASSERT_TRUE(status.ok()) << status;
  }
  TestFolder folder;
  std::string one = folder / "run/checkpoints/step-1", two = folder / "run/checkpoints/step-2";
};

TEST_F(CkptCommand, InspectPrintsTheTensorsAndTheState) {
  const Ran ran = run("ckpt inspect " + one);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, one + ": step 1, 3 tensors, 80 bytes in 1 file\n"
                           "version 2: a checksum for each 262,144 bytes of a file\n"
                           "  tensor         type             bytes\n"
                           "  updates        tensor<i64>          8\n"
                           "  weight         tensor<2x3xf32>     24\n"
                           "  weight.moment  tensor<2x3xf64>     48\n"
                           "config: 1 line (--json shows them)\n"
                           "consumed_samples: 32\n");
}

TEST_F(CkptCommand, InspectOfARunShowsItsLatestWholeCheckpoint) {
  EXPECT_EQ(run("ckpt inspect " + (folder / "run")).out, run("ckpt inspect " + two).out);
  std::filesystem::remove(two + "/manifest.json");
  const Ran ran = run("ckpt inspect " + (folder / "run/checkpoints"));
  EXPECT_EQ(ran.out, run("ckpt inspect " + one).out);
  EXPECT_EQ(ran.err, two + ": broken checkpoint: it has no manifest.json. Use another checkpoint.\n");
}

TEST_F(CkptCommand, InspectPrintsJson) {
  const nlohmann::json json = nlohmann::json::parse(run("ckpt inspect --json " + one).out);
  EXPECT_EQ(json["step"], 1);
  EXPECT_EQ(json["block_bytes"], 262144);
  EXPECT_EQ(json["tensors"][1],
            nlohmann::json(
                {{"name", "weight"}, {"dtype", "f32"}, {"shape", {2, 3}}, {"placement", ""}, {"bytes", 24}}));
  EXPECT_EQ(json["text"]["config"], "seed: 1\n");
  EXPECT_EQ(json["values"]["consumed_samples"], 32);
  EXPECT_EQ(json["files"][0]["name"], "rank-00000.safetensors");
}

TEST_F(CkptCommand, InspectOfNothingFails) {
  const Ran ran = run("ckpt inspect " + (folder / "nothing"));
  EXPECT_EQ(ran.code, static_cast<int>(ExitCode::Checkpoint));
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find(folder / "nothing: no such checkpoint. Check the path."), std::string::npos)
      << ran.err;
}

TEST_F(CkptCommand, VerifySaysThatACheckpointIsWhole) {
  const Ran ran = run("ckpt verify " + one);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, one + ": whole: 3 tensors, 80 bytes, every checksum matches\n");
}

TEST_F(CkptCommand, VerifyOfARunFindsEveryBrokenCheckpoint) {
  const std::string file = one + "/rank-00000.safetensors";
  std::string bytes = readText(file);
  bytes[bytes.size() - 25] ^= 1; // The last byte of weight.moment.
  writeText(file, bytes);
  std::filesystem::remove(two + "/rank-00000.safetensors");
  const Ran ran = run("ckpt verify " + (folder / "run"));
  EXPECT_EQ(ran.code, static_cast<int>(ExitCode::Checkpoint));
  const std::string checksums =
      ran.out.substr(std::min(ran.out.find("their checksum is"), ran.out.size()), 63);
  EXPECT_EQ(ran.out,
            one + ": broken: 1 problem\n  " + file +
                ": bytes 0 to 280 are damaged, which hold tensors 'updates', 'weight' and 'weight.moment': " +
                checksums +
                " Use another checkpoint (move this folder away to go on from the one before it).\n" + two +
                ": broken: 1 problem\n  " + two +
                "/rank-00000.safetensors: broken checkpoint: the file is missing. Use another checkpoint.\n");
  const nlohmann::json json = nlohmann::json::parse(run("ckpt verify --json " + (folder / "run")).out);
  EXPECT_EQ(json[0]["folder"], one);
  EXPECT_EQ(json[0]["whole"], false);
  EXPECT_EQ(json[0]["problems"].size(), 1u);
}

TEST_F(CkptCommand, DiffOfEqualTensorsSaysSo) {
  Program same(1);
  same.state.values["seed"] = 5;
  save(folder / "other", same);
  const std::string other = folder / "other/step-1";
  const Ran ran = run("ckpt diff " + one + " " + other);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "a: " + one + "\nb: " + other +
                         "\nequal: every bit of 3 tensors\n"
                         "run state differs in /values/seed\n");
}

TEST_F(CkptCommand, DiffNamesEachDifferingTensor) {
  Program changed(1);
  changed.weight[4] *= 2;
  changed.weight[5] = std::numeric_limits<float>::infinity();
  changed.moment.resize(3);
  std::vector<TensorView> views = changed.views();
  views[1].type.shape = {3};
  views.push_back({"extra", {DType::F32, {6}}, changed.weight.data(), {}});
  ASSERT_TRUE(saveCheckpoint(folder / "other", changed.state, views).ok());
  const std::string other = folder / "other/step-1";
  const Ran ran = run("ckpt diff " + one + " " + other);
  EXPECT_EQ(ran.code, static_cast<int>(ExitCode::Checkpoint));
  EXPECT_EQ(ran.out,
            "a: " + one + "\nb: " + other +
                "\ndifferent: 3 of 4 tensors\n"
                "  extra: absent and tensor<6xf32>\n"
                "  weight: 2 of 6 elements differ, the first at 4; max |a-b| 5, relative 0.5; 1 not finite\n"
                "  weight.moment: tensor<2x3xf64> and tensor<3xf64>\n");
  const nlohmann::json json = nlohmann::json::parse(run("ckpt diff --json " + one + " " + other).out);
  EXPECT_EQ(json["equal"], false);
  EXPECT_EQ(json["tensors"][2], nlohmann::json({{"name", "weight"},
                                                {"equal", false},
                                                {"first_type", "tensor<2x3xf32>"},
                                                {"second_type", "tensor<2x3xf32>"},
                                                {"elements", 6},
                                                {"differing", 2},
                                                {"first_index", 4},
                                                {"not_finite", 1},
                                                {"max_absolute", 5.0},
                                                {"max_relative", 0.5}}));
}

template <typename Stored>
TensorComparison compare(DType type, std::vector<Stored> a, std::vector<Stored> b) {
  const SafetensorsType stored = toSafetensors(type);
  return compareElements(stored, std::as_bytes(std::span(a)), stored, std::as_bytes(std::span(b)));
}

TEST(CompareElements, DecodesEveryType) {
  EXPECT_EQ(compare<uint8_t>(DType::I1, {0, 1}, {0, 0}).maxAbsolute, 1);
  EXPECT_EQ(compare<int32_t>(DType::I32, {-3}, {4}).maxAbsolute, 7);
  EXPECT_EQ(compare<int64_t>(DType::I64, {int64_t{1} << 40}, {0}).maxAbsolute, std::ldexp(1.0, 40));
  EXPECT_EQ(compare<uint16_t>(DType::BF16, {0x3f80}, {0xbf80}).maxAbsolute, 2); // 1 and -1
  EXPECT_EQ(compare<uint16_t>(DType::F16, {0x3c00}, {0xc000}).maxAbsolute, 3);  // 1 and -2
  EXPECT_EQ(compare<uint16_t>(DType::F16, {0x0001}, {0x0000}).maxAbsolute, std::ldexp(1.0, -24));
  EXPECT_EQ(compare<uint16_t>(DType::F16, {0x7c00, 0x7e00}, {0, 0}).notFinite, 2); // infinity and NaN
  EXPECT_EQ(compare<float>(DType::F32, {1.5f}, {1.0f}).maxRelative, 0.5 / 1.5);
  EXPECT_EQ(compare<double>(DType::F64, {1.5}, {1.0}).maxAbsolute, 0.5);
}

TEST(CompareElements, GoesByBits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(compare<float>(DType::F32, {nan}, {nan}).differing, 0);
  const TensorComparison zeros = compare<float>(DType::F32, {1, 0.0f}, {1, -0.0f});
  EXPECT_EQ(zeros.differing, 1);
  EXPECT_EQ(zeros.firstIndex, 1);
  EXPECT_EQ(zeros.maxAbsolute, 0);
}

} // namespace
} // namespace weft::checkpoint
