//===- CommandLists.cpp - Lists of calls, and their meetings --------------===//
//
// Lists are made by creating each rank's kernels against a context that notes which group a kernel asks for.
// They are verified by meeting: a call is over once all members stand before it, and the order in which calls
// are looked at changes nothing, as a rank stands before one call at a time.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/CommandLists.h"

#include "kernels/collective/Collective.h"
#include "runtime/executable/Parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>

namespace weft {
namespace {

absl::Status doesNotRun() { return absl::FailedPreconditionError("the ranks of a list do not run"); }

/// An end of a group at which nobody can meet.
class NotedExchange final : public Exchange {
public:
  NotedExchange(int member, int size) : own(member), members(size) {}
  int member() const override { return own; }
  int size() const override { return members; }
  bool packs() const override { return false; }
  absl::Status begin(const CollectiveCall &, const Transfer &, const ExchangeMemory &) override {
    return doesNotRun();
  }
  std::span<const void *const> sources() const override { return {}; }
  absl::Status share(std::span<const Piece>, ThreadPool *) override { return doesNotRun(); }
  void end() override {}

private:
  int own, members;
};

/// An end of a line over which nothing goes.
class NotedLine final : public Line {
public:
  absl::Status send(const CollectiveCall &, const void *) override { return doesNotRun(); }
  absl::Status receive(const CollectiveCall &, void *) override { return doesNotRun(); }
  absl::Status finishSend() override { return doesNotRun(); }
  absl::Status finishReceive() override { return doesNotRun(); }
};

/// A rank that is not there: knows its place in the mesh, and notes the group that a kernel asks for.
class AbsentRank final : public RankContext {
public:
  AbsentRank(const Mesh &mesh, int64_t rank) : mesh(mesh), own(rank) {}

  int64_t rank() const override { return own; }
  uint32_t axisCount() const override { return static_cast<uint32_t>(mesh.axes.size()); }
  int64_t axisSize(uint32_t axis) const override { return mesh.axes[axis].size; }
  int64_t size(std::span<const uint32_t> axes) const override { return mesh.sizeOf(axes); }
  int64_t index(std::span<const uint32_t> axes) const override { return mesh.indexOf(own, axes); }
  absl::StatusOr<std::shared_ptr<Exchange>> exchange(std::span<const uint32_t> axes) const override {
    group = mesh.group(own, axes);
    return std::make_shared<NotedExchange>(static_cast<int>(index(axes)), static_cast<int>(group->size()));
  }
  absl::StatusOr<std::shared_ptr<Line>> line(std::span<const uint32_t> axes, int64_t index) const override {
    peer = mesh.group(own, axes)[static_cast<size_t>(index)];
    return std::make_shared<NotedLine>();
  }
  absl::Status status() const override { return absl::OkStatus(); }

  mutable std::optional<std::vector<int64_t>> group;
  mutable std::optional<int64_t> peer;

private:
  const Mesh &mesh;
  int64_t own;
};

/// The call as its members must make it: all of it but how the group is written. Of a message what both its
/// ends say of it.
std::string callText(const KernelCall &call) {
  if (lineStepOf(call.name)) {
    std::string text = call.textOr("location", "");
    for (const std::vector<TensorType> *types : {&call.operands, &call.results})
      for (const TensorType &type : *types)
        text = absl::StrCat(type.str(), text.empty() ? "" : ", ", text);
    return text;
  }
  std::string text = call.str();
  for (const auto &[key, attribute] : call.attributes)
    if (key != "axes")
      absl::StrAppend(&text, ", ", key, " ", attribute.text, absl::StrJoin(attribute.integers, "x"),
                      absl::StrJoin(attribute.numbers, "x"));
  return text;
}

std::string commandText(const Executable &executable, const Program &program, uint32_t command) {
  const std::string &location = executable.locations[program.commands[command].location];
  return absl::StrCat("command ", command, " of ", program.name,
                      location.empty() ? "" : absl::StrCat(", at ", location));
}

/// Makes lists. A layer's kernels are those of the layer before but for their location: of
/// such kernels one is created, on each rank.
class ListMaker {
public:
  explicit ListMaker(const Executable &executable)
      : executable(executable), texts(executable.kernels.size()) {
    std::map<std::string, uint32_t> known;
    for (uint32_t kernel = 0; kernel < executable.kernels.size(); ++kernel) {
      likes.push_back(kernel);
      if (!isRankKernel(executable.kernels[kernel].call.name))
        continue;
      KernelCall call = executable.kernels[kernel].call;
      call.attributes.erase("location");
      const std::vector<int64_t> axes =
          call.has("axes") ? call.integers("axes").value_or(std::vector<int64_t>()) : std::vector<int64_t>();
      const std::string text = absl::StrCat(call.name, " ", callText(call), " to ",
                                            call.integerOr("peer", -1), " over ", absl::StrJoin(axes, " "));
      likes.back() = known.try_emplace(text, kernel).first->second;
    }
  }

