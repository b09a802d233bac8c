//===- SplitBehavior.cpp - What becomes of what a split finds -------------===//
//
// One segment is held back until it is known whether the next one joins it.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/SplitBehavior.h"

namespace weft {

std::optional<SplitBehavior> splitBehaviorOf(std::string_view name) {
  constexpr std::pair<std::string_view, SplitBehavior> names[] = {
      {"Removed", SplitBehavior::Removed},
      {"Isolated", SplitBehavior::Isolated},
      {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
      {"MergedWithNext", SplitBehavior::MergedWithNext},
      {"Contiguous", SplitBehavior::Contiguous},
  };
  for (const auto &[known, behavior] : names)
    if (known == name)
      return behavior;
  return std::nullopt;
}

bool SegmentJoiner::joinsPending(bool isMatch) const {
  switch (behavior) {
  case SplitBehavior::Removed:
  case SplitBehavior::Isolated:
    return false;
  case SplitBehavior::MergedWithPrevious:
    return isMatch && !wasMatch;
  case SplitBehavior::MergedWithNext:
    return !isMatch && wasMatch;
  case SplitBehavior::Contiguous:
    return isMatch == wasMatch;
  }
  return false;
}

absl::Status SegmentJoiner::add(size_t begin, size_t end, bool isMatch) {
  if (behavior == SplitBehavior::Removed && isMatch)
    return absl::OkStatus();
  const bool joins = hasPending && joinsPending(isMatch);
  wasMatch = isMatch;
  if (joins) {
    pendingEnd = end;
    return absl::OkStatus();
  }
  if (absl::Status status = flush(); !status.ok())
    return status;
  hasPending = true;
  pendingBegin = begin;
  pendingEnd = end;
  return absl::OkStatus();
}

absl::Status SegmentJoiner::flush() {
  if (!hasPending || pendingBegin == pendingEnd)
    return absl::OkStatus();
  return emit(whole.part(pendingBegin, pendingEnd));
}

absl::Status SegmentJoiner::finish() {
  absl::Status status = flush();
  hasPending = false;
  return status;
}

} // namespace weft
