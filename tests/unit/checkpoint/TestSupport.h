//===- TestSupport.h - Folders, tensors and faults for the tests here -----===//
//
// A folder that goes away with the test, small programs' states to save, and file systems that fail or stop
// at a chosen operation.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_CHECKPOINT_TESTSUPPORT_H
#define WEFT_TESTS_UNIT_CHECKPOINT_TESTSUPPORT_H

#include "tests/unit/TestFolder.h"

#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/checkpoint/FileOperations.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <span>

#include <fcntl.h>
#include <unistd.h>

namespace weft::checkpoint {

inline std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void writeText(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

inline std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " is not in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// Writes the manifest of a checkpoint anew: with blocks of another size, and the checksums of what the files
/// hold now.
inline void reblock(const std::string &folder, int64_t blockBytes) {
  const std::string path = folder + "/" + kManifestName;
  absl::StatusOr<Manifest> manifest = parseManifest(readText(path), path);
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  manifest->blockBytes = blockBytes;
  for (FileRecord &file : manifest->files) {
    const std::string bytes = readText(folder + "/" + file.name);
    BlockChecksums blocks(blockBytes);
    blocks.update(bytes.data(), bytes.size());
    file.blocks = blocks.finish();
  }
  writeText(path, *formatManifest(*manifest));
}

/// Reads one slice, by one thread.
inline absl::Status readSlice(const Checkpoint &checkpoint, const std::string &name, const Slice &slice,
                              const std::vector<int64_t> &memory, std::span<std::byte> into) {
  return checkpoint.readSlices({{name, slice, memory, into}}, 1).status();
}

/// A program's tensors, whose values tell the step.
struct Program {
  explicit Program(int64_t step, size_t count = 6)
      : weight(count), moment(count),
        state{step, {{"config", "seed: 1\n"}}, {{"consumed_samples", step * 32}}} {
    std::iota(weight.begin(), weight.end(), static_cast<float>(step));
    std::iota(moment.begin(), moment.end(), static_cast<double>(-step));
  }
  std::vector<TensorView> views() const {
    const auto n = static_cast<int64_t>(weight.size());
    return {{"weight", {DType::F32, {n / 3, 3}}, weight.data(), {}},
            {"weight.moment", {DType::F64, {n / 3, 3}}, moment.data(), {}},
            {"updates", {DType::I64, {}}, &state.step, {}}};
  }
  std::vector<float> weight;
  std::vector<double> moment;
  CheckpointState state;
};

template <typename Element>
std::vector<Element> readAs(const Checkpoint &checkpoint, const std::string &name, size_t count) {
  std::vector<Element> values(count);
  const absl::Status status = checkpoint.read(name, std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(status.ok()) << status;
  return values;
}

/// The step of the latest whole checkpoint, all of whose bits were compared with those that were saved; -1
/// when there is none.
inline int64_t latestWholeStep(const std::string &checkpoints) {
  absl::StatusOr<LatestCheckpoint> latest = findLatest(checkpoints);
  EXPECT_TRUE(latest.ok()) << latest.status();
  if (!latest.ok() || !latest->checkpoint)
    return -1;
  const Checkpoint &checkpoint = *latest->checkpoint;
  EXPECT_TRUE(checkpoint.verify().empty()) << checkpoint.verify().front();
  const size_t count = static_cast<size_t>(checkpoint.find("weight")->type.elements());
  const Program saved(checkpoint.state().step, count);
  EXPECT_EQ(checkpoint.state(), saved.state);
  EXPECT_EQ(readAs<float>(checkpoint, "weight", count), saved.weight);
  EXPECT_EQ(readAs<double>(checkpoint, "weight.moment", count), saved.moment);
  return saved.state.step;
}

/// Counts the operations that change the disk, and hands each to `fault` before it is done: a result other
/// than 0 is returned (-errno) instead of doing it. `fault` may also end the process.
class FaultySystem : public FileSystem {
public:
  struct Operation {
    int64_t number; ///< From 0.
    std::string name;
    std::string path; ///< Empty for those on a descriptor.
    const void *data = nullptr;
    size_t size = 0;
    int descriptor = -1;
  };
  std::function<int(const Operation &)> fault = [](const Operation &) { return 0; };
  int64_t count = 0;

  int open(const std::string &path, int flags, mode_t mode) override;
  int64_t write(int descriptor, const void *data, size_t size) override;
  int fsync(int descriptor) override;
  int mkdir(const std::string &path, mode_t mode) override;
  int rename(const std::string &from, const std::string &to) override;
  int exchange(const std::string &first, const std::string &second) override;
  int unlink(const std::string &path) override;
  int rmdir(const std::string &path) override;

private:
  int before(Operation operation) {
    operation.number = count++;
    return fault(operation);
  }
};

inline int FaultySystem::open(const std::string &path, int flags, mode_t mode) {
  const int error = (flags & O_CREAT) ? before({0, "create", path}) : 0;
  return error ? error : FileSystem::open(path, flags, mode);
}
inline int64_t FaultySystem::write(int descriptor, const void *data, size_t size) {
  const int error = before({0, "write", "", data, size, descriptor});
  return error ? error : FileSystem::write(descriptor, data, size);
}
inline int FaultySystem::fsync(int descriptor) {
  const int error = before({0, "fsync", "", nullptr, 0, descriptor});
  return error ? error : FileSystem::fsync(descriptor);
}
inline int FaultySystem::mkdir(const std::string &path, mode_t mode) {
  const int error = before({0, "mkdir", path});
  return error ? error : FileSystem::mkdir(path, mode);
}
inline int FaultySystem::rename(const std::string &from, const std::string &to) {
  const int error = before({0, "rename", from});
  return error ? error : FileSystem::rename(from, to);
}
inline int FaultySystem::exchange(const std::string &first, const std::string &second) {
  const int error = before({0, "exchange", first});
  return error ? error : FileSystem::exchange(first, second);
}
inline int FaultySystem::unlink(const std::string &path) {
  const int error = before({0, "unlink", path});
  return error ? error : FileSystem::unlink(path);
}
inline int FaultySystem::rmdir(const std::string &path) {
  const int error = before({0, "rmdir", path});
  return error ? error : FileSystem::rmdir(path);
}

} // namespace weft::checkpoint

#endif // WEFT_TESTS_UNIT_CHECKPOINT_TESTSUPPORT_H
