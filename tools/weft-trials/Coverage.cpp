#include "tools/weft-trials/Coverage.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace weft::trials {
namespace {

bool excludeEachOther(const std::string &left, const std::string &right) {
  size_t word = left.find(' ');
  return left != right && word != std::string::npos && left.substr(0, word + 1) == right.substr(0, word + 1);
}

} // namespace

void Coverage::add(const std::set<std::string> &features) {
  names.insert(features.begin(), features.end());
  for (const std::string &left : features)
    for (const std::string &right : features)
      ++pairs[{left, right}];
}

int64_t Coverage::count(const std::string &left, const std::string &right) const {
  auto found = pairs.find({left, right});
  return found == pairs.end() ? 0 : found->second;
}

std::string Coverage::table() const {
  const std::string corner = "cases with both";
  size_t first = corner.size();
  for (const std::string &name : names)
    first = std::max(first, name.size());
  std::string text = absl::StrFormat("%-*s", first, corner);
  for (const std::string &name : names)
    absl::StrAppend(&text, "  ", name);
  for (const std::string &left : names) {
    absl::StrAppend(&text, absl::StrFormat("\n%-*s", first, left));
    for (const std::string &right : names) {
      const std::string number = excludeEachOther(left, right) ? "-" : absl::StrCat(count(left, right));
      absl::StrAppend(&text, absl::StrFormat("  %*s", right.size(), number));
    }
  }
  return text + "\n";
}

std::string Coverage::gaps(int64_t least, int64_t leastPairs, const std::string &alone) const {
  auto countsAlone = [&](const std::string &name) { return name.starts_with(alone + " "); };
  std::string text;
  for (const std::string &left : names)
    for (const std::string &right : names) {
      if (right < left || excludeEachOther(left, right))
        continue;
      if (left != right && (countsAlone(left) || countsAlone(right)))
        continue;
      int64_t wanted = left == right ? least : leastPairs;
      if (count(left, right) < wanted)
        absl::StrAppend(&text, left, left == right ? "" : absl::StrCat(" with ", right), ": ",
                        count(left, right), " cases, ", wanted, " wanted\n");
    }
  return text;
}

} // namespace weft::trials
