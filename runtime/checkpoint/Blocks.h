//===- Blocks.h - A file as blocks with a checksum each -------------------===//
//
// A file of a checkpoint is cut into blocks of equal size, from its first byte on; only the last may be
// shorter. What is read of it is read in whole blocks, and each is held against its checksum: so a slice of
// a tensor costs the blocks that it touches, not the tensor. Blocks know nothing of tensors: one may hold
// the end of a tensor and the beginning of the next.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CHECKPOINT_BLOCKS_H
#define WEFT_RUNTIME_CHECKPOINT_BLOCKS_H

#include "runtime/checkpoint/Checksum.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::checkpoint {

/// The block size of what is written; readers take that of the manifest. Chosen by measurement (decision
/// 027): slices of some MiB read little beside them, and a manifest has 64 bytes for each MiB.
constexpr int64_t kBlockBytes = int64_t{1} << 18;

/// Bytes [begin, end) of a file, and their XXH64.
struct Block {
  int64_t begin = 0;
  int64_t end = 0;
  uint64_t checksum = 0;
  bool operator==(const Block &) const = default;
};

/// Hashes the bytes of a file as they come, in order.
class BlockChecksums {
public:
  explicit BlockChecksums(int64_t blockBytes = kBlockBytes) : blockBytes(blockBytes) {}
  void update(const void *data, size_t size);
  /// The blocks of all bytes that came.
  std::vector<Block> finish();

private:
  void endBlock();

  int64_t blockBytes;
  std::vector<Block> blocks;
  Block current;
  Checksum checksum;
};

/// Whether these are the blocks of a file of so many bytes.
bool areBlocksOf(const std::vector<Block> &blocks, int64_t bytes, int64_t blockBytes);

/// The checksums as the manifest has them: 16 hexadecimal digits a block, one after the other.
std::string blocksText(const std::vector<Block> &blocks);
/// The blocks of a file of so many bytes; absent when the text has not exactly their checksums.
std::optional<std::vector<Block>> blocksFromText(std::string_view text, int64_t bytes, int64_t blockBytes);

} // namespace weft::checkpoint

#endif // WEFT_RUNTIME_CHECKPOINT_BLOCKS_H
