//===- SaveOnRanks.cpp - One checkpoint from all ranks --------------------===//
//
// Between any two steps of a save the ranks agree that the one before it worked: nobody writes into a folder
// that is not there, and the folder of a failed save is removed when nobody writes into it any more.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/SaveOnRanks.h"

#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/checkpoint/FileOperations.h"
#include "runtime/support/ExitCode.h"
#include "runtime/train/RankAgreement.h"

namespace weft {
namespace {

using namespace checkpoint;

absl::Status agree(Communicator &communicator, const absl::Status &mine) {
  return agreeOn(communicator, withExitCode(mine, ExitCode::Checkpoint));
}

absl::StatusOr<int64_t> bytesOfAll(Communicator &communicator, const std::vector<TensorView> &owned) {
  int64_t bytes = 0;
  for (const TensorView &tensor : owned)
    bytes += tensor.type.bytes();
  if (absl::Status status =
          communicator.allReduce(std::as_writable_bytes(std::span(&bytes, 1)), DType::I64, ReduceKind::Sum);
      !status.ok())
    return status;
  return bytes;
}

/// What this rank wrote, as text; empty for a rank that owns nothing and so has no file.
absl::StatusOr<std::string> writeOwned(const std::string &temporary, int64_t rank,
                                       const std::vector<TensorView> &owned, FileSystem &files) {
  if (owned.empty())
    return std::string();
  absl::StatusOr<RankRecord> record = writeRank(temporary, rank, owned, files);
  if (!record.ok())
    return record.status();
  return formatRankRecord(*record);
}

/// Makes one checkpoint of what all ranks wrote. On rank 0.
absl::Status commit(const std::string &temporary, const CheckpointState &state,
                    const std::vector<std::string> &written, FileSystem &files) {
  std::vector<RankRecord> records;
  for (const std::string &text : written) {
    if (text.empty())
      continue;
    absl::StatusOr<RankRecord> record = parseRankRecord(text);
    if (!record.ok())
      return record.status();
    records.push_back(*std::move(record));
  }
  return commitSave(temporary, state, records, files);
}

/// All that happens in the temporary folder, from the first rank's file to its final name.
absl::Status writeAndCommit(Communicator &communicator, const std::string &temporary,
                            const CheckpointState &state, const std::vector<TensorView> &owned,
                            FileSystem &files) {
  absl::StatusOr<std::string> mine = writeOwned(temporary, communicator.rank(), owned, files);
  if (absl::Status status = agree(communicator, mine.status()); !status.ok())
    return status;
  absl::StatusOr<std::vector<std::string>> all = gatherTexts(communicator, *mine);
  if (!all.ok())
    return all.status();
  return agree(communicator,
               communicator.rank() == 0 ? commit(temporary, state, *all, files) : absl::OkStatus());
}

absl::Status save(Communicator &communicator, const std::string &checkpoints, const CheckpointState &state,
                  const std::vector<TensorView> &owned, const SaveOptions &options) {
  absl::StatusOr<int64_t> bytes = bytesOfAll(communicator, owned);
  if (!bytes.ok())
    return bytes.status();
  const bool leads = communicator.rank() == 0;
  absl::Status begun;
  if (leads)
    begun = beginSave(checkpoints, state.step, *bytes, *options.files).status();
  if (absl::Status status = agree(communicator, begun); !status.ok())
    return status;
  const std::string temporary = temporaryFolder(checkpoints, state.step);
  if (absl::Status status = writeAndCommit(communicator, temporary, state, owned, *options.files);
      !status.ok()) {
    // What cannot be removed either is ignored by readers and removed by the next start; the cause is what
    // counts.
    if (leads)
      removeTree(*options.files, temporary).IgnoreError();
    return status;
  }
  return agree(communicator, leads ? removeOlder(checkpoints, state.step, options) : absl::OkStatus());
}

} // namespace

absl::Status saveOnRanks(Communicator &communicator, const std::string &checkpoints,
                         const CheckpointState &state, const std::vector<TensorView> &owned,
                         const SaveOptions &options) {
  if (communicator.size() == 1)
    return saveCheckpoint(checkpoints, state, owned, options);
  return withExitCode(save(communicator, checkpoints, state, owned, options), ExitCode::Checkpoint);
}

} // namespace weft
