//===- DataLoader.h - Microbatches, ahead of time -------------------------===//
//
// Of a global batch of G samples over D data ranks, rank r owns samples rG/D to (r+1)G/D - 1, cut into
// microbatches in order. A thread reads the microbatches that come next into a bounded ring while the step
// computes; asking for another one than the next restarts it there at once. The ring is allocated when the
// loader is made, and nothing afterwards.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_DATALOADER_H
#define WEFT_RUNTIME_DATA_DATALOADER_H

#include "runtime/data/TrainingData.h"

#include "absl/status/statusor.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace weft {

struct DataLoaderOptions {
  Split split = Split::Training;
  int64_t globalBatch = 1; ///< samples of a step, over all ranks
  int64_t microBatch = 1;  ///< samples of a microbatch of one rank
  int64_t dataRanks = 1;
  int64_t rank = 0;
  int64_t firstStep = 0; ///< where reading ahead begins
  int64_t prefetch = 2;  ///< microbatches read ahead, at least 1
};

/// The buffers of one microbatch of b samples of T tokens, row-major; the caller owns them. Those of segments
/// and positions are empty where they are not wanted.
struct Microbatch {
  std::span<int32_t> tokens;         ///< [b, T]
  std::span<int32_t> targets;        ///< [b, T]
  std::span<int64_t> sampleIds;      ///< [b]: the number of each sample in the run, the same on every mesh
  std::span<int32_t> segments = {};  ///< [b, T] (Sample, TrainingData.h)
  std::span<int32_t> positions = {}; ///< [b, T]
};

class DataLoader {
public:
  /// Refuses batches that do not divide, naming what would.
  static absl::StatusOr<std::unique_ptr<DataLoader>> create(std::shared_ptr<const TrainingData> data,
                                                            const DataLoaderOptions &options);
  ~DataLoader();
  DataLoader(const DataLoader &) = delete;
  DataLoader &operator=(const DataLoader &) = delete;

  /// Microbatches of a step on this rank: G / (D b).
  int64_t microbatchesPerStep() const { return perStep; }

  /// Fills `out` with microbatch `microbatch` of step `step` (both from 0). One caller at a time.
  absl::Status read(int64_t step, int64_t microbatch, const Microbatch &out);

  /// Time that read() has spent waiting for the thread, so far.
  double secondsWaited() const { return static_cast<double>(nanosecondsWaited) * 1e-9; }

  /// Bytes of the ring: a row of the memory plan.
  static int64_t bufferBytes(int64_t sequenceLength, const DataLoaderOptions &options);

private:
  DataLoader(std::shared_ptr<const TrainingData> data, const DataLoaderOptions &options);

  struct Slot {
    int64_t position = 0;
    absl::Status status;
    std::unique_ptr<int32_t[]> tokens, targets, segments, positions;
    std::unique_ptr<int64_t[]> sampleIds;
  };
  void readAhead();
  void fill(Slot &slot, int64_t position, SampleScratch &scratch) const;

  std::shared_ptr<const TrainingData> data;
  DataLoaderOptions options;
  int64_t perStep;
  int64_t nanosecondsWaited = 0;

  /// Slots first .. first + ready - 1 (modulo the size) hold microbatches of ascending position.
  std::vector<Slot> ring;
  std::mutex mutex;
  std::condition_variable changed;
  size_t first = 0;
  size_t ready = 0;
  int64_t nextPosition;
  int64_t underway = -1; ///< what the thread is reading now, unless that is no longer wanted; else -1
  int64_t restarts = 0;
  bool stopping = false;
  std::thread thread;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_DATALOADER_H
