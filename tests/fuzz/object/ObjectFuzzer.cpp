//===- ObjectFuzzer.cpp - Any bytes as an object of generated kernels -----===//
//
// Whatever comes, reading ends with the names of functions, ascending and found in the bytes, or with an
// error that has a message. Nothing is loaded: what is accepted is machine code.
//
//===----------------------------------------------------------------------===//
#include "runtime/object/ObjectFile.h"
#include "tests/fuzz/Require.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  const absl::StatusOr<std::vector<std::string>> functions = readObject(bytes);
  if (!functions.ok()) {
    require(!functions.status().message().empty(), "an error without a message");
    return 0;
  }
  require(std::is_sorted(functions->begin(), functions->end()), "functions that are not in order");
  for (const std::string &function : *functions)
    require(bytes.find(function + '\0') != std::string_view::npos, "a function of a name that is not there");
  return 0;
}
