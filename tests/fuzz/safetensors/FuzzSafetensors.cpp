//===- FuzzSafetensors.cpp - Any bytes as a safetensors file --------------===//
//
// Whatever parses must keep the promises that callers build on: ranges inside the file, of the size of type
// and shape, each beginning where the one before ends; and what was parsed can be laid out and parsed again.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/SafetensorsHeader.h"

#include <cstdlib>
#include <string_view>

using namespace weft::checkpoint;

static void require(bool holds) {
  if (!holds)
    std::abort();
}

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
    require(entry.begin == at && entry.end >= at);
    require(tensorBytes(entry.shape, entry.type) == entry.end - entry.begin);
    at = entry.end;
  }
  require(at == fileBytes && header->dataEnd == fileBytes);

  const absl::StatusOr<SafetensorsHeader> again = layOutSafetensors(header->entries, header->metadata, "f");
  require(again.ok() && again->entries.size() == header->entries.size());
  const std::string text = formatSafetensorsHeader(*again);
  const absl::StatusOr<SafetensorsHeader> parsed =
      parseSafetensorsHeader(std::string_view(text).substr(kSafetensorsLengthBytes), again->dataEnd, "f");
  require(parsed.ok() && parsed->metadata == header->metadata);
  return 0;
}
