//===- Blocks.cpp - A file as blocks with a checksum each -----------------===//
//
// Sizes may come from a damaged or hostile file: nothing here adds before it knows that the sum fits, and the
// number of blocks is bounded by the text that spells them.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/Blocks.h"

#include <algorithm>

namespace weft::checkpoint {
namespace {
constexpr size_t kDigits = 16;

/// The end of the block that begins there.
int64_t endOfBlock(int64_t begin, int64_t bytes, int64_t blockBytes) {
  return begin + std::min(blockBytes, bytes - begin);
}
} // namespace

void BlockChecksums::endBlock() {
  current.checksum = checksum.value();
  blocks.push_back(current);
  current = {current.end, current.end, 0};
  checksum = Checksum();
}

void BlockChecksums::update(const void *data, size_t size) {
  const auto *bytes = static_cast<const std::byte *>(data);
  while (size > 0) {
    const size_t part = std::min(size, static_cast<size_t>(blockBytes - (current.end - current.begin)));
    checksum.update(bytes, part);
    current.end += static_cast<int64_t>(part);
    bytes += part;
    size -= part;
    if (current.end - current.begin == blockBytes)
      endBlock();
  }
}

std::vector<Block> BlockChecksums::finish() {
  if (current.end > current.begin)
    endBlock();
  return std::move(blocks);
}

bool areBlocksOf(const std::vector<Block> &blocks, int64_t bytes, int64_t blockBytes) {
  int64_t at = 0;
  for (const Block &block : blocks) {
    if (at == bytes || block.begin != at || block.end != endOfBlock(at, bytes, blockBytes))
      return false;
    at = block.end;
  }
  return at == bytes;
}

std::string blocksText(const std::vector<Block> &blocks) {
  std::string text;
  text.reserve(blocks.size() * kDigits);
  for (const Block &block : blocks)
    text += checksumText(block.checksum);
  return text;
}

std::optional<std::vector<Block>> blocksFromText(std::string_view text, int64_t bytes, int64_t blockBytes) {
  const auto count = static_cast<size_t>(bytes / blockBytes + (bytes % blockBytes != 0));
  if (text.size() % kDigits != 0 || text.size() / kDigits != count)
    return std::nullopt;
  std::vector<Block> blocks;
  blocks.reserve(count);
  int64_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<uint64_t> checksum = checksumFromText(text.substr(i * kDigits, kDigits));
    if (!checksum)
      return std::nullopt;
    blocks.push_back({at, endOfBlock(at, bytes, blockBytes), *checksum});
    at = blocks.back().end;
  }
  return blocks;
}

} // namespace weft::checkpoint
