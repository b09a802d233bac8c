//===- RankAgreement.cpp - All ranks train the same run -------------------===//
//
// One gather of a few numbers; every rank comes to the same answer.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/RankAgreement.h"

#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"

#include <xxhash.h>

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

} // namespace weft
