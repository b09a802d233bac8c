//===- Action.h - One entry of a pipeline schedule ------------------------===//
//
// What a rank does for one microbatch of one stage, written as people write it: stage, kind, microbatch
// (`0F0`, `3W12`). A backward comes in two actions, B and W, or in one, BW, for which the stage before waits
// as a whole (docs/decisions/015-a-whole-backward-is-bw.md).
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_ACTION_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_ACTION_H

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::schedules {

enum class ActionKind : uint8_t {
  Forward,        ///< F
  BackwardInput,  ///< B: the cotangent that the stage before waits for
  BackwardWeight, ///< W: what only parameter gradients need
  Backward,       ///< BW: both at once
};

inline constexpr ActionKind allActionKinds[] = {ActionKind::Forward, ActionKind::BackwardInput,
                                                ActionKind::BackwardWeight, ActionKind::Backward};

/// F, B, W or BW.
std::string_view letters(ActionKind kind);

struct Action {
  int stage = 0;
  ActionKind kind = ActionKind::Forward;
  int microbatch = 0;

  auto operator<=>(const Action &) const = default;
};

/// Stage, letters, microbatch: `1BW3`.
std::string toString(const Action &action);

/// Whether it yields the cotangent of its stage's input (B, BW).
constexpr bool givesCotangent(ActionKind kind) {
  return kind == ActionKind::BackwardInput || kind == ActionKind::Backward;
}
/// Whether it is the last that needs what the forward kept (W, BW).
constexpr bool releases(ActionKind kind) {
  return kind == ActionKind::BackwardWeight || kind == ActionKind::Backward;
}

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_ACTION_H
