//===- FuzzSafetensors.cpp - Any bytes as a safetensors file --------------===//
//
// Whatever parses must keep the promises that callers build on: ranges inside the file, of the size of type
// and shape, each beginning where the one before ends; and what was parsed can be laid out and parsed again.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/SafetensorsHeader.h"
#include "tests/fuzz/Require.h"

#include <string_view>

using namespace weft::checkpoint;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view file(reinterpret_cast<const char *>(data), size);
  const auto fileBytes = static_cast<int64_t>(size);
  const absl::StatusOr<int64_t> length = parseSafetensorsLength(file, fileBytes, "f");
  if (!length.ok())
    return 0;
  const absl::StatusOr<SafetensorsHeader> header = parseSafetensorsHeader(
      file.substr(kSafetensorsLengthBytes, static_cast<size_t>(*length)), fileBytes, "f");
  if (!header.ok())
    return 0;

  int64_t at = header->dataStart;
  for (const SafetensorsEntry &entry : header->entries) {
    weft::require(entry.begin == at && entry.end >= at, "tensors do not follow each other");
    weft::require(tensorBytes(entry.shape, entry.type) == entry.end - entry.begin,
                  "a tensor has other bytes than its shape");
    at = entry.end;
  }
  weft::require(at == fileBytes && header->dataEnd == fileBytes, "the tensors do not end with the file");

  const absl::StatusOr<SafetensorsHeader> again = layOutSafetensors(header->entries, header->metadata, "f");
  weft::require(again.ok() && again->entries.size() == header->entries.size(),
                "a header cannot be laid out again");
  const std::string text = formatSafetensorsHeader(*again);
  const absl::StatusOr<SafetensorsHeader> parsed =
      parseSafetensorsHeader(std::string_view(text).substr(kSafetensorsLengthBytes), again->dataEnd, "f");
  weft::require(parsed.ok() && parsed->metadata == header->metadata, "a header changes when it is written");
  return 0;
}
