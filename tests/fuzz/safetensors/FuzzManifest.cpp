//===- FuzzManifest.cpp - Any bytes as a manifest -------------------------===//
//
// The input is tried as it is, and with a sound first line before it, so that the checksum does not hide the
// rest of the reader. Whatever parses passes the manifest's own rules, and is written and read again
// unchanged.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/Manifest.h"

#include <cstdlib>
#include <string_view>

using namespace weft::checkpoint;

static void require(bool holds) {
  if (!holds)
    std::abort();
}

static void tryText(std::string_view text) {
  const absl::StatusOr<Manifest> manifest = parseManifest(text, "f");
  if (!manifest.ok())
    return;
  require(checkManifest(*manifest).empty());
  const absl::StatusOr<std::string> written = formatManifest(*manifest);
  require(written.ok());
  const absl::StatusOr<Manifest> again = parseManifest(*written, "f");
  require(again.ok() && *again == *manifest);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  tryText(text);
  tryText(withManifestChecksum(text));
  return 0;
}
