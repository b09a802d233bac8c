//===- DocumentLengths.h - How long the documents of a dataset are --------===//
//
// What one asks before choosing a sequence length: percentiles, and a histogram by powers of two with the
// share of documents and of tokens in each.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_DOCUMENTLENGTHS_H
#define WEFT_RUNTIME_DATA_DOCUMENTLENGTHS_H

#include "runtime/data/IndexFile.h"

#include <cstdint>
#include <vector>

namespace weft {

struct DocumentLengths {
  struct Bucket {
    int64_t from; ///< tokens: 0, or a power of two
    int64_t to;   ///< the next power of two; not in the bucket
    int64_t documents = 0;
    int64_t tokens = 0;
  };
  int64_t documents = 0;
  int64_t shortest = 0;
  int64_t longest = 0;
  double mean = 0;
  int64_t median =
      0; ///< of percentile p: the smallest length that at least p % of the documents do not exceed
  int64_t percentile90 = 0;
  int64_t percentile99 = 0;
  /// From the shortest document to the longest, without gaps.
  std::vector<Bucket> histogram;
};

/// Tokens of document `document`.
int64_t documentLength(const IndexView &index, int64_t document);

DocumentLengths measureDocuments(const IndexView &index);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_DOCUMENTLENGTHS_H
