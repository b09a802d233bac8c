#include "passes/pipeline/VerifyMessages.h"

#include "dialects/dist/Placement.h"
#include "dialects/sched/SchedDialect.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <map>

using namespace mlir;

namespace weft {
namespace {

/// One op of a program's list that another rank has to do with.
struct Event {
  Operation *op;
  sched::RunOp run;
};

std::string describe(sched::RunOp run) {
  std::string text = ("'" + run.getAction()).str();
  if (run.getMicrobatch())
    text += " " + std::to_string(*run.getMicrobatch());
  return text + "'";
}

/// The collectives in which pipeline ranks meet; all others are among ranks that run one program.
bool meetsOverPipeline(Operation *op, ArrayRef<StringRef> pipeline) {
  auto axes = op->getAttrOfType<ArrayAttr>("axes");
  if (!axes || isa<dist::SendOp, dist::ReceiveOp, dist::SendWaitOp, dist::ReceiveWaitOp, dist::TermOp>(op))
    return false;
  return llvm::any_of(axes.getAsValueRange<StringAttr>(),
                      [&](StringRef name) { return llvm::is_contained(pipeline, name); });
}

/// The list of one rank, and what is wrong with it alone: what is read before it has come.
class RankList {
public:
  RankList(sched::ProgramOp program, ArrayRef<StringRef> pipeline) : program(program) {
    llvm::StringMap<sched::ActionOp> actions;
    for (auto action : program.getBody().front().getOps<sched::ActionOp>())
      actions[action.getName()] = action;
    for (auto run : program.getBody().front().getOps<sched::RunOp>())
      for (Operation &op : actions.lookup(run.getAction()).getBody().front())
        if (isa<dist::SendOp, dist::SendWaitOp, dist::ReceiveOp, dist::ReceiveWaitOp>(op) ||
            meetsOverPipeline(&op, pipeline))
          events.push_back({&op, run});
    this->actions = std::move(actions);
  }

  LogicalResult verifyReads() {
    std::map<uint64_t, std::deque<Landing>> begun; // by sender
    std::map<Landing, Operation *> missing;
    for (auto run : program.getBody().front().getOps<sched::RunOp>()) {
      for (Operation &op : actions.lookup(run.getAction()).getBody().front()) {
        auto microbatch = static_cast<int64_t>(run.getMicrobatch().value_or(0));
        if (auto receive = dyn_cast<dist::ReceiveOp>(op)) {
          for (Operation *user : receive->getUsers())
            if (auto store = dyn_cast<sched::StoreOp>(user)) {
              begun[receive.getFrom()].push_back({store.getSlot(), microbatch});
              missing[{store.getSlot(), microbatch}] = receive;
            }
        } else if (auto wait = dyn_cast<dist::ReceiveWaitOp>(op)) {
          std::deque<Landing> &queue = begun[wait.getFrom()];
          if (queue.empty())
            return wait.emitOpError() << "of " << describe(run) << " waits for a message of rank "
                                      << wait.getFrom() << " that this rank has not begun to receive";
          missing.erase(queue.front());
          queue.pop_front();
        } else if (auto load = dyn_cast<sched::LoadOp>(op)) {
          if (auto found = missing.find({load.getSlot(), microbatch}); found != missing.end()) {
            InFlightDiagnostic error = load.emitOpError()
                                       << "of " << describe(run) << " reads slot \"" << load.getSlot()
                                       << "\" before its message was waited for";
            error.attachNote(found->second->getLoc()) << "here it begins to come";
            return error;
          }
        }
      }
    }
    if (missing.empty())
      return success();
    return missing.begin()->second->emitOpError()
           << "begins to receive what nobody waits for: slot \"" << missing.begin()->first.first << "\"";
  }

  sched::ProgramOp program;
  std::vector<Event> events;
  size_t next = 0;

private:
  using Landing = std::pair<StringRef, int64_t>; ///< slot and microbatch
  llvm::StringMap<sched::ActionOp> actions;
};

/// Messages from one rank to another.
struct Line {
  std::vector<Event> sends, receives;
  size_t sendsWaited = 0, receivesWaited = 0;
};

class Meetings {
public:
  explicit Meetings(std::vector<RankList> &ranks) : ranks(ranks) {}

  LogicalResult run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t rank = 0; rank < ranks.size(); ++rank) {
        FailureOr<bool> advanced = advance(rank);
        if (failed(advanced))
          return failure();
        moved |= *advanced;
      }
      moved |= passCollective();
    }
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      if (ranks[rank].next < ranks[rank].events.size())
        return stuck(rank);
    return verifyAllMet();
  }

