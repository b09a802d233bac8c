//===- PostProcessor.h - The post_processor of a tokenizer.json -----------===//
//
// The tokens that the file puts around a text, when asked for. What only moves offsets (ByteLevel) changes no
// id.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_POSTPROCESSOR_H
#define WEFT_RUNTIME_TOKENIZER_POSTPROCESSOR_H

#include "runtime/tokenizer/JsonFields.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace weft {

struct PostProcessor {
  std::vector<int32_t> before;
  std::vector<int32_t> after;

  static absl::StatusOr<PostProcessor> create(const JsonFields &fields);
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_POSTPROCESSOR_H
