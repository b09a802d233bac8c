//===- RankAgreement.cpp - All ranks train the same run -------------------===//
//
// Gathers, from which every rank comes to the same answer.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/RankAgreement.h"

#include "runtime/config/ResumeComparison.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <vector>

namespace weft {
namespace {

/// Of a rank: something that must be the same on all, and what helps where it is not.
struct RankFact {
  const char *what;
  uint64_t checksum;
  const char *remedy;
};

uint64_t checksumOf(std::string_view text) { return XXH64(text.data(), text.size(), 0); }

RankFact versionFact() {
  return {"version of weft", checksumOf(WEFT_VERSION), "Install the same one on all machines"};
}
RankFact configFact(uint64_t checksum) {
  return {"config", checksum, "Start all ranks from the same run file, with the same --set"};
}

/// The ranks whose number differs from rank 0's: "rank 2", "ranks 1, 3".
std::string differingRanks(const std::vector<uint64_t> &all, size_t facts, size_t fact) {
  std::vector<size_t> ranks;
  for (size_t rank = 1; rank * facts < all.size(); ++rank)
    if (all[rank * facts + fact] != all[fact])
      ranks.push_back(rank);
  return ranks.empty() ? std::string()
                       : absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ", absl::StrJoin(ranks, ", "));
}

/// The same status on every rank, about the first fact that differs.
absl::Status compareFacts(Communicator &communicator, const std::vector<RankFact> &facts) {
  std::vector<uint64_t> mine;
  for (const RankFact &fact : facts)
    mine.push_back(fact.checksum);
  std::vector<uint64_t> all(mine.size() * static_cast<size_t>(communicator.size()));
  if (absl::Status status =
          communicator.allGather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
      !status.ok())
    return status;
  for (size_t i = 0; i < facts.size(); ++i)
    if (const std::string ranks = differingRanks(all, facts.size(), i); !ranks.empty())
      return withExitCode(absl::FailedPreconditionError(absl::StrCat(
                              ranks, absl::StrContains(ranks, ',') ? " have" : " has", " another ",
                              facts[i].what, " than rank 0. ", facts[i].remedy, ".")),
                          ExitCode::Config);
  return absl::OkStatus();
}

/// The first key in which a config differs from rank 0's: "train.seed is 2, and 1 on rank 0"; empty where
/// none does.
absl::StatusOr<std::string> differenceFromFirst(Communicator &communicator, const LoadedConfig &loaded) {
  absl::StatusOr<std::vector<std::string>> first =
      gatherTexts(communicator, communicator.rank() == 0 ? loaded.resolvedYaml() : std::string());
  if (!first.ok())
    return first.status();
  absl::StatusOr<LoadedConfig> expected = loadConfigText(first->front(), "rank 0", "/");
  if (!expected.ok()) // another version's
    return std::string();
  const std::vector<ResumeDifference> differences = compareForResume(expected->config, loaded.config);
  return differences.empty() ? std::string()
                             : absl::StrCat(differences[0].path, " is ", differences[0].current, ", and ",
                                            differences[0].saved, " on rank 0");
}

} // namespace

absl::Status checkConfigsAgree(Communicator &communicator, const LoadedConfig &loaded) {
  const uint64_t checksum = checksumOf(loaded.resolvedYaml());
  absl::Status status = compareFacts(communicator, {versionFact(), configFact(checksum)});
  if (status.ok())
    return status;
  absl::StatusOr<std::string> difference = differenceFromFirst(communicator, loaded);
  if (!difference.ok())
    return difference.status();
  absl::StatusOr<std::vector<std::string>> all = gatherTexts(communicator, *difference);
  if (!all.ok())
    return all.status();
  std::string message(status.message());
  for (size_t rank = 1; rank < all->size(); ++rank)
    if (!(*all)[rank].empty())
      absl::StrAppend(&message, "\n  rank ", rank, ": ", (*all)[rank]);
  return withExitCode(absl::FailedPreconditionError(message), ExitCode::Config);
}

absl::Status checkRanksAgree(Communicator &communicator, const RunIdentity &identity, uint64_t program) {
  return compareFacts(
      communicator, {versionFact(),
                     configFact(checksumOf(identity.config)),
                     {"program", program, "Start all ranks again, from the same executable"},
                     {"tokenizer", identity.tokenizerChecksum, "Bring the same tokenizer to all machines"},
                     {"data", identity.dataChecksum, "Bring the same files of data.train to all machines"}});
}

absl::StatusOr<bool> anyRank(Communicator &communicator, bool mine) {
  int32_t any = mine ? 1 : 0;
  if (absl::Status status =
          communicator.allReduce(std::as_writable_bytes(std::span(&any, 1)), DType::I32, ReduceKind::Max);
      !status.ok())
    return status;
  return any != 0;
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
