//===- RegexClass.h - Sets of characters in a pattern ---------------------===//
//
// Reads [classes] and \escapes of the engine that a pattern was written for, and writes them as PCRE2
// classes. PCRE2 has no class that holds the complement of several sets; such ones become a choice between
// classes, or a class that others rule out.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_REGEXCLASS_H
#define WEFT_RUNTIME_TOKENIZER_REGEXCLASS_H

#include "runtime/tokenizer/RegexDialect.h"

#include "absl/status/statusor.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Where the translation stands in a pattern.
class RegexReader {
public:
  RegexReader(std::string_view pattern, RegexDialect dialect) : pattern(pattern), engine(dialect) {}

  RegexDialect dialect() const { return engine; }
  size_t size() const { return pattern.size(); }
  bool atEnd() const { return position >= pattern.size(); }
  std::string_view rest() const { return pattern.substr(position); }
  bool startsWith(std::string_view text) const { return rest().starts_with(text); }
  /// NUL behind the end.
  char peek(size_t ahead = 0) const {
    return position + ahead < pattern.size() ? pattern[position + ahead] : '\0';
  }
  void skip(size_t bytes) { position += bytes; }
  char32_t takeCharacter();

  /// The error that names what stands here.
  absl::Status refuse(std::string_view what) const;

private:
  std::string_view pattern;
  RegexDialect engine;
  size_t position = 0;
};

/// One character, or a set as the inside of a class.
struct RegexItem {
  std::optional<char32_t> code;
  std::string set;
  bool isComplement = false;
};

class RegexClass {
public:
  bool isNegated = false;

  void add(const RegexItem &item);
  void addRange(char32_t first, char32_t last);
  bool isEmpty() const { return included.empty() && complements.empty(); }

  /// As one item of a PCRE2 pattern.
  std::string text() const;

private:
  std::string included;
  /// Sets of which the class holds all other characters.
  std::vector<std::string> complements;
};

/// A character that stands for itself, in a class or outside of one.
std::string regexCharacter(char32_t code);

/// The escape that begins here, which must be a character or a set.
absl::StatusOr<RegexItem> readEscape(RegexReader &reader, bool isCaseless);

/// The class that begins here.
absl::StatusOr<RegexClass> readClass(RegexReader &reader, bool isCaseless);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_REGEXCLASS_H
