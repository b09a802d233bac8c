//===- VolatileDisk.cpp - A training whose disk loses what is not synced --===//
//
// What `weft train` does with an executable, on virtual ranks, whose checkpoints go through VolatileFiles:
// whoever kills it sees what a machine leaves that loses power. And saves that are broken on purpose.
//
//===----------------------------------------------------------------------===//
#include "tools/weft-trials/TrainExecutable.h"
#include "tools/weft-trials/Trials.h"
#include "tools/weft-trials/VolatileFiles.h"

#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include <fcntl.h>

namespace weft::trials {

namespace {

/// Copies that are made only when the saving thread comes to write them, after some steps more.
class LateCopies {
public:
  void note(void *to, const void *from, size_t bytes) {
    std::lock_guard lock(mutex);
    copies.push_back({to, from, bytes});
  }
  void make() {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::lock_guard lock(mutex);
    for (const Copy &copy : copies)
      std::memcpy(copy.to, copy.from, copy.bytes);
  }

private:
  struct Copy {
    void *to;
    const void *from;
    size_t bytes;
  };
  std::mutex mutex;
  std::vector<Copy> copies;
};

/// Opening a rank's file is when its tensors are about to be written.
class LateFiles final : public checkpoint::FileSystem {
public:
  explicit LateFiles(LateCopies &copies) : copies(copies) {}
  int open(const std::string &path, int flags, mode_t mode) override {
    if ((flags & O_CREAT) != 0 && path.ends_with(".safetensors"))
      copies.make();
    return FileSystem::open(path, flags, mode);
  }

private:
  LateCopies &copies;
};

} // namespace

int runVolatileDisk(const VolatileDiskOptions &options) {
  TrainRequest request = requestFor(options.file, options.name);
  VolatileFiles volatileFiles(options.sabotage == "skip_fsync");
  LateCopies late;
  LateFiles lateFiles(late);
  request.saving.files = &volatileFiles;
  if (options.sabotage == "late_snapshot") {
    request.saving.files = &lateFiles;
    request.saving.copy = [&](void *to, const void *from, size_t bytes) { late.note(to, from, bytes); };
  }
  return train(request);
}

} // namespace weft::trials
