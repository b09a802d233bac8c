//===- PipelineRun.cpp - Running programs side by side ----------------------===//
//
// One program after the other goes on as far as it can: to its end, or to an op that waits for another
// program. Each is evaluated on all ranks of the mesh; those of other pipeline ranks hold copies, so that
// every op of dist finds its group, and nobody looks at them.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpret/Context.h"
#include "compiler/interpret/PipelinePrograms.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft::interpret {

LogicalResult Interpreter::runSideBySide(std::deque<ProgramRun> &runs) {
  bool hasMoved = true, hasEnded = false;
  while (hasMoved && !hasEnded) {
    hasMoved = false, hasEnded = true;
    for (ProgramRun &run : runs) {
      FailureOr<bool> moved = goOn(run);
      if (failed(moved))
        return failure();
      hasMoved |= *moved;
      hasEnded &= run.hasEnded();
    }
  }
  if (hasEnded)
    return success();
  sched::ProgramOp program = runs.front().program;
  InFlightDiagnostic error = program.emitOpError();
  error << "\"" << program.getName() << "\" cannot go on: ";
  llvm::interleave(
      runs,
      [&](const ProgramRun &run) {
        error << "pipeline rank " << run.context.pipelineRank;
        if (run.hasEnded()) {
          error << " has ended";
          return;
        }
        sched::RunOp next = run.runs[run.next];
        error << " stands before " << next.getActionAttr();
        if (next.getMicrobatch())
          error << " " << *next.getMicrobatch();
        error << " (" << run.context.waitsFor << ")";
      },
      [&] { error << "; "; });
  return error;
}

/// Whether any op was evaluated. Stops at the end, or at an op that waits.
FailureOr<bool> Interpreter::goOn(ProgramRun &run) {
  Context &context = run.context;
  bool hasMoved = false;
  for (; !run.hasEnded(); ++run.next) {
    if (!run.action) {
      context.microbatch = run.runs[run.next].getMicrobatch().value_or(0);
      run.action.emplace(run.actions[run.runs[run.next].getAction()].getBody().front(), ArrayRef<MeshValue>(),
                         ValueRange());
    }
    int64_t before = run.action->opsDone();
    context.waitsFor.clear();
    LogicalResult walked = walkOn(*run.action, context);
    hasMoved |= run.action->opsDone() > before;
    if (failed(walked))
      return context.waitsFor.empty() ? FailureOr<bool>() : FailureOr<bool>(hasMoved);
    if (failed(endAction(context)))
      return failure();
    run.action.reset();
    hasMoved = true;
  }
  return hasMoved;
}

/// Stores take effect. What a message still reads must stay.
LogicalResult Interpreter::endAction(Context &context) const {
  for (auto &[name, store] : context.stores) {
    SlotValue &held = context.slots[name].at(context.microbatch);
    for (const std::shared_ptr<Message> &message : held.sends)
      if (!message->isSent)
        return store.op.emitOpError()
               << "ends the value of slot \"" << name << "\", which pipeline rank " << context.pipelineRank
               << " is still sending: no dist.send_wait to pipeline rank " << message->send.getTo()
               << " stands before";
    held = std::move(store.value);
  }
  context.stores.clear();
  context.arriving.clear();
  context.meetings.clear();
  return success();
}

/// What a slot holds for `op`, which needs it.
FailureOr<MeshValue> Interpreter::slotValue(Operation *op, StringRef name, int64_t microbatch,
                                            Context &context) const {
  Slot &slot = context.slots[name];
  const SlotValue &held = slot.at(microbatch);
  if (!held.get().empty())
    return held.get();
  InFlightDiagnostic error = op->emitOpError() << "reads slot \"" << name << "\"";
  if (slot.kind == sched::SlotKind::in_flight)
    error << " of microbatch " << microbatch;
  if (held.message)
    error << " before its message has arrived: no dist.receive_wait from pipeline rank "
          << held.message->receive.getFrom() << " stands before";
  else
    error << " before anything is stored there";
  return error;
}

/// What messages bring to the operands of `op`, that have arrived. A store takes them on their way.
LogicalResult Interpreter::takeArrived(Operation *op, MutableArrayRef<MeshValue> operands,
                                       const Context &context) const {
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), operands)) {
    auto found = context.arriving.find(operand);
    if (found == context.arriving.end())
      continue;
    if (found->second->isHere)
      value = found->second->value;
    else if (!isa<sched::StoreOp>(op))
      return op->emitOpError()
             << "uses what dist.receive gives before it has arrived: no dist.receive_wait from "
                "pipeline rank "
             << found->second->receive.getFrom() << " stands before";
  }
  return success();
}

