//===- ObjectImage.h - The memory that an object asks for -----------------===//
//
// The header and the segments of an ELF file, and what its addresses mean in the file. Internal to
// runtime/object.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_OBJECT_OBJECTIMAGE_H
#define WEFT_RUNTIME_OBJECT_OBJECTIMAGE_H

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>
#include <vector>

namespace weft {

template <typename... Parts> absl::Status unfit(const Parts &...parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

class ObjectImage {
public:
  static absl::StatusOr<ObjectImage> read(std::string_view file);

  /// The bytes of the file that stand at [address, address + size) once it is loaded; nothing unless one
  /// segment has all of them.
  std::optional<std::string_view> at(uint64_t address, uint64_t size) const;
  /// Whether one loaded segment has all of [address, address + size), and all of the flags (PF_W, ...).
  bool holds(uint64_t address, uint64_t size, uint32_t flags) const;
  /// Where the dynamic section is.
  const Elf64_Phdr &dynamic() const { return *dynamicSegment; }
  /// Where the last segment ends.
  uint64_t end() const { return loads.back().p_vaddr + loads.back().p_memsz; }

private:
  explicit ObjectImage(std::string_view file) : file(file) {}
  absl::Status addLoad(const Elf64_Phdr &segment);
  absl::Status add(const Elf64_Phdr &segment);
  absl::Status checkSegments(const std::vector<Elf64_Phdr> &segments);

  std::string_view file;
  std::vector<Elf64_Phdr> loads; ///< ascending
  std::optional<Elf64_Phdr> dynamicSegment;
  bool hasStackFlags = false;
};

/// The record of type T at index `index` of `bytes`, which holds it.
template <typename T> T recordAt(std::string_view bytes, uint64_t index) {
  T record;
  std::memcpy(&record, bytes.data() + index * sizeof(T), sizeof(T));
  return record;
}

} // namespace weft

#endif // WEFT_RUNTIME_OBJECT_OBJECTIMAGE_H
