//===- DataLoader.cpp - Microbatches, ahead of time -----------------------===//
//
// A microbatch is known by its position, step x microbatches per step + microbatch. The thread owns the slot
// behind the ready ones, the caller the first ready one; `restarts` tells the thread that what it is filling
// is no longer wanted.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/DataLoader.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace weft {
namespace {

absl::Status checkBatches(const DataLoaderOptions &o) {
  if (o.globalBatch < 1 || o.microBatch < 1 || o.dataRanks < 1)
    return absl::InvalidArgumentError(
        absl::StrCat("train.global_batch (", o.globalBatch, "), train.micro_batch (", o.microBatch,
                     ") and data ranks (", o.dataRanks, ") must be at least 1"));
  if (o.rank < 0 || o.rank >= o.dataRanks)
    return absl::InvalidArgumentError(
        absl::StrCat("data rank ", o.rank, " is not one of the ", o.dataRanks, " data ranks"));
  if (o.globalBatch % (o.dataRanks * o.microBatch) != 0) {
    int64_t unit = o.dataRanks * o.microBatch;
    int64_t below = o.globalBatch / unit * unit;
    std::string works = below == 0 ? absl::StrCat(unit) : absl::StrCat(below, " or ", below + unit);
    return absl::InvalidArgumentError(
        absl::StrCat("train.global_batch: ", o.globalBatch, " is not a multiple of ", o.dataRanks,
                     " data ranks x train.micro_batch ", o.microBatch, ". Works: ", works, "."));
  }
  if (o.prefetch < 1 || o.firstStep < 0)
    return absl::InvalidArgumentError(absl::StrCat("reading ahead ", o.prefetch, " microbatches from step ",
                                                   o.firstStep, ": at least 1 and at least 0 are possible"));
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::unique_ptr<DataLoader>> DataLoader::create(std::shared_ptr<const TrainingData> data,
                                                               const DataLoaderOptions &options) {
  if (absl::Status status = checkBatches(options); !status.ok())
    return status;
  if (data->samples(options.split) == 0)
    return absl::FailedPreconditionError("no tokens are held out: set data.validation_fraction above 0");
  return std::unique_ptr<DataLoader>(new DataLoader(std::move(data), options));
}

DataLoader::DataLoader(std::shared_ptr<const TrainingData> data, const DataLoaderOptions &options)
    : data(std::move(data)), options(options),
      perStep(options.globalBatch / (options.dataRanks * options.microBatch)), ring(options.prefetch),
      nextPosition(options.firstStep * perStep) {
  int64_t tokens = options.microBatch * this->data->sequenceLength();
  for (Slot &slot : ring) {
    for (std::unique_ptr<int32_t[]> *rows : {&slot.tokens, &slot.targets, &slot.segments, &slot.positions})
      rows->reset(new int32_t[tokens]);
    slot.sampleIds.reset(new int64_t[options.microBatch]);
  }
  thread = std::thread([this] { readAhead(); });
}

DataLoader::~DataLoader() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

int64_t DataLoader::bufferBytes(int64_t sequenceLength, const DataLoaderOptions &options) {
  int64_t sampleBytes = 4 * sequenceLength * static_cast<int64_t>(sizeof(int32_t)) + sizeof(int64_t);
  return options.prefetch * options.microBatch * sampleBytes;
}

void DataLoader::fill(Slot &slot, int64_t position, SampleScratch &scratch) const {
  int64_t step = position / perStep;
  int64_t microbatch = position % perStep;
  int64_t firstSample = step * options.globalBatch +
                        options.rank * (options.globalBatch / options.dataRanks) +
                        microbatch * options.microBatch;
  size_t length = static_cast<size_t>(data->sequenceLength());
  slot.position = position;
  slot.status = absl::OkStatus();
  for (int64_t i = 0; i < options.microBatch; ++i) {
    auto row = [&](const std::unique_ptr<int32_t[]> &rows) {
      return std::span(rows.get() + static_cast<size_t>(i) * length, length);
    };
    slot.sampleIds[i] = firstSample + i;
    slot.status =
        data->read(options.split, firstSample + i,
                   {row(slot.tokens), row(slot.targets), row(slot.segments), row(slot.positions)}, scratch);
    if (!slot.status.ok())
      return;
  }
}

void DataLoader::readAhead() {
  SampleScratch scratch;
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return stopping || ready < ring.size(); });
    if (stopping)
      return;
    Slot &slot = ring[(first + ready) % ring.size()];
    int64_t position = underway = nextPosition++;
    int64_t restartsBefore = restarts;
    lock.unlock();
    fill(slot, position, scratch);
    lock.lock();
    if (restarts != restartsBefore)
      continue;
    underway = -1;
    ++ready;
    changed.notify_all();
  }
}

absl::Status DataLoader::read(int64_t step, int64_t microbatch, const Microbatch &out) {
  size_t samples = static_cast<size_t>(options.microBatch);
  size_t tokens = samples * static_cast<size_t>(data->sequenceLength());
  auto isGiven = [&](std::span<int32_t> rows) { return rows.empty() || rows.size() == tokens; };
  if (step < 0 || microbatch < 0 || microbatch >= perStep || out.tokens.size() != tokens ||
      out.targets.size() != tokens || out.sampleIds.size() != samples || !isGiven(out.segments) ||
      !isGiven(out.positions))
    return absl::InvalidArgumentError(absl::StrCat("microbatch ", microbatch, " of step ", step,
                                                   ": a step has ", perStep, " microbatches of ", samples,
                                                   " samples and ", tokens, " tokens"));
  int64_t position = step * perStep + microbatch;
  std::unique_lock lock(mutex);
  int64_t upcoming = ready != 0 ? ring[first].position : underway >= 0 ? underway : nextPosition;
  if (position != upcoming) {
    ++restarts;
    underway = -1;
    ready = 0;
    nextPosition = position;
    changed.notify_all();
  }
  if (ready == 0) {
    auto begin = std::chrono::steady_clock::now();
    changed.wait(lock, [this] { return ready != 0; });
    nanosecondsWaited += (std::chrono::steady_clock::now() - begin).count();
  }
  Slot &slot = ring[first];
  lock.unlock();
  std::copy_n(slot.tokens.get(), tokens, out.tokens.data());
  std::copy_n(slot.targets.get(), tokens, out.targets.data());
  std::copy_n(slot.segments.get(), out.segments.size(), out.segments.data());
  std::copy_n(slot.positions.get(), out.positions.size(), out.positions.data());
  std::copy_n(slot.sampleIds.get(), samples, out.sampleIds.data());
  absl::Status status = slot.status;
  lock.lock();
  first = (first + 1) % ring.size();
  --ready;
  changed.notify_all();
  return status;
}

} // namespace weft