  absl::StatusOr<CommandList> make(const Program &program, int64_t rank) {
    CommandList list{rank, {}};
    std::map<uint32_t, Group> &groupOf = groupsOf[rank];
    for (const ScheduleItem &item : program.schedule) {
      const Action &action = program.actions[item.action];
      for (uint32_t i = 0; i < action.commandCount; ++i) {
        const uint32_t command = action.firstCommand + i, kernel = program.commands[command].kernel;
        if (program.commands[command].kind != CommandKind::Launch ||
            !isRankKernel(executable.kernels[kernel].call.name))
          continue;
        auto [group, isNew] = groupOf.try_emplace(likes[kernel]);
        if (isNew) {
          absl::StatusOr<Group> asked = groupFor(rank, kernel);
          if (!asked.ok())
            return absl::InvalidArgumentError(absl::StrCat("rank ", rank, ", ",
                                                           commandText(executable, program, command), ": ",
                                                           asked.status().message()));
          group->second = *std::move(asked);
        }
        if (group->second)
          list.entries.push_back(
              {{group->second, textOf(kernel)}, command, lineStepOf(executable.kernels[kernel].call.name)});
      }
    }
    return list;
  }

private:
  using Group = std::shared_ptr<const std::vector<int64_t>>;

  /// The group that a kernel asks for on this rank, or the two ends of its line; null if it calls nobody.
  absl::StatusOr<Group> groupFor(int64_t rank, uint32_t kernel) {
    AbsentRank context(executable.mesh, rank);
    absl::StatusOr<std::unique_ptr<Kernel>> created =
        createRankKernel(executable.kernels[kernel].call, &context);
    if (!created.ok())
      return created.status();
    if (context.peer) {
      const std::optional<LineStep> step = lineStepOf(executable.kernels[kernel].call.name);
      const bool sends = step == LineStep::Send || step == LineStep::FinishSend;
      context.group =
          sends ? std::vector<int64_t>{rank, *context.peer} : std::vector<int64_t>{*context.peer, rank};
    }
    if (!context.group)
      return nullptr;
    Group &known = groups[*context.group];
    if (!known)
      known = std::make_shared<const std::vector<int64_t>>(*std::move(context.group));
    return known;
  }

  const std::shared_ptr<const std::string> &textOf(uint32_t kernel) {
    if (!texts[kernel])
      texts[kernel] = std::make_shared<const std::string>(callText(executable.kernels[kernel].call));
    return texts[kernel];
  }

  const Executable &executable;
  std::vector<uint32_t> likes; ///< of each kernel: the first that is like it
  std::vector<std::shared_ptr<const std::string>> texts;
  std::map<std::vector<int64_t>, Group> groups;
  /// By rank, then by the first of kernels that are alike: whom it calls; null for nobody.
  std::map<int64_t, std::map<uint32_t, Group>> groupsOf;
};

/// The messages from one rank to another, in their order.
struct Messages {
  struct End {
    std::vector<const CommandList::Entry *> begun;
    size_t finished = 0;
  };
  End sent, received;
};

/// Lets lists meet until all are at their end, or none can go on.
class Meetings {
public:
  Meetings(const std::vector<Executable> &parts, size_t program, std::span<const CommandList> lists)
      : parts(parts), program(program), lists(lists), next(lists.size()) {
    for (size_t list = 0; list < lists.size(); ++list)
      listOf[lists[list].rank] = list;
  }

  absl::Status run() {
    awake.resize(lists.size());
    std::iota(awake.begin(), awake.end(), size_t{0});
    while (!awake.empty() && failure.ok()) {
      const size_t list = awake.back();
      awake.pop_back();
      while (next[list] < lists[list].entries.size() && failure.ok() && pass(list))
        ;
    }
    if (!failure.ok())
      return failure;
    for (size_t list = 0; list < lists.size(); ++list)
      if (callOf(list))
        return disagreement(list);
    return verifyMessages();
  }

private:
  const CommandList::Entry &entryOf(size_t list) const { return lists[list].entries[next[list]]; }
  const GroupCall *callOf(size_t list) const {
    return next[list] < lists[list].entries.size() ? &entryOf(list).call : nullptr;
  }

  bool standsBefore(size_t list, const GroupCall &call) const {
    const GroupCall *here = callOf(list);
    return here && *here == call && !entryOf(list).step;
  }

