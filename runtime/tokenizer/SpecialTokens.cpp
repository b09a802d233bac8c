//===- SpecialTokens.cpp - Tokens that no text is split into --------------===//
//
// The finder knows of each name where it comes next, and looks again only when that has passed.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/SpecialTokens.h"

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <tuple>

namespace weft {

absl::StatusOr<SpecialTokens> SpecialTokens::create(const std::vector<SpecialTokenConfig> &names,
                                                    std::span<const std::string> tokens) {
  constexpr int64_t largest = (int64_t{1} << 24) - 2;
  SpecialTokens special;
  absl::flat_hash_set<std::string_view> seen;
  for (const SpecialTokenConfig &name : names) {
    const auto error = [&](const auto &...what) {
      return absl::InvalidArgumentError(absl::StrCat("special token \"", name.token, "\": ", what...));
    };
    if (name.token.empty())
      return error("a special token needs a name");
    if (name.id < 0 || name.id > largest)
      return error("id ", name.id, " is not one of 0 to ", largest);
    if (static_cast<size_t>(name.id) < tokens.size() && !tokens[static_cast<size_t>(name.id)].empty())
      return error("id ", name.id, " is that of a token of the file");
    if (!seen.insert(name.token).second)
      return error("comes twice");
    if (!special.names.emplace(static_cast<int32_t>(name.id), name.token).second)
      return error("id ", name.id, " is that of another special token");
  }
  return special;
}

absl::StatusOr<int32_t> SpecialTokens::endOfDocument(std::string_view name) const {
  constexpr std::string_view usual = "<|endoftext|>";
  for (const auto &[id, token] : names)
    if (token == (name.empty() ? usual : name))
      return id;
  if (name.empty() && names.size() == 1)
    return names.begin()->first;
  const std::string known = absl::StrJoin(
      names, ", ", [](std::string *out, const auto &entry) { absl::StrAppend(out, entry.second); });
  if (!name.empty())
    return absl::InvalidArgumentError(absl::StrCat("tokenizer.end_of_document: no special token is called \"",
                                                   std::string(name),
                                                   "\". Known: ", known.empty() ? "none" : known, "."));
  if (names.empty())
    return absl::InvalidArgumentError(
        "no token ends a document: the file has no special tokens. Give one that does in "
        "tokenizer.special_tokens, such as [{token: \"<|endoftext|>\", id: N}].");
  return absl::InvalidArgumentError(
      absl::StrCat("which token ends a document? Give tokenizer.end_of_document: one of ", known, "."));
}

const std::string *SpecialTokens::find(int32_t id) const {
  const auto found = names.find(id);
  return found == names.end() ? nullptr : &found->second;
}

SpecialTokens::Finder::Finder(const SpecialTokens &tokens, std::string_view text) : text(text) {
  for (const auto &[id, name] : tokens.names)
    candidates.push_back({name, id, text.find(name)});
}

std::optional<SpecialTokens::Match> SpecialTokens::Finder::next(size_t position) {
  const Candidate *best = nullptr;
  for (Candidate &candidate : candidates) {
    if (candidate.begin != std::string_view::npos && candidate.begin < position)
      candidate.begin = text.find(candidate.name, position);
    if (candidate.begin == std::string_view::npos)
      continue;
    const auto order = [](const Candidate &of) {
      return std::tuple(of.begin, -static_cast<int64_t>(of.name.size()));
    };
    if (!best || order(candidate) < order(*best))
      best = &candidate;
  }
  if (!best)
    return std::nullopt;
  return Match{best->begin, best->begin + best->name.size(), best->id};
}

} // namespace weft
