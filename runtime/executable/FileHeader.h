//===- FileHeader.h - The first bytes of an executable file ---------------===//
//
// Fixed for all versions, so that any build can name the version and the writer of any file. Little-endian.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_FILEHEADER_H
#define WEFT_RUNTIME_EXECUTABLE_FILEHEADER_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weft {

inline constexpr char kMagic[8] = {'w', 'e', 'f', 't', 'e', 'x', 'e', '\n'};

struct FileHeader {
  char magic[8];
  uint32_t formatVersion;
  uint32_t zero;
  char weftVersion[32]; ///< the writer's, padded with zero bytes
  uint64_t structureOffset;
  uint64_t structureBytes;
  uint64_t structureChecksum; ///< XXH64
  uint64_t fileBytes;
  uint64_t headerChecksum; ///< XXH64 of all that comes before it
  char padding[40];        ///< zero: the structure starts 64-byte aligned
};
inline constexpr uint64_t kHeaderBytes = sizeof(FileHeader);
static_assert(kHeaderBytes == 128 && std::is_trivially_copyable_v<FileHeader>);
static_assert(offsetof(FileHeader, headerChecksum) == 80);

/// FlatBuffers addresses its buffer with signed 32-bit offsets.
inline constexpr uint64_t kMaximumStructureBytes = (uint64_t{1} << 31) - 1;

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_FILEHEADER_H