  /// Takes a list past its entry, and with it all that meet there; false where it has to wait.
  bool pass(size_t list) {
    const CommandList::Entry &entry = entryOf(list);
    if (entry.step)
      return passMessage(list, entry);
    const std::vector<size_t> &members = membersOf(entry.call);
    if (!std::all_of(members.begin(), members.end(),
                     [&](size_t member) { return standsBefore(member, entry.call); }))
      return false;
    for (size_t member : members) {
      ++next[member];
      if (member != list)
        awake.push_back(member);
    }
    return true;
  }

  /// A message at one of its ends. Ends that have no list begin theirs in time.
  bool passMessage(size_t list, const CommandList::Entry &entry) {
    const bool sends = *entry.step == LineStep::Send || *entry.step == LineStep::FinishSend;
    const bool begins = *entry.step == LineStep::Send || *entry.step == LineStep::Receive;
    const auto peer = listOf.find((*entry.call.ranks)[sends ? 1 : 0]);
    Messages &messages = messagesOf[{entry.call.ranks->front(), entry.call.ranks->back()}];
    Messages::End &here = sends ? messages.sent : messages.received;
    const Messages::End &there = sends ? messages.received : messages.sent;
    if (begins) {
      const size_t number = here.begun.size();
      here.begun.push_back(&entry);
      if (number < there.begun.size() && *there.begun[number]->call.call != *entry.call.call)
        failure = absl::InvalidArgumentError(
            absl::StrCat("command lists disagree: ", describeMessage(messages.sent, number, true), ", while ",
                         describeMessage(messages.received, number, false), ". They are one message"));
      if (peer != listOf.end())
        awake.push_back(peer->second);
    } else if (here.finished == here.begun.size()) {
      failure = refused(describe(list), "it has begun no message there that it has not waited for");
    } else if (peer != listOf.end() && here.finished >= there.begun.size()) {
      return false;
    } else {
      ++here.finished;
    }
    ++next[list];
    return true;
  }

  /// Behind the ends of all lists: what was begun has been met, and waited for.
  absl::Status verifyMessages() const {
    for (const auto &[ranks, messages] : messagesOf) {
      const size_t sent = messages.sent.begun.size(), received = messages.received.begun.size();
      if (listOf.contains(ranks.first) && listOf.contains(ranks.second) && sent != received)
        return refused(sent > received ? describeMessage(messages.sent, received, true)
                                       : describeMessage(messages.received, sent, false),
                       absl::StrCat("rank ", sent > received ? ranks.second : ranks.first,
                                    " has come to the end of its list"));
      for (const Messages::End *end : {&messages.sent, &messages.received})
        if (end->finished < end->begun.size())
          return refused(describeMessage(*end, end->finished, end == &messages.sent),
                         "it never waits for that to be over");
    }
    return absl::OkStatus();
  }

  /// The lists of a group's members, as far as there are any.
  const std::vector<size_t> &membersOf(const GroupCall &call) {
    auto [found, isNew] = groups.try_emplace(call.ranks.get());
    if (isNew)
      for (int64_t rank : *call.ranks)
        if (auto list = listOf.find(rank); list != listOf.end())
          found->second.push_back(list->second);
    return found->second;
  }

  std::string commandOf(int64_t rank, uint32_t command) const {
    const Executable &part = partOf(parts, rank);
    return commandText(part, part.programs[program], command);
  }

  /// What one end has begun: `rank 0 sends message 2 to rank 1, tensor<4xf32> (command 3 of step)`.
  std::string describeMessage(const Messages::End &end, size_t number, bool sends) const {
    const CommandList::Entry &entry = *end.begun[number];
    const int64_t from = entry.call.ranks->front(), to = entry.call.ranks->back();
    return absl::StrCat("rank ", sends ? from : to, sends ? " sends" : " receives", " message ", number + 1,
                        sends ? " to" : " from", " rank ", sends ? to : from, ", ", *entry.call.call, " (",
                        commandOf(sends ? from : to, entry.command), ")");
  }

  std::string describe(size_t list) const {
    const GroupCall *call = callOf(list);
    if (!call)
      return absl::StrCat("rank ", lists[list].rank, " has come to the end of its list");
    const std::string command = commandOf(lists[list].rank, entryOf(list).command);
    const std::span<const int64_t> ranks(*call->ranks);
    if (std::optional<LineStep> step = entryOf(list).step) {
      const bool sends = *step == LineStep::FinishSend;
      return absl::StrCat("rank ", lists[list].rank, " waits for a message ", sends ? "to" : "from", " rank ",
                          sends ? ranks.back() : ranks.front(), " (", command, ")");
    }
    constexpr size_t shown = 8;
    return absl::StrCat("rank ", lists[list].rank, " calls ", *call->call, " with ranks ",
                        absl::StrJoin(ranks.first(std::min(shown, ranks.size())), ", "),
                        ranks.size() > shown ? absl::StrCat(", ... (", ranks.size(), ")") : "", " (", command,
                        ")");
  }

