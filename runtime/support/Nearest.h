//===- Nearest.h - "Did you mean ...?" ------------------------------------===//
//
// The known word that somebody most likely meant when they typed an unknown one.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_NEAREST_H
#define WEFT_RUNTIME_SUPPORT_NEAREST_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The number of insertions, deletions, replacements and swaps of neighbors that turn `a` into `b` (the
/// optimal string alignment distance).
size_t editDistance(std::string_view a, std::string_view b);

/// The candidate with the smallest edit distance, the first among equals; none when even that differs in more
/// than a third of the word's letters (at least 2), because a far-fetched suggestion misleads.
std::optional<std::string> nearestWord(std::string_view word, const std::vector<std::string> &candidates);

} // namespace weft

#endif // WEFT_RUNTIME_SUPPORT_NEAREST_H
