//===- ImportFolderTest.cpp - A Hugging Face folder becomes a checkpoint ---===//
//
// What the checkpoint holds, and that it is whole or absent: the import is failed and killed at each
// operation that changes the disk.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/interchange/Folders.h"

#include "runtime/interchange/ImportFolder.h"
#include "runtime/support/ExitCode.h"

#include <csignal>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::interchange {
namespace {
using checkpoint::Checkpoint;
using checkpoint::FaultySystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A folder of three tensors, imported as often as is wanted.
class Import : public ::testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(scratch / "out");
    makeFolder(scratch, {{"model.embed_tokens.weight", {6, 4}, DType::BF16},
                         {"model.layers.0.self_attn.q_proj.weight", {6, 4}, DType::F32, 100},
                         {"model.norm.weight", {4}, DType::F64, 200}});
  }
  absl::StatusOr<ImportResult> run(checkpoint::FileSystem &files = checkpoint::systemFiles()) {
    const Parameters parameters = {{"model.embed_tokens.weight", {DType::F32, {8, 4}}},
                                   {"model.layers.0.self_attn.q_proj.weight", {DType::F32, {2, 3, 4}}},
                                   {"model.norm.weight", {DType::F32, {4}}}};
    absl::StatusOr<FolderParameters> source = FolderParameters::match(openFolder(scratch / "hf"), parameters);
    EXPECT_TRUE(source.ok()) << source.status();
    ImportRequest request{output, "train: {seed: 1}\n", &files};
    request.stopRequested = [this] { return stops; };
    return importFolder(*source, request);
  }
  std::vector<std::string> left() const {
    return *checkpoint::listFolder(checkpoint::systemFiles(), scratch / "out");
  }
  /// The number of operations of an undisturbed import.
  int64_t operations() {
    FaultySystem files;
    EXPECT_TRUE(run(files).ok());
    std::filesystem::remove_all(output);
    return files.count;
  }
  void expectWhole() {
    const absl::StatusOr<Checkpoint> imported = checkpoint::openCheckpoint(output);
    ASSERT_TRUE(imported.ok()) << imported.status();
    EXPECT_THAT(imported->verify(), ElementsAre());
    EXPECT_THAT(left(), ElementsAre("model"));
  }

  TestFolder scratch;
  const std::string output = scratch / "out/model";
  bool stops = false;
};

TEST_F(Import, MakesACheckpointOfStepZero) {
  const absl::StatusOr<ImportResult> result = run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->tensors, 3u);
  EXPECT_EQ(result->bytes, (32 + 24 + 4) * 4);
  EXPECT_EQ(result->rounded, 0);
  expectWhole();
  const absl::StatusOr<Checkpoint> imported = checkpoint::openCheckpoint(output);
  EXPECT_EQ(imported->state().step, 0);
  EXPECT_EQ(imported->state().text.at("config"), "train: {seed: 1}\n");
  ASSERT_EQ(imported->tensors().size(), 3u);
  EXPECT_EQ(imported->find("model.layers.0.self_attn.q_proj.weight")->type.str(), "tensor<2x3x4xf32>");
  const std::vector<float> embedding = checkpoint::readAs<float>(*imported, "model.embed_tokens.weight", 32);
  for (size_t i = 0; i < embedding.size(); ++i)
    EXPECT_EQ(embedding[i], i < 24 ? static_cast<float>(i) : 0);
  EXPECT_THAT(checkpoint::readAs<float>(*imported, "model.norm.weight", 4), ElementsAre(200, 201, 202, 203));
}

TEST_F(Import, ATakenNameIsRefusedAndKept) {
  std::filesystem::create_directories(output);
  checkpoint::writeText(output + "/mine", "1");
  const absl::StatusOr<ImportResult> result = run();
  EXPECT_THAT(std::string(result.status().message()), HasSubstr(output + ": is there already. Move it away"));
  EXPECT_EQ(checkpoint::readText(output + "/mine"), "1");
  EXPECT_THAT(left(), ElementsAre("model"));
}

