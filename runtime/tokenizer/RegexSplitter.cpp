//===- RegexSplitter.cpp - Pieces by a regular expression -----------------===//
//
// Whether a text is well-formed is asked once, when its first pieces are; a copy for malformed ones lives in
// the scratch until the next text.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/RegexSplitter.h"

#include "runtime/tokenizer/CharacterTable.h"
#include "runtime/tokenizer/Regex.h"
#include "runtime/tokenizer/Utf8Text.h"

#include <optional>
#include <utility>

namespace weft {
namespace {

class RegexSplitter final : public Splitter {
public:
  explicit RegexSplitter(Regex regex) : regex(std::move(regex)) {}

  struct Scratch final : Splitter::Scratch {
    Regex::Scratch regex;
    std::optional<WellFormedCopy> copy;
    /// The end of the last piece within the copy.
    size_t positionInCopy = 0;
  };
  std::unique_ptr<Splitter::Scratch> makeScratch() const override { return std::make_unique<Scratch>(); }

  absl::StatusOr<size_t> split(std::string_view text, size_t position, std::span<Piece> pieces,
                               Splitter::Scratch *scratch) const override {
    auto &own = static_cast<Scratch &>(*scratch);
    if (position == 0) {
      own.copy.reset();
      own.positionInCopy = 0;
      if (!isWellFormedUtf8(text))
        own.copy.emplace(text);
    }
    if (!own.copy.has_value())
      return splitWellFormed(text, position, pieces, own.regex);
    absl::StatusOr<size_t> count = splitWellFormed(own.copy->text(), own.positionInCopy, pieces, own.regex);
    if (!count.ok())
      return count.status();
    if (*count != 0)
      own.positionInCopy = pieces[*count - 1].end;
    for (Piece &piece : pieces.first(*count))
      piece = {own.copy->originOf(piece.begin), own.copy->originOf(piece.end)};
    return count;
  }

private:
  absl::StatusOr<size_t> splitWellFormed(std::string_view text, size_t from, std::span<Piece> pieces,
                                         Regex::Scratch &scratch) const {
    size_t count = 0;
    while (count < pieces.size() && from < text.size()) {
      absl::StatusOr<std::optional<Regex::Match>> match = regex.search(text, from, scratch);
      if (!match.ok())
        return match.status();
      if (!match->has_value())
        break;
      const auto [begin, end] = **match;
      from = end;
      if (begin != end)
        pieces[count++] = {begin, end};
      else if (end < text.size())
        from += CharacterTable::get().at(text, end).bytes;
    }
    return count;
  }

  Regex regex;
};

} // namespace

absl::StatusOr<std::unique_ptr<Splitter>> createRegexSplitter(std::string_view pattern,
                                                              RegexDialect dialect) {
  absl::StatusOr<Regex> regex = Regex::compile(pattern, dialect);
  if (!regex.ok())
    return regex.status();
  return std::make_unique<RegexSplitter>(*std::move(regex));
}

} // namespace weft
