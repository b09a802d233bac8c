//===- ModelJson.h - The model of a tokenizer.json ------------------------===//
//
// The vocabulary and merges of a byte-pair encoding, as a file has them.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_MODELJSON_H
#define WEFT_RUNTIME_TOKENIZER_MODELJSON_H

#include "runtime/tokenizer/BytePairEncoding.h"
#include "runtime/tokenizer/JsonFields.h"

#include "absl/container/flat_hash_map.h"

#include <string>
#include <vector>

namespace weft {

struct ModelJson {
  /// The spelling of each id; empty: no token has it.
  std::vector<std::string> spellings;
  absl::flat_hash_map<std::string, int32_t> ids;
  std::vector<BytePairEncoding::Merge> merges;
  BytePairEncoding::Options options;
  /// The unknown token is named, but not in the vocabulary.
  std::string missingUnknown;

  static absl::StatusOr<ModelJson> read(const JsonFields &fields);

  /// The engine; `isByteLevel`: pieces are bytes, and spellings the visible characters of bytes.
  absl::StatusOr<BytePairEncoding> createEncoding(bool isByteLevel) const;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_MODELJSON_H
