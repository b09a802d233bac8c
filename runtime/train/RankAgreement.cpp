//===- RankAgreement.cpp - All ranks train the same run -------------------===//
//
// Gathers, from which every rank comes to the same answer.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/RankAgreement.h"

#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <vector>

namespace weft {

absl::Status checkRanksAgree(Communicator &communicator, const RunIdentity &identity) {
  constexpr const char *names[] = {"version of weft", "config", "tokenizer", "data"};
  constexpr std::string_view version = WEFT_VERSION;
  const std::array<uint64_t, 4> mine = {XXH64(version.data(), version.size(), 0),
                                        XXH64(identity.config.data(), identity.config.size(), 0),
                                        identity.tokenizerChecksum, identity.dataChecksum};
  std::vector<uint64_t> all(mine.size() * static_cast<size_t>(communicator.size()));
  if (absl::Status status =
          communicator.allGather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
      !status.ok())
    return status;
  for (size_t rank = 1; rank < static_cast<size_t>(communicator.size()); ++rank)
    for (size_t i = 0; i < mine.size(); ++i)
      if (all[rank * mine.size() + i] != all[i])
        return withExitCode(
            absl::FailedPreconditionError(absl::StrCat("rank ", rank, " has another ", names[i],
                                                       " than rank 0: start all ranks "
                                                       "from the same files")),
            ExitCode::Config);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> gatherTexts(Communicator &communicator, const std::string &mine) {
  const size_t ranks = static_cast<size_t>(communicator.size());
  const uint64_t length = mine.size();
  std::vector<uint64_t> lengths(ranks);
  if (absl::Status status = communicator.allGather(std::as_bytes(std::span(&length, 1)),
                                                   std::as_writable_bytes(std::span(lengths)));
      !status.ok())
    return status;
  const uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::string padded = mine, all(ranks * longest, '\0');
  padded.resize(longest);
  if (absl::Status status =
          communicator.allGather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all)));
      !status.ok())
    return status;
  std::vector<std::string> texts;
  for (size_t rank = 0; rank < ranks; ++rank)
    texts.push_back(all.substr(rank * longest, lengths[rank]));
  return texts;
}

absl::Status agreeOn(Communicator &communicator, const absl::Status &mine) {
  const std::array<int32_t, 2> codes = {static_cast<int32_t>(mine.code()),
                                        static_cast<int32_t>(exitCodeOf(mine))};
  std::vector<int32_t> all(codes.size() * static_cast<size_t>(communicator.size()));
  if (absl::Status status =
          communicator.allGather(std::as_bytes(std::span(codes)), std::as_writable_bytes(std::span(all)));
      !status.ok())
    return status;
  size_t failed = 0;
  while (failed < all.size() && all[failed] == 0)
    failed += codes.size();
  if (failed >= all.size())
    return absl::OkStatus();
  absl::StatusOr<std::vector<std::string>> messages = gatherTexts(communicator, std::string(mine.message()));
  if (!messages.ok())
    return messages.status();
  return withExitCode(
      absl::Status(static_cast<absl::StatusCode>(all[failed]), (*messages)[failed / codes.size()]),
      static_cast<ExitCode>(all[failed + 1]));
}

} // namespace weft
