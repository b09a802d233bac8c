//===- LineKernels.cpp - From one rank to another -------------------------===//
//
// send, receive and their waits. A wait has neither operands nor results: it is for the first transfer of its
// line that was begun and not waited for. A failure is the context's to report (RankContext::status()).
//
//===----------------------------------------------------------------------===//
#include "kernels/collective/Factories.h"

#include <string>

namespace weft::collective {
namespace {

/// The line that a call names; null without a rank.
absl::StatusOr<std::shared_ptr<Line>> lineOf(const KernelCall &call, const RankContext *context) {
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  absl::StatusOr<int64_t> peer = call.integer("peer");
  if (!peer.ok())
    return peer.status();
  if (*peer < 0 || (context && *peer >= group->ranks))
    return context
               ? invalidCall(call, "peer ", *peer, " is none of the ", group->ranks, " ranks along the axes")
               : invalidCall(call, "peer ", *peer, " is no place of a rank");
  if (!context)
    return nullptr;
  if (*peer == group->index)
    return invalidCall(call, "peer ", *peer, " is the place of rank ", context->rank(), " itself");
  return context->line(group->axes, *peer);
}

/// What both ends say of a transfer; its detail is `detail`.
CollectiveCall transferOf(const TensorType &type) {
  return {CollectiveOp::Send, type.dtype, type.bytes(), type.bytes(), {}};
}

std::string detailOf(const KernelCall &call, const TensorType &type) {
  const std::string location = call.textOr("location", "");
  return absl::StrCat(type.str(), location.empty() ? "" : ", ", location);
}

/// A kernel that does `step(line, arguments)`.
template <typename Step>
KernelOrError createStep(const KernelCall &call, const RankContext *context, Step step) {
  absl::StatusOr<std::shared_ptr<Line>> line = lineOf(call, context);
  if (!line.ok())
    return line.status();
  if (!context)
    return makeKernelWithoutRank();
  return makeRankKernel(
      [line = *std::move(line), step = std::move(step)](const KernelArguments &arguments, ThreadPool &) {
        step(*line, arguments).IgnoreError(); // the context keeps it
      });
}

/// A kernel that begins a transfer of `type`; `begin(line, call, arguments)`.
template <typename Begin>
KernelOrError createBegin(const KernelCall &call, const RankContext *context, size_t operands, size_t results,
                          Begin begin) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, operands, results));
  const TensorType &type = operands == 1 ? call.operands[0] : call.results[0];
  return createStep(call, context,
                    [=, made = transferOf(type),
                     detail = detailOf(call, type)](Line &line, const KernelArguments &arguments) {
                      CollectiveCall named = made;
                      named.detail = detail;
                      return begin(line, named, arguments);
                    });
}

} // namespace

KernelOrError createSend(const KernelCall &call, const RankContext *context) {
  return createBegin(call, context, 1, 0,
                     [](Line &line, const CollectiveCall &transfer, const KernelArguments &arguments) {
                       return line.send(transfer, arguments.operands[0]);
                     });
}

KernelOrError createReceive(const KernelCall &call, const RankContext *context) {
  return createBegin(call, context, 0, 1,
                     [](Line &line, const CollectiveCall &transfer, const KernelArguments &arguments) {
                       return line.receive(transfer, arguments.results[0]);
                     });
}

KernelOrError createSendWait(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 0, 0));
  return createStep(call, context, [](Line &line, const KernelArguments &) { return line.finishSend(); });
}

KernelOrError createReceiveWait(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 0, 0));
  return createStep(call, context, [](Line &line, const KernelArguments &) { return line.finishReceive(); });
}

} // namespace weft::collective
