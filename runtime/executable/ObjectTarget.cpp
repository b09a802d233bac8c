#include "runtime/executable/ObjectTarget.h"

#include "runtime/executable/PlanRules.h"

#include <algorithm>
#include <iterator>

namespace weft {
namespace {

constexpr std::string_view kTargets[] = {"x86-64-v3", "x86-64-v4"}; // from low to high

struct Level {
  std::string_view instructionSet;
  size_t target; ///< of kTargets, the highest
};
constexpr Level kLevels[] = {{"avx2", 0}, {"avx512", 1}, {"avx512_bf16", 1}, {"amx_bf16", 1}};

} // namespace

std::string_view objectTarget(std::string_view instructionSet) {
  for (const Level &level : kLevels)
    if (level.instructionSet == instructionSet)
      return kTargets[level.target];
  return {};
}

absl::Status checkObjectTarget(std::string_view target, std::string_view instructionSet) {
  const std::string wanted(target), set(instructionSet), highest(objectTarget(instructionSet));
  const auto *found = std::find(std::begin(kTargets), std::end(kTargets), target);
  if (found == std::end(kTargets))
    return broken("it is for '", wanted, "', which is not known; ", std::string(kTargets[0]), " and ",
                  std::string(kTargets[1]), " are");
  if (highest.empty())
    return broken("it is for ", wanted, ", and instruction set ", set, " runs no generated kernels");
  if (found > std::find(std::begin(kTargets), std::end(kTargets), highest))
    return broken("it is for ", wanted, ", and instruction set ", set, " runs ", highest, " at most");
  return absl::OkStatus();
}

} // namespace weft
