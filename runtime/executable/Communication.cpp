//===- Communication.cpp - What a program sends, known before it runs -----===//
//
// One pass over the commands of each action that the schedule names.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/Communication.h"

#include "kernels/collective/Fold.h"
#include "runtime/executable/Parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace weft {
namespace {

std::string nameOf(CollectiveOp operation) { return std::string(name(operation)); }

/// What a kernel sends by. A receive sends nothing. No kernel is a barrier; `broadcast` is one that repeats a
/// tensor along a dimension.
std::optional<CollectiveOp> collectiveOf(const KernelCall &call) {
  for (CollectiveOp operation :
       {CollectiveOp::AllGather, CollectiveOp::AllReduce, CollectiveOp::ReduceScatter, CollectiveOp::AllToAll,
        CollectiveOp::Shift, CollectiveOp::Send})
    if (call.name == name(operation))
      return operation;
  return std::nullopt;
}

std::vector<int64_t> axesOf(const KernelCall &call) {
  absl::StatusOr<std::vector<int64_t>> axes = call.integers("axes");
  return axes.ok() ? *std::move(axes) : std::vector<int64_t>();
}

int64_t ranksAlong(const Mesh &mesh, const std::vector<int64_t> &axes) {
  const std::vector<uint32_t> which(axes.begin(), axes.end());
  return mesh.sizeOf(which);
}

std::string axesText(const Mesh &mesh, const std::vector<int64_t> &axes) {
  auto axisName = [&mesh](std::string *text, int64_t axis) {
    text->append(mesh.axes[static_cast<size_t>(axis)].name);
  };
  return absl::StrCat("[", absl::StrJoin(axes, ", ", axisName), "]");
}

/// The rows of one action.
std::vector<CommunicationRow> rowsOf(const Executable &executable, const Program &program, uint32_t index) {
  std::vector<CommunicationRow> rows;
  const Action &action = program.actions[index];
  for (uint32_t i = 0; i < action.commandCount; ++i) {
    const Command &command = program.commands[action.firstCommand + i];
    if (command.kind != CommandKind::Launch)
      continue;
    const KernelCall &call = executable.kernels[command.kernel].call;
    const std::optional<CollectiveOp> operation = collectiveOf(call);
    if (!operation)
      continue;
    const std::vector<int64_t> axes = axesOf(call);
    const bool isTree = call.textOr("kind", "") == name(ReduceKind::Tree);
    auto found = std::find_if(rows.begin(), rows.end(), [&](const CommunicationRow &row) {
      return row.operation == *operation && row.axes == axes && row.isTree == isTree;
    });
    if (found == rows.end())
      found = rows.insert(rows.end(), {index, *operation, axes, 0, {}, isTree});
    ++found->once.calls;
    found->once.bytes += bytesSent(call, ranksAlong(executable.mesh, axes));
  }
  std::sort(rows.begin(), rows.end(), [](const CommunicationRow &a, const CommunicationRow &b) {
    return std::tie(b.once.bytes, a.operation, a.axes, a.isTree) <
           std::tie(a.once.bytes, b.operation, b.axes, b.isTree);
  });
  return rows;
}

} // namespace

bool communicates(const KernelCall &call) {
  constexpr std::string_view messages[] = {"send", "send_wait", "receive", "receive_wait"};
  return collectiveOf(call) ||
         std::find(std::begin(messages), std::end(messages), call.name) != std::end(messages);
}

std::vector<CommunicationRow> communicationOf(const Executable &executable, const Program &program) {
  std::vector<uint32_t> order;
  std::vector<int64_t> runs(program.actions.size());
  for (const ScheduleItem &item : program.schedule)
    if (++runs[item.action] == 1)
      order.push_back(item.action);
  std::vector<CommunicationRow> rows;
  for (uint32_t action : order)
    for (CommunicationRow &row : rowsOf(executable, program, action)) {
      row.runs = runs[action];
      rows.push_back(std::move(row));
    }
  return rows;
}

Traffic trafficOf(const Executable &executable, const Program &program) {
  Traffic traffic;
  for (const CommunicationRow &row : communicationOf(executable, program)) {
    traffic[row.operation].calls += row.calls();
    traffic[row.operation].bytes += row.bytes();
  }
  return traffic;
}

/// The table of one part.
static std::string explainPart(const std::vector<Executable> &parts, size_t part, const Program &program) {
  const Executable &executable = parts[part];
  std::string text = absl::StrFormat("communication: program %s, %d bytes sent by each of %d ranks%s\n",
                                     program.name, trafficOf(executable, program).bytes(),
                                     executable.mesh.ranks() / static_cast<int64_t>(parts.size()),
                                     parts.size() == 1 ? "" : absl::StrCat(" on ", partText(parts, part)));
  for (const CommunicationRow &row : communicationOf(executable, program)) {
    const std::string &action = program.actions[row.action].name;
    absl::StrAppendFormat(&text, "  %-24s %-16s %-14s %8d calls %16d bytes\n",
                          row.runs == 1 ? action : absl::StrCat(action, " x ", row.runs),
                          nameOf(row.operation),
                          absl::StrCat(axesText(executable.mesh, row.axes), row.isTree ? " tree" : ""),
                          row.calls(), row.bytes());
  }
  return text;
}

std::string explainCommunication(const std::vector<Executable> &parts, size_t program) {
  std::string text;
  for (size_t part = 0; part < parts.size(); ++part)
    absl::StrAppend(&text, explainPart(parts, part, parts[part].programs[program]));
  return text;
}

std::string compareTraffic(const Traffic &compiled, const Traffic &counted) {
  std::string text = absl::StrFormat("communication: one step, %d bytes sent by this rank, %d compiled\n"
                                     "  %-16s %8s %16s %16s %16s",
                                     counted.bytes(), compiled.bytes(), "operation", "calls", "bytes",
                                     "compiled calls", "compiled bytes");
  for (size_t i = 0; i < kCollectiveOps; ++i) {
    const Traffic::Count &planned = compiled.counts[i], &seen = counted.counts[i];
    if (planned != Traffic::Count() || seen != Traffic::Count())
      absl::StrAppendFormat(&text, "\n  %-16s %8d %16d %16d %16d", nameOf(static_cast<CollectiveOp>(i)),
                            seen.calls, seen.bytes, planned.calls, planned.bytes);
  }
  return text;
}

} // namespace weft
