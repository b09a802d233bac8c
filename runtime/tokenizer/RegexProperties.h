//===- RegexProperties.h - Sets of characters, as PCRE2 classes -----------===//
//
// What \p{...}, \s, \w and \d mean to the engine that a pattern was written for, as the inside of a PCRE2
// class. PCRE2 sorts characters by the version of Unicode that it was built with; those which that version
// does not know and the other engine does are listed behind.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_REGEXPROPERTIES_H
#define WEFT_RUNTIME_TOKENIZER_REGEXPROPERTIES_H

#include "runtime/tokenizer/RegexDialect.h"

#include <optional>
#include <string>
#include <string_view>

namespace weft {

/// The inside of a class for \p{name}; nothing when this set is not known to be the same in both engines.
std::optional<std::string> propertyClass(std::string_view name, RegexDialect dialect);

std::string spaceClass();
std::string digitClass(RegexDialect dialect);
std::string wordClass(RegexDialect dialect);

/// Whether \p{name} means something else where case does not count.
bool dependsOnCase(std::string_view name);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_REGEXPROPERTIES_H
