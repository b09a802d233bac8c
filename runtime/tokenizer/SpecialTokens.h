//===- SpecialTokens.h - Tokens that no text is split into ----------------===//
//
// Names with ids of their own. Within a text they count only where a caller asks for it; of two that begin at
// the same byte the longer one does.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_SPECIALTOKENS_H
#define WEFT_RUNTIME_TOKENIZER_SPECIALTOKENS_H

#include "runtime/config/Config.h"

#include "absl/status/statusor.h"

#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace weft {

class SpecialTokens {
public:
  struct Match {
    size_t begin;
    size_t end;
    int32_t id;
  };

  /// Refuses names and ids that come twice, and ids that one of `tokens` (the bytes of each id) has.
  static absl::StatusOr<SpecialTokens> create(const std::vector<SpecialTokenConfig> &names,
                                              std::span<const std::string> tokens);

  /// The id of the token with this name; without a name that of <|endoftext|>, or of the only one there is.
  absl::StatusOr<int32_t> endOfDocument(std::string_view name) const;

  /// -1 when there are none.
  int32_t largestId() const { return names.empty() ? -1 : names.rbegin()->first; }
  /// Null when no special token has the id.
  const std::string *find(int32_t id) const;

  /// Finds them in one text, from left to right, in time proportional to the text for each name.
  class Finder {
  public:
    Finder(const SpecialTokens &tokens, std::string_view text);
    /// The first that begins at `position` or behind; it must not go back.
    std::optional<Match> next(size_t position);

  private:
    std::string_view text;
    struct Candidate {
      std::string_view name;
      int32_t id;
      size_t begin;
    };
    std::vector<Candidate> candidates;
  };

private:
  std::map<int32_t, std::string> names;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_SPECIALTOKENS_H
