//===- MetaspaceFields.h - Metaspace as files write it --------------------===//
//
// The pre-tokenizer and the decoder of this name share their fields, and two spellings of what they prepend.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_METASPACEFIELDS_H
#define WEFT_RUNTIME_TOKENIZER_METASPACEFIELDS_H

#include "runtime/tokenizer/JsonFields.h"

#include <string>

namespace weft {

struct MetaspaceFields {
  /// One character that stands for a space.
  std::string replacement;
  /// always, first or never: where a text that begins without one gets one.
  std::string scheme;
  bool splits = true;

  static absl::StatusOr<MetaspaceFields> read(const JsonFields &fields);
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_METASPACEFIELDS_H