private:
  Event &at(size_t rank) { return ranks[rank].events[ranks[rank].next]; }
  bool isAtEnd(size_t rank) { return ranks[rank].next == ranks[rank].events.size(); }

  /// Goes on until the rank waits; whether it moved.
  FailureOr<bool> advance(size_t rank) {
    bool moved = false;
    for (; !isAtEnd(rank); ++ranks[rank].next, moved = true) {
      FailureOr<bool> passes = step(rank, at(rank));
      if (failed(passes))
        return failure();
      if (!*passes)
        break;
    }
    return moved;
  }

  FailureOr<bool> step(size_t rank, const Event &event) {
    if (auto send = dyn_cast<dist::SendOp>(event.op)) {
      Line &line = lines[{rank, send.getTo()}];
      line.sends.push_back(event);
      return compare(rank, send.getTo(), line, line.sends.size() - 1);
    }
    if (auto receive = dyn_cast<dist::ReceiveOp>(event.op)) {
      Line &line = lines[{receive.getFrom(), rank}];
      line.receives.push_back(event);
      return compare(receive.getFrom(), rank, line, line.receives.size() - 1);
    }
    if (auto wait = dyn_cast<dist::SendWaitOp>(event.op)) {
      Line &line = lines[{rank, wait.getTo()}];
      if (line.sendsWaited == line.sends.size())
        return FailureOr<bool>(wait.emitOpError()
                               << "of " << describe(event.run) << " waits for a send to rank " << wait.getTo()
                               << " that this rank has not begun");
      bool passes = line.sendsWaited < line.receives.size();
      line.sendsWaited += passes;
      return passes;
    }
    if (auto wait = dyn_cast<dist::ReceiveWaitOp>(event.op)) {
      Line &line = lines[{wait.getFrom(), rank}];
      bool passes = line.receivesWaited < line.sends.size();
      line.receivesWaited += passes;
      return passes;
    }
    return false;
  }

  /// The message of this number, once both sides have begun it.
  FailureOr<bool> compare(uint64_t from, uint64_t to, const Line &line, size_t number) {
    if (number >= line.sends.size() || number >= line.receives.size())
      return true;
    Operation *send = line.sends[number].op, *receive = line.receives[number].op;
    Type sent = send->getOperand(0).getType(), wanted = receive->getResult(0).getType();
    if (sent == wanted)
      return true;
    InFlightDiagnostic error = receive->emitOpError()
                               << "of " << describe(line.receives[number].run) << " expects "
                               << dist::describe(cast<RankedTensorType>(wanted)) << " as message " << number
                               << " from rank " << from << ", which sends rank " << to << " "
                               << dist::describe(cast<RankedTensorType>(sent));
    error.attachNote(send->getLoc()) << "sent by " << describe(line.sends[number].run);
    return FailureOr<bool>(error);
  }

  /// All ranks stand before one collective over the pipeline.
  bool passCollective() {
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      if (isAtEnd(rank) || !isCollective(at(rank)) || !isSame(at(0).op, at(rank).op))
        return false;
    for (RankList &list : ranks)
      ++list.next;
    return true;
  }

  static bool isCollective(const Event &event) {
    return !isa<dist::SendOp, dist::SendWaitOp, dist::ReceiveOp, dist::ReceiveWaitOp>(event.op);
  }
  static bool isSame(Operation *left, Operation *right) {
    return left->getName() == right->getName() && left->getAttrDictionary() == right->getAttrDictionary() &&
           left->getOperandTypes() == right->getOperandTypes() &&
           left->getResultTypes() == right->getResultTypes();
  }

  std::string waits(size_t rank) {
    std::string text = "rank " + std::to_string(rank);
    if (isAtEnd(rank))
      return text + " is at its end";
    Event &event = at(rank);
    text += " waits in " + describe(event.run) + " ";
    if (auto wait = dyn_cast<dist::SendWaitOp>(event.op))
      return text + "for rank " + std::to_string(wait.getTo()) + " to receive";
    if (auto wait = dyn_cast<dist::ReceiveWaitOp>(event.op))
      return text + "for rank " + std::to_string(wait.getFrom()) + " to send";
    return text + "for all ranks to come to " + event.op->getName().getStringRef().str();
  }

  LogicalResult stuck(size_t first) {
    InFlightDiagnostic error = at(first).op->emitOpError() << "never ends: " << waits(first);
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      if (rank != first)
        error.attachNote(isAtEnd(rank) ? ranks[rank].program.getLoc() : at(rank).op->getLoc()) << waits(rank);
    return error;
  }

  LogicalResult verifyAllMet() {
    for (auto &[ends, line] : lines) {
      if (line.sends.size() > line.receives.size())
        return line.sends[line.receives.size()].op->emitOpError()
               << "of " << describe(line.sends[line.receives.size()].run) << " sends what rank "
               << ends.second << " does not receive";
      if (line.receives.size() > line.sends.size())
        return line.receives[line.sends.size()].op->emitOpError()
               << "of " << describe(line.receives[line.sends.size()].run) << " receives what rank "
               << ends.first << " does not send";
      if (line.sendsWaited < line.sends.size())
        return line.sends[line.sendsWaited].op->emitOpError()
               << "of " << describe(line.sends[line.sendsWaited].run)
               << " begins what nobody waits for: its memory would be used again before it is sent";
    }
    return success();
  }

  std::vector<RankList> &ranks;
  std::map<std::pair<uint64_t, uint64_t>, Line> lines; ///< from, to
};

} // namespace

LogicalResult verifyMessages(ModuleOp job) {
  auto mesh = job->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute);
  SmallVector<StringRef> pipeline;
  if (mesh)
    for (int64_t axis : mesh.axesOf("pipeline"))
      pipeline.push_back(mesh.getNames()[axis].getValue());
  llvm::SetVector<StringRef> names;
  for (auto rank : job.getOps<ModuleOp>())
    for (auto program : rank.getOps<sched::ProgramOp>())
      names.insert(program.getName());
  for (StringRef name : names) {
    std::vector<RankList> ranks;
    for (auto rank : job.getOps<ModuleOp>()) {
      auto programs = rank.getOps<sched::ProgramOp>();
      auto found =
          llvm::find_if(programs, [&](sched::ProgramOp program) { return program.getName() == name; });
      if (found == programs.end())
        return rank.emitError() << "this pipeline rank has no program \"" << name << "\", and others have";
      ranks.emplace_back(*found, pipeline);
    }
    for (RankList &list : ranks)
      if (failed(list.verifyReads()))
        return failure();
    if (failed(Meetings(ranks).run()))
      return failure();
  }
  return success();
}

} // namespace weft
