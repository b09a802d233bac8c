//===- RankAgreement.h - All ranks train the same run ---------------------===//
//
// Before the first step every rank's version, config, tokenizer and data are compared by checksum, and
// whoever differs from rank 0 is named with what differs. Later, what one rank alone could do or could not do
// is made known to all: they go on together, or stop together with one message.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_RANKAGREEMENT_H
#define WEFT_RUNTIME_TRAIN_RANKAGREEMENT_H

#include "runtime/comm/Communicator.h"
#include "runtime/train/Resume.h"

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace weft {

absl::Status checkRanksAgree(Communicator &communicator, const RunIdentity &identity);

/// OK where every rank's status is; else, on every rank, that of the lowest rank whose status is not, with
/// its exit code.
absl::Status agreeOn(Communicator &communicator, const absl::Status &mine);

/// Every rank's text, in rank order, on every rank.
absl::StatusOr<std::vector<std::string>> gatherTexts(Communicator &communicator, const std::string &mine);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_RANKAGREEMENT_H