  /// No list can go on: who waits for this one's call, waits for ever. If two lists wait in one group with
  /// different calls, they are the two to show.
  absl::Status disagreement(size_t first) {
    std::pair<size_t, size_t> shown{first, first};
    for (size_t list = first; list < lists.size(); ++list) {
      const GroupCall *call = callOf(list);
      if (!call)
        continue;
      for (size_t member : membersOf(*call)) {
        const GroupCall *other = callOf(member);
        if (member == list || standsBefore(member, *call))
          continue;
        const bool sameGroup = other && other->sameGroup(*call);
        if (shown.first == shown.second || sameGroup)
          shown = {list, member};
        if (sameGroup)
          return refused(describe(shown.first), describe(shown.second));
      }
    }
    return refused(describe(shown.first), describe(shown.second));
  }

  static absl::Status refused(const std::string &first, const std::string &second) {
    return absl::InvalidArgumentError(
        absl::StrCat("command lists disagree: ", first, ", while ", second, ". They would wait for ever"));
  }

  const std::vector<Executable> &parts;
  size_t program;
  std::span<const CommandList> lists;
  std::vector<size_t> next; ///< entry of each list
  std::map<int64_t, size_t> listOf;
  std::vector<size_t> awake; ///< lists that may be able to go on
  std::map<const std::vector<int64_t> *, std::vector<size_t>> groups;
  std::map<std::pair<int64_t, int64_t>, Messages> messagesOf; ///< by the rank that sends, and that receives
  absl::Status failure;
};

} // namespace

static absl::StatusOr<std::vector<CommandList>> makeLists(const std::vector<Executable> &parts,
                                                          std::vector<ListMaker> &makers, size_t program,
                                                          std::span<const int64_t> ranks) {
  std::vector<CommandList> lists;
  for (int64_t rank : ranks) {
    const auto part = static_cast<size_t>(parts.front().mesh.pipelineRank(rank));
    absl::StatusOr<CommandList> list = makers[part].make(parts[part].programs[program], rank);
    if (!list.ok())
      return list.status();
    lists.push_back(*std::move(list));
  }
  return lists;
}

absl::StatusOr<std::vector<CommandList>> commandListsOf(const std::vector<Executable> &parts, size_t program,
                                                        std::span<const int64_t> ranks) {
  std::vector<ListMaker> makers(parts.begin(), parts.end());
  return makeLists(parts, makers, program, ranks);
}

absl::Status verifyCommandLists(const std::vector<Executable> &parts, size_t program,
                                std::span<const CommandList> lists) {
  return Meetings(parts, program, lists).run();
}

absl::StatusOr<int64_t> verifyCommandLists(const std::vector<Executable> &parts,
                                           std::span<const int64_t> ranks) {
  int64_t calls = 0;
  std::vector<ListMaker> makers(parts.begin(), parts.end());
  for (size_t program = 0; program < parts.front().programs.size(); ++program) {
    absl::StatusOr<std::vector<CommandList>> lists = makeLists(parts, makers, program, ranks);
    if (!lists.ok())
      return lists.status();
    if (absl::Status status = verifyCommandLists(parts, program, *lists); !status.ok())
      return status;
    for (const CommandList &list : *lists)
      calls += static_cast<int64_t>(list.entries.size());
  }
  return calls;
}

std::vector<int64_t> sampleRanks(const Mesh &mesh, int64_t count) {
  const int64_t ranks = mesh.ranks();
  std::set<int64_t> chosen;
  if (count >= ranks) {
    for (int64_t rank = 0; rank < ranks; ++rank)
      chosen.insert(rank);
  } else if (count > 0) {
    const auto choose = [&](int64_t rank) {
      for (int64_t stage : mesh.group(rank, mesh.axesOf(kPipelineRole)))
        chosen.insert(stage);
    };
    const int64_t stages = mesh.pipelineRanks(), pipelines = (count + stages - 1) / stages;
    std::mt19937_64 random(1);
    choose(0);
    if (pipelines > 1)
      choose(ranks - 1);
    while (static_cast<int64_t>(chosen.size()) < pipelines * stages)
      choose(static_cast<int64_t>(random() % static_cast<uint64_t>(ranks)));
  }
  return {chosen.begin(), chosen.end()};
}

} // namespace weft
