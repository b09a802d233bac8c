//===- DocumentPacking.cpp - Whole documents to samples -------------------===//
//
// Samples of a window: first the full ones of its long documents, then those of its pieces, in the order in
// which the first piece of each was placed. Within a sample pieces stand in the order of the documents.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/DocumentPacking.h"

#include "runtime/support/Processors.h"

#include <algorithm>
#include <numeric>
#include <thread>

namespace weft {
namespace {

/// A window holds the documents of about so many samples: the last sample of a window is filled in part, and
/// so 1/256 of the places at most is lost to windows.
constexpr int64_t samplesPerWindow = 128;
constexpr int64_t leastDocuments = 256, mostDocuments = int64_t{1} << 17;
constexpr int64_t mostThreads = 16;

} // namespace

SplitDocuments::SplitDocuments(const IndexView &index, std::span<const HeldOutSplit::Range> ranges) {
  for (const HeldOutSplit::Range &range : ranges) {
    if (range.begin >= range.end)
      continue;
    const int64_t first = index.documentOfToken(range.begin);
    sections.push_back({range, first, total});
    total += index.documentOfToken(range.end - 1) - first + 1;
  }
}

int64_t SplitDocuments::tokens() const {
  int64_t tokens = 0;
  for (const Section &section : sections)
    tokens += section.range.end - section.range.begin;
  return tokens;
}

SamplePiece SplitDocuments::operator()(const IndexView &index, int64_t i) const {
  const Section *section = &sections.front();
  for (const Section &next : std::span(sections).subspan(1))
    if (i >= next.documentsBefore)
      section = &next;
  const int64_t document = section->firstDocument + i - section->documentsBefore;
  const int64_t begin = std::max(index.documentStart(document), section->range.begin);
  const int64_t end = std::min(index.documentStart(document + 1), section->range.end);
  return {document, begin, end - begin, false};
}

DocumentPacking::DocumentPacking(const IndexView &index, std::span<const HeldOutSplit::Range> ranges,
                                 int64_t sequenceLength, Sharing sharing)
    : documents(index, ranges), sequenceLength(sequenceLength), sharing(sharing) {
  const int64_t count = documents.count();
  const double each = static_cast<double>(samplesPerWindow) * static_cast<double>(sequenceLength) *
                      static_cast<double>(count) / std::max(1.0, static_cast<double>(documents.tokens()));
  const auto size = static_cast<int64_t>(
      std::clamp(each, static_cast<double>(leastDocuments), static_cast<double>(mostDocuments)));
  windows = (count + size - 1) / size;
  samplesBefore.assign(static_cast<size_t>(windows) + 1, 0);
  const int64_t workers = std::clamp<int64_t>(std::min(availableProcessors(), windows), 1, mostThreads);
  auto work = [&](int64_t worker) {
    Scratch scratch;
    // Neighboring windows have neighboring documents.
    for (int64_t w = windows * worker / workers; w < windows * (worker + 1) / workers; ++w)
      samplesBefore[static_cast<size_t>(w) + 1] = pack(index, w, scratch);
  };
  std::vector<std::thread> threads;
  for (int64_t worker = 1; worker < workers; ++worker)
    threads.emplace_back(work, worker);
  work(0);
  for (std::thread &thread : threads)
    thread.join();
  std::partial_sum(samplesBefore.begin(), samplesBefore.end(), samplesBefore.begin());
}

int64_t DocumentPacking::pack(const IndexView &index, int64_t window, Scratch &scratch) const {
  scratch.documents.clear();
  scratch.rests.clear();
  int64_t full = 0;
  for (int64_t i = window; i < documents.count(); i += windows) {
    const SamplePiece document = documents(index, i);
    const int64_t whole = document.length / sequenceLength * sequenceLength;
    scratch.documents.push_back(document);
    full += document.length / sequenceLength;
    if (whole < document.length)
      scratch.rests.push_back({document.document, document.begin + whole, document.length - whole, false});
  }
  return full +
         (sharing == Sharing::BestFit ? shareByBestFit(scratch) : static_cast<int64_t>(scratch.rests.size()));
}

/// Pieces in descending length, each into the sample that it fills best, or into a new one where none has
/// room. Of equal pieces and of equal samples the earlier comes first.
int64_t DocumentPacking::shareByBestFit(Scratch &scratch) const {
  const std::vector<SamplePiece> &rests = scratch.rests;
  scratch.order.resize(rests.size());
  std::iota(scratch.order.begin(), scratch.order.end(), 0);
  std::sort(scratch.order.begin(), scratch.order.end(), [&](int32_t a, int32_t b) {
    return rests[a].length != rests[b].length ? rests[a].length > rests[b].length : a < b;
  });
  scratch.sampleOf.resize(rests.size());
  auto &open = scratch.open; // ascending
  open.clear();
  int32_t samples = 0;
  for (int32_t piece : scratch.order) {
    const int64_t length = rests[piece].length;
    auto from = std::lower_bound(open.begin(), open.end(), std::pair<int64_t, int32_t>(length, 0));
    if (from == open.end()) {
      from = open.insert(from, {sequenceLength, samples});
      ++samples;
    }
    const std::pair<int64_t, int32_t> rest = {from->first - length, from->second};
    scratch.sampleOf[piece] = rest.second;
    const auto to = std::upper_bound(open.begin(), from, rest);
    std::move_backward(to, from, from + 1);
    *to = rest;
  }
  return samples;
}

void DocumentPacking::sample(const IndexView &index, int64_t i, Scratch &scratch,
                             std::vector<SamplePiece> &pieces) const {
  const int64_t window =
      std::upper_bound(samplesBefore.begin(), samplesBefore.end(), i) - samplesBefore.begin() - 1;
  pack(index, window, scratch);
  int64_t number = i - samplesBefore[static_cast<size_t>(window)];
  for (const SamplePiece &document : scratch.documents) {
    const int64_t full = document.length / sequenceLength;
    if (number < full) {
      const int64_t offset = number * sequenceLength;
      pieces.push_back({document.document, document.begin + offset, sequenceLength,
                        offset + sequenceLength < document.length});
      return;
    }
    number -= full;
  }
  for (size_t piece = 0; piece < scratch.rests.size(); ++piece)
    if (sharing == Sharing::BestFit ? scratch.sampleOf[piece] == number
                                    : static_cast<int64_t>(piece) == number)
      pieces.push_back(scratch.rests[piece]);
}

} // namespace weft
