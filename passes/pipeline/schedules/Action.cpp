//===- Action.cpp - One entry of a pipeline schedule ----------------------===//
//
// The letters of actions.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Action.h"

#include "absl/strings/str_cat.h"

namespace weft::schedules {

std::string_view letters(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
    return "F";
  case ActionKind::BackwardInput:
    return "B";
  case ActionKind::BackwardWeight:
    return "W";
  case ActionKind::Backward:
    return "BW";
  }
  return "F";
}

std::string toString(const Action &action) {
  return absl::StrCat(action.stage, std::string(letters(action.kind)), action.microbatch);
}

} // namespace weft::schedules
