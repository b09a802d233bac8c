//===- IdxFuzzer.cpp - Any bytes as an index file -------------------------===//
//
// The first four bytes are the size of the .bin, the rest is the index. Whatever comes, reading ends with a
// view or an error that has a message; and what is accepted keeps the promises of IndexView: sequences tile
// the .bin, documents tile the sequences, and each token is found in its document.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/IndexFile.h"
#include "tests/fuzz/Require.h"

using namespace weft;

namespace {
void checkPromises(const IndexView &view, int64_t binBytes) {
  int64_t next = 0;
  for (int64_t i = 0; i < view.sequences(); ++i) {
    require(view.sequenceStart(i) == next, "sequences do not tile");
    next += view.sequenceLength(i);
  }
  require(next == view.tokens() && next * byteSize(view.tokenType()) == binBytes,
          "tokens do not fill the .bin");
  require(view.documentBegin(0) == 0 && view.documentBegin(view.documents()) == view.sequences(),
          "documents do not tile");
  int64_t stride = view.tokens() / 100 + 1;
  for (int64_t token = 0; token < view.tokens() && view.documents() > 0; token += stride) {
    int64_t document = view.documentOfToken(token);
    require(document >= 0 && document < view.documents(), "a document that does not exist");
    int64_t first = view.documentBegin(document);
    int64_t end = view.documentBegin(document + 1);
    int64_t endToken = end == view.sequences() ? view.tokens() : view.sequenceStart(end);
    require(first < view.sequences() && view.sequenceStart(first) <= token && token < endToken,
            "a token outside of its document");
  }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t binBytes = 0;
  if (size < sizeof(binBytes))
    return 0;
  std::memcpy(&binBytes, data, sizeof(binBytes));
  std::span<const std::byte> index(reinterpret_cast<const std::byte *>(data) + sizeof(binBytes),
                                   size - sizeof(binBytes));
  absl::StatusOr<IndexView> view = parseIndex(index, binBytes, "fuzz.idx");
  if (view.ok())
    checkPromises(*view, binBytes);
  else
    require(!view.status().message().empty(), "an error without a message");
  return 0;
}
