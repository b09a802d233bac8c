//===- SampleLayout.cpp - Which tokens make sample i of an input ----------===//
//
// The last target of a sample that cuts the stream is the first token of the next one, which the split
// leaves room for.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/SampleLayout.h"

#include <algorithm>

namespace weft {

SampleLayout::SampleLayout(const IndexView &index, const HeldOutSplit &split, SamplePacking packing,
                           int64_t sequenceLength)
    : held(split), packing(packing), sequenceLength(sequenceLength) {
  if (packing != SamplePacking::BestFit && packing != SamplePacking::Pad)
    return;
  for (Split part : {Split::Training, Split::Validation}) {
    std::vector<HeldOutSplit::Range> ranges;
    for (int64_t section = 0; section < held.sections(); ++section)
      ranges.push_back(held.range(part, section));
    packed[static_cast<size_t>(part)].emplace(
        index, ranges, sequenceLength,
        packing == SamplePacking::Pad ? DocumentPacking::Sharing::None : DocumentPacking::Sharing::BestFit);
  }
}

int64_t SampleLayout::samples(Split split) const {
  const std::optional<DocumentPacking> &documents = packed[static_cast<size_t>(split)];
  return documents ? documents->samples() : held.samples(split);
}

void SampleLayout::sample(const IndexView &index, Split split, int64_t i, DocumentPacking::Scratch &scratch,
                          std::vector<SamplePiece> &pieces) const {
  pieces.clear();
  if (const std::optional<DocumentPacking> &documents = packed[static_cast<size_t>(split)])
    return documents->sample(index, i, scratch, pieces);
  int64_t begin = held.sampleBegin(split, i);
  const int64_t end = begin + sequenceLength;
  int64_t document = index.documentOfToken(begin);
  if (packing == SamplePacking::Split)
    return pieces.push_back({document, begin, sequenceLength, true});
  for (; begin < end; ++document) {
    const int64_t documentEnd = index.documentStart(document + 1), next = std::min(documentEnd, end);
    if (next > begin)
      pieces.push_back({document, begin, next - begin, next < documentEnd});
    begin = next;
  }
}

} // namespace weft
