//===- RankAgreement.h - All ranks train the same run ---------------------===//
//
// Before the first step every rank's version, config, tokenizer and data are compared by checksum, and
// whoever differs from rank 0 is named with what differs.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_RANKAGREEMENT_H
#define WEFT_RUNTIME_TRAIN_RANKAGREEMENT_H

#include "runtime/comm/Communicator.h"
#include "runtime/train/Resume.h"

namespace weft {

absl::Status checkRanksAgree(Communicator &communicator, const RunIdentity &identity);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_RANKAGREEMENT_H
