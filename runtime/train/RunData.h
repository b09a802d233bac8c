//===- RunData.h - The data that a config names, ready to be read ---------===//
//
// Text is prepared into the cache the first time, with progress; prepared datasets are opened as they are.
// Every error ends a process with the exit code of data.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_RUNDATA_H
#define WEFT_RUNTIME_TRAIN_RUNDATA_H

#include "runtime/config/Config.h"
#include "runtime/data/TrainingData.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/train/RunLog.h"

#include <memory>

namespace weft {

absl::StatusOr<std::shared_ptr<const TrainingData>>
openRunData(const Config &config, const Tokenizer &tokenizer, const std::string &cacheFolder, RunLog &log);

/// Tokens that the program has: those that data may hold.
int32_t programVocabulary(const Config &config, const Tokenizer &tokenizer);

/// `data: 11.0 MB, 2,826,112 tokens, 1 % held out`.
std::string describeData(const Config &config, const TrainingData &data);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_RUNDATA_H
