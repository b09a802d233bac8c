//===- VerifyInFlight.cpp - Which slots may share bytes -------------------===//
//
// A value in flight is a slot of a base within a region, for one microbatch. It is needed from the first item
// of the schedule that touches it, which must write it, to the last; what `send` begins to send, until the
// `send_wait` that is for it. Nothing writes what is being sent, and nothing but further receives touches
// what is being received. Values that are needed at one item must not overlap. The commands are read once,
// the items walked once, and the values then laid side by side in the order in which they begin.
//
//===----------------------------------------------------------------------===//
#include "kernels/collective/Collective.h"
#include "runtime/executable/PlanRules.h"

#include "absl/strings/str_join.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

namespace weft {
namespace {

class InFlightVerifier {
public:
  InFlightVerifier(const Executable &executable, const Program &program)
      : executable(executable), bases(executable.memory.bases), program(program) {}

  absl::Status verify() {
    number();
    for (const Action &action : program.actions) {
      events.emplace_back();
      touched.clear();
      for (uint32_t i = 0; i < action.commandCount; ++i)
        if (absl::Status status = readCommand(action.firstCommand + i); !status.ok())
          return status;
    }
    for (size_t item = 0; item < program.schedule.size(); ++item)
      for (const Event &event : events[program.schedule[item].action])
        if (absl::Status status = walk(event, item); !status.ok())
          return status;
    for (Value &value : values)
      if (value.sends + value.receives != 0)
        value.end = program.schedule.size(); // nobody waits for it
    return verifyDisjoint();
  }

private:
  static constexpr size_t kNever = std::numeric_limits<size_t>::max();

  /// What a command does to values in flight.
  struct Event {
    enum Kind { Read, Write, Send, SendWait, Receive, ReceiveWait } kind;
    uint32_t command;
    uint32_t base = kNone; ///< within a region; kNone for a transfer from or to any other base, and for waits
    size_t line = 0;       ///< of a transfer
  };

  struct Value {
    uint32_t base, microbatch;
    size_t begin = kNever, end = 0;   ///< items of the schedule, both included
    uint32_t sends = 0, receives = 0; ///< begun and not waited for
  };

  /// What was begun to be sent to one peer, or received from it: the k-th wait is for the k-th transfer.
  struct Line {
    std::vector<size_t> values; ///< kNever for what is not in flight
    size_t waits = 0;
  };

  void number() {
    isRegion.assign(bases.size(), false);
    firstValue.assign(bases.size(), 0);
    for (uint32_t base = 0; base < bases.size(); ++base) {
      if (bases[base].within == kNone)
        continue;
      isRegion[bases[base].within] = true;
      firstValue[base] = values.size();
      for (uint32_t microbatch = 0; microbatch < bases[base].slotCount; ++microbatch)
        values.push_back({base, microbatch});
    }
  }

  absl::Status readCommand(uint32_t index) {
    const Command &command = program.commands[index];
    const KernelEntry *kernel =
        command.kind == CommandKind::Launch ? &executable.kernels[command.kernel] : nullptr;
    const std::optional<LineStep> step = kernel ? lineStepOf(kernel->call.name) : std::nullopt;
    std::span<const Reference> arguments(program.arguments);
    arguments = arguments.subspan(command.firstArgument, command.operandCount + command.resultCount);
    const bool begins = step == LineStep::Send || step == LineStep::Receive;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (absl::Status status =
              readReference(index, arguments[i], i >= command.operandCount, begins ? &kernel->call : nullptr);
          !status.ok())
        return status;
    if (step && !begins)
      addTransfer({step == LineStep::FinishSend ? Event::SendWait : Event::ReceiveWait, index}, kernel->call);
    if (kernel && kernel->workspaceBytes != 0)
      return readReference(index, command.workspace, true, nullptr);
    return absl::OkStatus();
  }

  /// `transfer` is the call of a command that begins one.
  absl::Status readReference(uint32_t command, const Reference &reference, bool isWritten,
                             const KernelCall *transfer) {
    const MemoryBase &base = bases[reference.base];
    if (isRegion[reference.base])
      return broken(inCommand(command), ": reaches base '", base.name,
                    "' itself, in which other bases have their slots");
    const bool isWithin = base.within != kNone;
    if (isWithin && base.slotCount < program.microbatches)
      return broken(inCommand(command), ": base '", base.name, "' has ", base.slotCount, " slots for ",
                    program.microbatches, " microbatches");
    if (transfer) {
      if (base.kind == BaseKind::Scratch || base.kind == BaseKind::Workspace)
        return broken(inCommand(command), ": kernel ", transfer->name, " begins a transfer in base '",
                      base.name, "' of kind ", std::string(name(base.kind)),
                      ", which does not live until the transfer is over");
      addTransfer({isWritten ? Event::Receive : Event::Send, command, isWithin ? reference.base : kNone},
                  *transfer);
    } else if (isWithin && touched.insert({reference.base, isWritten}).second) {
      events.back().push_back({isWritten ? Event::Write : Event::Read, command, reference.base});
    }
    return absl::OkStatus();
  }

  /// A base is noted once between two transfers of an action: what further commands do to it changes nothing.
  void addTransfer(Event event, const KernelCall &call) {
    std::string key;
    for (const char *attribute : {"axes", "peer"})
      if (call.has(attribute))
        absl::StrAppend(&key, attribute, " ",
                        absl::StrJoin(call.integers(attribute).value_or(std::vector<int64_t>()), " "), " ");
    event.line = lines.try_emplace(key, lines.size()).first->second;
    sending.resize(lines.size());
    receiving.resize(lines.size());
    events.back().push_back(event);
    touched.clear();
  }

