//===- EncodingPipeline.cpp - A corpus encoded on all cores, in order -----===//
//
// Why it cannot stand still: the batch that the caller takes from always has room for its next unit, encoders
// finish whatever is read, and the caller waits for the first unit of that batch alone. The other batches are
// read ahead only while the total has room.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/EncodingPipeline.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

constexpr size_t unitBytes = size_t{1} << 18;

/// A compressed file is read about eight times as fast as one thread encodes it.
constexpr int64_t encodersOfAReader = 8;

} // namespace

EncodingPipeline::EncodingPipeline(const std::vector<SourceFile> &files, const Tokenizer &tokenizer,
                                   const EncodingOptions &options)
    : files(files), tokenizer(tokenizer), options(options) {
  int64_t size = static_cast<int64_t>(files.size());
  int64_t bytes = 0;
  for (int64_t i = options.begin.file; i < size; ++i) {
    if (batches.empty() || bytes >= static_cast<int64_t>(unitBytes)) {
      batches.emplace_back().firstFile = i;
      bytes = 0;
    }
    batches.back().endFile = i + 1;
    bytes += files[static_cast<size_t>(i)].bytes;
  }
  int64_t threads = std::max<int64_t>(options.threads, 1);
  unitLimit = static_cast<size_t>(2 * threads + 2);
  for (int64_t i = 0; i < 1 + threads / encodersOfAReader; ++i)
    workers.emplace_back([this] { read(); });
  for (int64_t i = 0; i < threads; ++i)
    workers.emplace_back([this] { encode(); });
}

EncodingPipeline::~EncodingPipeline() {
  {
    std::lock_guard lock(mutex);
    isStopping = true;
  }
  roomCame.notify_all();
  workCame.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void EncodingPipeline::read() {
  std::unique_lock lock(mutex);
  while (!isStopping && nextBatch < batches.size()) {
    size_t number = nextBatch++;
    lock.unlock();
    readBatch(number);
    lock.lock();
    batches[number].isRead = true;
    resultCame.notify_all();
  }
}

void EncodingPipeline::readBatch(size_t number) {
  auto unit = std::make_unique<Unit>();
  size_t bytes = 0;
  absl::Status status;
  for (int64_t i = batches[number].firstFile; status.ok() && i < batches[number].endFile; ++i) {
    SourcePosition begin = i == options.begin.file ? options.begin : SourcePosition{.file = i};
    absl::StatusOr<PieceReader> reader =
        PieceReader::open(files[static_cast<size_t>(i)], begin,
                          [this](std::string_view text) { return tokenizer.independentPrefix(text); });
    status = reader.status();
    for (bool fileEnded = false; status.ok() && !fileEnded;) {
      SourcePiece piece;
      status = reader->next(piece);
      if (!status.ok())
        break;
      fileEnded = piece.endsFile;
      bytes += piece.text.size();
      unit->pieces.push_back(std::move(piece));
      if (bytes < unitBytes)
        continue;
      if (!push(number, std::exchange(unit, std::make_unique<Unit>())))
        return;
      bytes = 0;
    }
  }
  unit->readError = std::move(status);
  if (!unit->pieces.empty() || !unit->readError.ok())
    push(number, std::move(unit));
}

/// Waits for room; false when the pipeline ends instead.
bool EncodingPipeline::push(size_t batch, std::unique_ptr<Unit> unit) {
  std::unique_lock lock(mutex);
  roomCame.wait(lock, [&] {
    size_t ahead = batch == currentBatch ? batches[batch].units.size() : unitsAhead;
    return isStopping || ahead < unitLimit;
  });
  if (isStopping)
    return false;
  waiting.push_back(unit.get());
  workCame.notify_one();
  batches[batch].units.push_back(std::move(unit));
  ++unitsAhead;
  return true;
}

void EncodingPipeline::encode() {
  PieceEncoder encoder(tokenizer, options.type, options.jsonKey);
  std::unique_lock lock(mutex);
  while (true) {
    workCame.wait(lock, [&] { return isStopping || !waiting.empty(); });
    if (isStopping)
      return;
    Unit *unit = waiting.front();
    waiting.pop_front();
    lock.unlock();
    for (SourcePiece &piece : std::exchange(unit->pieces, {}))
      if (unit->status.ok())
        unit->status = encoder.encode(piece, unit->result);
    if (unit->status.ok())
      unit->status = std::move(unit->readError);
    lock.lock();
    unit->isDone = true;
    resultCame.notify_all();
  }
}

absl::StatusOr<std::optional<EncodedPieces>> EncodingPipeline::next() {
  std::unique_lock lock(mutex);
  while (currentBatch < batches.size()) {
    Batch &batch = batches[currentBatch];
    resultCame.wait(lock, [&] { return batch.units.empty() ? batch.isRead : batch.units.front()->isDone; });
    if (batch.units.empty()) {
      ++currentBatch;
      roomCame.notify_all();
      continue;
    }
    std::unique_ptr<Unit> unit = std::move(batch.units.front());
    batch.units.pop_front();
    --unitsAhead;
    roomCame.notify_all();
    lock.unlock();
    if (!unit->status.ok())
      return unit->status;
    return std::move(unit->result);
  }
  return std::nullopt;
}

} // namespace weft
