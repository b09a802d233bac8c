//===- DocumentLengths.cpp - How long the documents of a dataset are ------===//
//
// All lengths are sorted once; buckets are then runs of the sorted row.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/DocumentLengths.h"

#include <algorithm>
#include <bit>

namespace weft {
namespace {

int64_t percentile(const std::vector<int64_t> &sorted, int64_t percent) {
  int64_t count = static_cast<int64_t>(sorted.size());
  return sorted[static_cast<size_t>((count * percent + 99) / 100 - 1)];
}

} // namespace

int64_t documentLength(const IndexView &index, int64_t document) {
  int64_t length = 0;
  for (int64_t s = index.documentBegin(document); s < index.documentBegin(document + 1); ++s)
    length += index.sequenceLength(s);
  return length;
}

DocumentLengths measureDocuments(const IndexView &index) {
  DocumentLengths result;
  result.documents = index.documents();
  if (result.documents == 0)
    return result;
  std::vector<int64_t> sorted;
  sorted.reserve(static_cast<size_t>(index.documents()));
  for (int64_t d = 0; d < index.documents(); ++d)
    sorted.push_back(documentLength(index, d));
  std::sort(sorted.begin(), sorted.end());
  result.shortest = sorted.front();
  result.longest = sorted.back();
  result.mean = static_cast<double>(index.tokens()) / static_cast<double>(result.documents);
  result.median = percentile(sorted, 50);
  result.percentile90 = percentile(sorted, 90);
  result.percentile99 = percentile(sorted, 99);
  int64_t from = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(result.shortest)));
  for (size_t next = 0; next < sorted.size();) {
    DocumentLengths::Bucket bucket{.from = from, .to = from == 0 ? 1 : 2 * from};
    for (; next < sorted.size() && sorted[next] < bucket.to; ++next) {
      ++bucket.documents;
      bucket.tokens += sorted[next];
    }
    result.histogram.push_back(bucket);
    from = bucket.to;
  }
  return result;
}

} // namespace weft