/// Ops that have a meaning between programs alone; nothing for all others.
std::optional<FailureOr<Interpreter::Values>>
Interpreter::evaluateTraffic(Operation *op, ArrayRef<MeshValue> operands, Context &context) {
  bool isMessage = isa<dist::SendOp, dist::SendWaitOp, dist::ReceiveOp, dist::ReceiveWaitOp>(op);
  bool meets = context.traffic && isMeeting(op, context.ranks);
  auto wait = dyn_cast<dist::WaitOp>(op);
  std::shared_ptr<Meeting> awaited = wait ? context.meetings.lookup(wait.getToken()) : nullptr;
  if (!isMessage && !meets && !awaited)
    return std::nullopt;
  if (!context.traffic || !isa<sched::ActionOp>(op->getParentOp()))
    return op->emitOpError() << "runs in an action of one of the programs of a pipeline (in modules with "
                             << sched::kPipelineRankAttribute << "), and nowhere else";
  if (isMessage && failed(verifyLine(op, context)))
    return failure();
  return llvm::TypeSwitch<Operation *, FailureOr<Values>>(op)
      .Case([&](dist::SendOp send) { return evaluateSend(send, operands[0], context); })
      .Case([&](dist::ReceiveOp receive) -> FailureOr<Values> {
        FailureOr<std::shared_ptr<Message>> message =
            context.traffic->messages.receive(receive, context.pipelineRank);
        if (failed(message))
          return failure();
        context.arriving[receive.getResult()] = *message;
        return Values(1); // it comes later
      })
      .Case<dist::SendWaitOp, dist::ReceiveWaitOp>([&](auto message) -> FailureOr<Values> {
        FailureOr<bool> isOver =
            context.traffic->messages.wait(message, context.pipelineRank, context.waitsFor);
        return failed(isOver) || !*isOver ? FailureOr<Values>() : Values();
      })
      .Case([&](dist::WaitOp) -> FailureOr<Values> {
        if (!awaited->result.empty())
          return Values{awaited->result};
        context.waitsFor =
            absl::StrCat(awaited->starts.at(context.pipelineRank)->getName().getStringRef().str(),
                         " waits for ", context.traffic->meetings.absent(*awaited));
        return failure();
      })
      .Default([&](Operation *start) -> FailureOr<Values> {
        FailureOr<std::shared_ptr<Meeting>> meeting =
            context.traffic->meetings.come(start, context.pipelineRank, operands[0], types);
        if (failed(meeting))
          return failure();
        context.meetings[start->getResult(0)] = *meeting;
        if (observer && !(*meeting)->result.empty())
          observer->computed(start, {(*meeting)->operand}, {(*meeting)->result}, context.ranks);
        return Values(1); // dist.wait gives it
      });
}

FailureOr<Interpreter::Values> Interpreter::evaluateSend(dist::SendOp send, const MeshValue &value,
                                                         Context &context) const {
  FailureOr<std::shared_ptr<Message>> message =
      context.traffic->messages.send(send, context.pipelineRank, value);
  if (failed(message))
    return failure();
  if (auto load = send.getOperand().getDefiningOp<sched::LoadOp>())
    context.slots[load.getSlot()]
        .at(static_cast<int64_t>(load.getMicrobatch().value_or(context.microbatch)))
        .sends.push_back(*message);
  return Values();
}

/// A message goes over the pipeline axes, to or from another pipeline rank.
LogicalResult Interpreter::verifyLine(Operation *op, const Context &context) const {
  auto names = op->getAttrOfType<ArrayAttr>("axes").getAsValueRange<StringAttr>();
  std::span<const uint32_t> axes = context.ranks.mesh().axesOf("pipeline");
  bool areAll = llvm::equal(names, axes, [&](StringRef name, uint32_t axis) {
    return name == context.ranks.mesh().axes[axis].name;
  });
  if (!areAll)
    return op->emitOpError() << "expects all axes of the role pipeline, in their order";
  auto peer =
      op->getAttrOfType<IntegerAttr>(isa<dist::SendOp, dist::SendWaitOp>(op) ? "to" : "from").getInt();
  if (peer == context.pipelineRank || peer < 0 || peer >= context.ranks.pipelineRanks())
    return op->emitOpError() << "expects another pipeline rank than " << context.pipelineRank << ", below "
                             << context.ranks.pipelineRanks() << ", got " << peer;
  return success();
}

} // namespace weft::interpret
