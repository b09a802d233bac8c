//===- AddedTokens.cpp - Tokens found in a text before anything else ------===//
//
// White space that one token took with it is not given to the next. A token that does not count where it was
// found (not a single word, special) still takes its place: no other one is looked for within it.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/AddedTokens.h"

#include "runtime/tokenizer/CharacterKinds.h"
#include "runtime/tokenizer/CharacterTable.h"
#include "runtime/tokenizer/Utf8Text.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

bool isWordBefore(std::string_view text, size_t end) {
  return end > 0 && isWordCharacter(characterBefore(text, end));
}

bool isWordAt(std::string_view text, size_t begin) {
  return begin < text.size() && isWordCharacter(CharacterTable::get().at(text, begin).code);
}

size_t skipSpaceLeft(std::string_view text, size_t end) {
  while (end > 0 && isSpaceCharacter(characterBefore(text, end)))
    do
      --end;
    while (end > 0 && (text[end] & 0xC0) == 0x80);
  return end;
}

size_t skipSpaceRight(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const Character next = CharacterTable::get().at(text, begin);
    if (!isSpaceCharacter(next.code))
      break;
    begin += next.bytes;
  }
  return begin;
}

} // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const std::vector<std::string> &spellings)
    : tokens(std::move(tokens)), matcher(spellings) {
  for (const AddedToken &token : this->tokens)
    isPlain = isPlain && !token.isSingleWord && !token.stripsLeft && !token.stripsRight;
}

absl::Status AddedTokens::forEachSegment(
    std::string_view text, bool readsSpecial,
    absl::FunctionRef<absl::Status(size_t, size_t, const AddedToken *)> segment) const {
  size_t reported = 0;
  for (size_t from = 0; from < text.size();) {
    const StringMatcher::Match match = matcher.find(text, from);
    if (match.begin == match.end)
      break;
    from = match.end;
    const AddedToken &token = tokens[match.index];
    if (token.isSpecial && !readsSpecial)
      continue;
    if (token.isSingleWord && (isWordBefore(text, match.begin) || isWordAt(text, match.end)))
      continue;
    const size_t begin =
        token.stripsLeft ? std::max(skipSpaceLeft(text, match.begin), reported) : match.begin;
    const size_t end = token.stripsRight ? skipSpaceRight(text, match.end) : match.end;
    if (reported < begin)
      if (absl::Status status = segment(reported, begin, nullptr); !status.ok())
        return status;
    if (absl::Status status = segment(begin, end, &token); !status.ok())
      return status;
    reported = end;
  }
  return reported == text.size() ? absl::OkStatus() : segment(reported, text.size(), nullptr);
}

bool AddedTokens::mayCutAt(std::string_view text, size_t position) const {
  if (tokens.empty())
    return true;
  if (!isPlain)
    return false;
  const size_t begin = position - std::min(position, matcher.longest());
  for (size_t at = begin; at < position; ++at)
    if (matcher.reach(text, at) > position || (matcher.reach(text, at) == text.size()))
      return false;
  return true;
}

} // namespace weft
