//===- FuzzManifest.cpp - Any bytes as a manifest -------------------------===//
//
// The input is tried as it is, and with a sound first line before it, so that the checksum does not hide the
// rest of the reader. Whatever parses passes the manifest's own rules, and is written and read again
// unchanged.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/Manifest.h"
#include "tests/fuzz/Require.h"

#include <string_view>

using namespace weft::checkpoint;

static void tryText(std::string_view text) {
  const absl::StatusOr<Manifest> manifest = parseManifest(text, "f");
  if (!manifest.ok())
    return;
  weft::require(checkManifest(*manifest).empty(), "a manifest that was read is not sound");
  const absl::StatusOr<std::string> written = formatManifest(*manifest);
  weft::require(written.ok(), "a manifest that was read cannot be written");
  const absl::StatusOr<Manifest> again = parseManifest(*written, "f");
  weft::require(again.ok() && *again == *manifest, "a manifest changes when it is written");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  tryText(text);
  tryText(withManifestChecksum(text));
  return 0;
}
