//===- SequenceIndex.cpp - Which sequences and documents a dataset has ----===//
//
// A full sequence is closed only when another token of its document comes, so that none is empty for being
// exactly full.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/SequenceIndex.h"

#include <algorithm>

namespace weft {

void SequenceIndex::addTokens(int64_t count) {
  if (!inDocument) {
    documentBegins.push_back(static_cast<int64_t>(sequenceLengths.size()));
    inDocument = true;
  }
  tokenCount += count;
  while (count > 0) {
    if (openSequenceTokens == sequenceLimit) {
      sequenceLengths.push_back(sequenceLimit);
      openSequenceTokens = 0;
    }
    int64_t part = std::min(count, sequenceLimit - openSequenceTokens);
    openSequenceTokens += part;
    count -= part;
  }
}

void SequenceIndex::endDocument() {
  if (!inDocument)
    return;
  sequenceLengths.push_back(static_cast<int32_t>(openSequenceTokens));
  openSequenceTokens = 0;
  inDocument = false;
}

void SequenceIndex::add(std::span<const int64_t> documentTokens, int64_t openTokens) {
  for (int64_t count : documentTokens) {
    addTokens(count);
    endDocument();
  }
  if (openTokens > 0)
    addTokens(openTokens);
}

} // namespace weft
