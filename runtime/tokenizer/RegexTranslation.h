//===- RegexTranslation.h - Patterns of other engines, for PCRE2 ----------===//
//
// The same text means different things to different engines: \h is a hexadecimal digit to Oniguruma and a
// space to PCRE2, $ ends a line or the text, \w holds marks or does not. The translation spells out what the
// engine that a pattern was written for would do. What it does not know it refuses by name: a pattern never
// runs as a similar one.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_REGEXTRANSLATION_H
#define WEFT_RUNTIME_TOKENIZER_REGEXTRANSLATION_H

#include "runtime/tokenizer/RegexDialect.h"

#include "absl/status/statusor.h"

#include <string>
#include <string_view>

namespace weft {

/// `pattern` for PCRE2 with UTF, UCP, MULTILINE and NO_AUTO_CAPTURE. Oniguruma is meant with its Ruby
/// syntax.
absl::StatusOr<std::string> translateRegex(std::string_view pattern, RegexDialect dialect);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_REGEXTRANSLATION_H
