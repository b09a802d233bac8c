//===- ReadBlocks.h - Blocks of files, to where they are wanted -----------===//
//
// Each block of a plan is read once, held against its checksum, and what is wanted of it is copied to its
// place. Internal to runtime/checkpoint.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_READBLOCKS_H
#define WEFT_RUNTIME_CHECKPOINT_READBLOCKS_H

#include "kernels/common/ThreadPool.h"
#include "runtime/checkpoint/ReadPlan.h"

namespace weft::checkpoint {

/// Reads the plan's blocks of the checkpoint in `folder` on these threads. The first failure stops them
/// all and is returned.
absl::Status readBlocks(FileSystem &files, const std::string &folder, const ReadPlan &plan,
                        ThreadPool &threads);

/// The same to its end, by the caller alone: every block that is not as it was saved, and every other
/// failure.
std::vector<absl::Status> findDamage(FileSystem &files, const std::string &folder, const ReadPlan &plan);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_READBLOCKS_H
