#include "tools/weft-trials/Coverage.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

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
  std::string text = absl::StrFormat("%-16s", "cases with both");
  for (const std::string &name : names)
    absl::StrAppend(&text, absl::StrFormat(" %15s", name));
  for (const std::string &left : names) {
    absl::StrAppend(&text, absl::StrFormat("\n%-16s", left));
    for (const std::string &right : names)
      absl::StrAppend(&text, excludeEachOther(left, right) ? absl::StrFormat(" %15s", "-")
                                                           : absl::StrFormat(" %15d", count(left, right)));
  }
  return text + "\n";
}

std::string Coverage::gaps(int64_t least, int64_t leastPairs) const {
  std::string text;
  for (const std::string &left : names)
    for (const std::string &right : names) {
      if (right < left || excludeEachOther(left, right))
        continue;
      int64_t wanted = left == right ? least : leastPairs;
      if (count(left, right) < wanted)
        absl::StrAppend(&text, left, left == right ? "" : absl::StrCat(" with ", right), ": ",
                        count(left, right), " cases, ", wanted, " wanted\n");
    }
  return text;
}

} // namespace weft::trials
