//===- RankAgreement.h - All ranks train the same run ---------------------===//
//
// Before the first step every rank's version, config, program, tokenizer and data are compared by checksum,
// and whoever differs from rank 0 is named with what differs and what helps. Later, what one rank alone could
// do or could not do is made known to all: they go on together, or stop together with one message.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_RANKAGREEMENT_H
#define WEFT_RUNTIME_TRAIN_RANKAGREEMENT_H

#include "runtime/comm/Communicator.h"
#include "runtime/config/ConfigLoader.h"
#include "runtime/train/Resume.h"

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace weft {

/// The version of weft, and the config, before anything is done with them. A config that differs is shown by
/// its first key that does.
absl::Status checkConfigsAgree(Communicator &communicator, const LoadedConfig &loaded);
/// Everything, before the first step. `program`: the checksum of the executable.
absl::Status checkRanksAgree(Communicator &communicator, const RunIdentity &identity, uint64_t program);

/// OK where every rank's status is; else, on every rank, that of the lowest rank whose status is not, with
/// its exit code.
absl::Status agreeOn(Communicator &communicator, const absl::Status &mine);

/// Whether it is so on any rank, on every rank.
absl::StatusOr<bool> anyRank(Communicator &communicator, bool mine);

/// Every rank's text, in rank order, on every rank.
absl::StatusOr<std::vector<std::string>> gatherTexts(Communicator &communicator, const std::string &mine);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_RANKAGREEMENT_H