  absl::Status walk(const Event &event, size_t item) {
    const bool isWait = event.kind == Event::SendWait || event.kind == Event::ReceiveWait;
    if (isWait) {
      Line &line = (event.kind == Event::SendWait ? sending : receiving)[event.line];
      if (line.waits == line.values.size())
        return absl::OkStatus(); // for nothing: the lists of commands do not meet, and nothing is kept by it
      if (const size_t value = line.values[line.waits++]; value != kNever) {
        --(event.kind == Event::SendWait ? values[value].sends : values[value].receives);
        values[value].end = item;
      }
      return absl::OkStatus();
    }
    const size_t value =
        event.base == kNone ? kNever : firstValue[event.base] + program.schedule[item].microbatch;
    if (value != kNever)
      if (absl::Status status = touch(values[value], event, item); !status.ok())
        return status;
    if (event.kind == Event::Send || event.kind == Event::Receive) {
      (event.kind == Event::Send ? sending : receiving)[event.line].values.push_back(value);
      if (value != kNever)
        ++(event.kind == Event::Send ? values[value].sends : values[value].receives);
    }
    return absl::OkStatus();
  }

  absl::Status touch(Value &value, const Event &event, size_t item) {
    if (value.begin == kNever && event.kind != Event::Write && event.kind != Event::Receive)
      return broken(inCommand(event.command), ", schedule item ", item, ": reads ", describe(value),
                    ", which nothing has written yet");
    if (value.receives != 0 && event.kind != Event::Receive)
      return broken(inCommand(event.command), ", schedule item ", item, ": touches ", describe(value),
                    ", which is being received: no receive_wait came before");
    if (value.sends != 0 && event.kind != Event::Read && event.kind != Event::Send)
      return broken(inCommand(event.command), ", schedule item ", item, ": writes ", describe(value),
                    ", which is being sent: no send_wait came before");
    value.begin = std::min(value.begin, item);
    value.end = item;
    return absl::OkStatus();
  }

  /// Lays values side by side in the order in which they begin; those that have ended are taken away.
  absl::Status verifyDisjoint() const {
    std::vector<size_t> byBegin;
    for (size_t value = 0; value < values.size(); ++value)
      if (values[value].begin != kNever)
        byBegin.push_back(value);
    std::vector<size_t> byEnd = byBegin;
    std::sort(byBegin.begin(), byBegin.end(),
              [&](size_t a, size_t b) { return values[a].begin < values[b].begin; });
    std::sort(byEnd.begin(), byEnd.end(), [&](size_t a, size_t b) { return values[a].end < values[b].end; });
    std::map<std::pair<uint32_t, uint64_t>, size_t> living; // by region and offset
    auto ended = byEnd.begin();
    for (size_t value : byBegin) {
      for (; values[*ended].end < values[value].begin; ++ended)
        living.erase(placeOf(*ended));
      auto [own, isNew] = living.try_emplace(placeOf(value), value);
      if (!isNew)
        return overlap(own->second, value);
      if (own != living.begin() && reaches(std::prev(own)->second, value))
        return overlap(std::prev(own)->second, value);
      if (std::next(own) != living.end() && reaches(value, std::next(own)->second))
        return overlap(std::next(own)->second, value);
    }
    return absl::OkStatus();
  }

  std::pair<uint32_t, uint64_t> placeOf(size_t value) const {
    const MemoryBase &base = bases[values[value].base];
    return {base.within, base.offsets[values[value].microbatch]};
  }
  /// Does a value reach over the start of one behind it?
  bool reaches(size_t value, size_t next) const {
    const auto [region, offset] = placeOf(value);
    const auto [otherRegion, otherOffset] = placeOf(next);
    return region == otherRegion && offset + bases[values[value].base].slotBytes > otherOffset;
  }

  std::string inCommand(uint32_t command) const {
    return absl::StrCat("program '", program.name, "', command ", command, " (",
                        executable.locations[program.commands[command].location], ")");
  }
  std::string describe(const Value &value) const {
    return absl::StrCat("base '", bases[value.base].name, "' of microbatch ", value.microbatch);
  }
  absl::Status overlap(size_t earlier, size_t later) const {
    auto text = [&](size_t value) {
      return absl::StrCat(describe(values[value]), " (needed from schedule item ", values[value].begin,
                          " to ", values[value].end, ")");
    };
    return broken("program '", program.name, "': ", text(earlier), " and ", text(later),
                  " share bytes of base '", bases[bases[values[later].base].within].name, "'");
  }

  const Executable &executable;
  const std::vector<MemoryBase> &bases;
  const Program &program;

  std::vector<bool> isRegion;     ///< by base
  std::vector<size_t> firstValue; ///< by base: where its microbatches start in `values`
  std::vector<Value> values;
  std::vector<std::vector<Event>> events; ///< by action
  /// By the action at hand since its last transfer: bases, and whether written.
  std::set<std::pair<uint32_t, bool>> touched;
  std::map<std::string, size_t> lines;  ///< peers by the attributes of the kernels that name them
  std::vector<Line> sending, receiving; ///< by peer
};

} // namespace

absl::Status verifyInFlight(const Executable &executable, const Program &program) {
  return InFlightVerifier(executable, program).verify();
}

} // namespace weft