TEST_F(Import, StopsWhenAskedAndLeavesNothing) {
  stops = true;
  const absl::StatusOr<ImportResult> result = run();
  EXPECT_EQ(exitCodeOf(result.status()), ExitCode::Stopped);
  EXPECT_THAT(left(), ElementsAre());
}

TEST_F(Import, FailedAtAnyOperationLeavesNothing) {
  const int64_t count = operations();
  ASSERT_GT(count, 8);
  for (int64_t at = 0; at < count; ++at)
    for (int error : {EIO, ENOSPC}) {
      FaultySystem files;
      std::string name;
      files.fault = [&](const FaultySystem::Operation &operation) {
        if (operation.number != at)
          return 0;
        name = operation.name;
        return -error;
      };
      const absl::StatusOr<ImportResult> result = run(files);
      ASSERT_FALSE(result.ok()) << at;
      EXPECT_EQ(exitCodeOf(result.status()), ExitCode::Checkpoint);
      // After the rename the checkpoint is there; that the disk knows its name was the last thing to be done.
      if (at == count - 1)
        expectWhole();
      else
        EXPECT_THAT(left(), ElementsAre()) << "operation " << at << ", " << name;
      std::filesystem::remove_all(output);
    }
  EXPECT_TRUE(run().ok());
}

TEST_F(Import, KilledAtAnyOperationIsWholeOrAbsent) {
  const int64_t count = operations();
  for (int64_t at = 0; at < count; ++at) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      FaultySystem files;
      files.fault = [&](const FaultySystem::Operation &operation) {
        if (operation.number == at)
          ::kill(::getpid(), SIGKILL);
        return 0;
      };
      ::_exit(run(files).ok() ? 1 : 2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << "operation " << at << " was not reached";
    if (std::filesystem::exists(output))
      std::filesystem::remove_all(output); // the kill came after the rename
    const absl::StatusOr<ImportResult> again = run();
    ASSERT_TRUE(again.ok()) << again.status();
    expectWhole();
    std::filesystem::remove_all(output);
  }
}

TEST_F(Import, AFullDiskIsToldBeforeAnythingIsWritten) {
  class FullDisk : public FaultySystem {
    int64_t freeBytes(const std::string &) override { return 100; }
  } files;
  const absl::StatusOr<ImportResult> result = run(files);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("the disk is full: 240 bytes needed, 100 free"));
  EXPECT_THAT(left(), ElementsAre());
}

/// Bytes of data that this process has, as RLIMIT_DATA counts them.
rlim_t dataBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (rlim_t kilobytes = 0; word == "VmData:" && status >> kilobytes)
      return kilobytes << 10;
  return 0;
}

TEST_F(Import, ATensorOfAnySizeNeedsAStretchOfMemory) {
  constexpr int64_t rows = int64_t{1} << 14, columns = 2048; // 128 MiB
  absl::StatusOr<checkpoint::SafetensorsHeader> header =
      checkpoint::layOutSafetensors({{"w", SafetensorsType::F32, {rows, columns}, 0, 0}}, {}, "f");
  ASSERT_TRUE(header.ok());
  checkpoint::writeText(scratch / "hf/model.safetensors", checkpoint::formatSafetensorsHeader(*header));
  std::filesystem::resize_file(scratch / "hf/model.safetensors",
                               static_cast<uintmax_t>(header->dataEnd)); // zeros
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit limit = {dataBytes() + (16 << 20), dataBytes() + (16 << 20)};
    ::setrlimit(RLIMIT_DATA, &limit);
    absl::StatusOr<FolderParameters> source =
        FolderParameters::match(openFolder(scratch / "hf"), {{"w", {DType::F32, {rows, 2, columns / 2}}}});
    ::_exit(source.ok() && importFolder(*source, {output, ""}).ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  expectWhole();
}

} // namespace
} // namespace weft::interchange
