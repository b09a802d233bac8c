//===- ActionExecutor.h - Runs a schedule's lists without any check ---------===//
//
// What ranks would do with lists that nobody verified: each runs its own in order, messages between stages
// are queues, weight gradients, losses and the loss head's gradient are added up as they come. It tells how
// that ends; it shares no code with the verifier, which it judges.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_ACTIONEXECUTOR_H
#define WEFT_TOOLS_WEFT_TRIALS_ACTIONEXECUTOR_H

#include "passes/pipeline/schedules/PipelineSchedule.h"

namespace weft::trials {

enum class Ending {
  Right,      ///< all done, everything added up in order
  Hangs,      ///< ranks wait for messages that do not come
  Fails,      ///< an action finds another microbatch's message, or nothing to work on
  OtherOrder, ///< all done, but added up in another order, or not all of it
};

std::string_view name(Ending ending);

Ending execute(const schedules::PipelineSchedule &schedule);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_ACTIONEXECUTOR_H
