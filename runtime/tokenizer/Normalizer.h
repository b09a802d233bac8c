//===- Normalizer.h - The normalizer of a tokenizer.json ------------------===//
//
// A normalizer rewrites a text before it is cut. Normal forms are those of the version of Unicode that the
// reference library was built with: characters that came later stay as they are. Immutable: one object serves
// all threads, each with a scratch of its own.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_NORMALIZER_H
#define WEFT_RUNTIME_TOKENIZER_NORMALIZER_H

#include "runtime/tokenizer/JsonFields.h"
#include "runtime/tokenizer/Regex.h"

#include "absl/status/statusor.h"

#include <memory>
#include <string>

namespace weft {

struct NormalizedText {
  /// Well-formed UTF-8.
  std::string text;
  /// Whether it begins where the whole text does: false once characters were dropped from its begin.
  bool isFirst = false;
};

class Normalizer {
public:
  virtual ~Normalizer() = default;

  virtual absl::Status apply(NormalizedText &text, Regex::Scratch &scratch) const = 0;
};

/// Null for a sequence of none, which changes nothing.
absl::StatusOr<std::unique_ptr<Normalizer>> createNormalizer(const JsonFields &fields);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_NORMALIZER_H
