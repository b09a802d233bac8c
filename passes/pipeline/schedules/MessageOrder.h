//===- MessageOrder.h - Where messages begin and are waited for -----------------===//
//
// A schedule says in which order a rank computes. Here come the messages between stages of different ranks: a
// send begins behind the action that gives it; its receive begins before the action at which the receiver
// then is, so that it is never late. The action that needs a message waits for it, and for all that the same
// rank sent before it; a send is waited for before the first action behind its arrival. All of it follows one
// simulated time, in which nothing waits for what comes later: so ranks that run these lists cannot wait for
// each other in a circle.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_SCHEDULES_MESSAGEORDER_H
#define WEFT_PASSES_PIPELINE_SCHEDULES_MESSAGEORDER_H

#include "passes/pipeline/schedules/Timeline.h"

#include "absl/status/statusor.h"

#include <vector>

namespace weft::schedules {

enum class PipelineEventKind : uint8_t { Compute, Send, SendWait, Receive, ReceiveWait };

/// What a rank does next. A message is named by the action that gives it (Send, SendWait) or by the one that
/// needs it (Receive, ReceiveWait).
struct PipelineEvent {
  PipelineEventKind kind = PipelineEventKind::Compute;
  Action action;
  bool operator==(const PipelineEvent &) const = default;
};

/// Between which stages there is something to say: by stage, to the next one (forward) and to the one before.
struct StageMessages {
  std::vector<bool> toNext, toPrevious;
};

/// The list of each rank. Fails as simulate does.
absl::StatusOr<std::vector<std::vector<PipelineEvent>>>
orderMessages(const PipelineSchedule &schedule, const ActionTimes &times, const StageMessages &messages);

} // namespace weft::schedules

#endif // WEFT_PASSES_PIPELINE_SCHEDULES_MESSAGEORDER_H
