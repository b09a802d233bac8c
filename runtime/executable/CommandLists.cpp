//===- CommandLists.cpp - Lists of calls, by the kernels of each rank -----===//
//
// Lists are made by creating each rank's kernels against a context that notes which group, or which other
// rank, a kernel asks for.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/CommandLists.h"

#include "runtime/executable/Meetings.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <map>
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

/// The call as its members must make it: all of it but how the group is written.
std::string callText(const KernelCall &call) {
  std::string text = call.str();
  for (const auto &[key, attribute] : call.attributes)
    if (key != "axes")
      absl::StrAppend(&text, ", ", key, " ", attribute.text, absl::StrJoin(attribute.integers, "x"),
                      absl::StrJoin(attribute.numbers, "x"));
  return text;
}

/// What both ends of a transfer must say.
std::string transferText(const KernelCall &call) {
  const TensorType &type = call.operands.empty() ? call.results.front() : call.operands.front();
  const std::string location = call.textOr("location", "");
  return absl::StrCat(type.str(), location.empty() ? "" : ", ", location);
}

/// Whom a kernel has to do with; nobody if it calls nobody.
struct Partners {
  std::shared_ptr<const std::vector<int64_t>> group;
  std::optional<int64_t> peer;
};

/// What the lists of all parts share, so that equal ones are mostly found to be by their address.
struct SharedTexts {
  template <typename Value> using Known = std::map<Value, std::shared_ptr<const Value>>;

  template <typename Value>
  static std::shared_ptr<const Value> share(Known<Value> &known, const Value &value) {
    std::shared_ptr<const Value> &found = known[value];
    if (!found)
      found = std::make_shared<const Value>(value);
    return found;
  }

  Known<std::vector<int64_t>> groups;
  Known<std::string> texts;
};

/// Makes the lists of the ranks that run one part. A layer's kernels are those of the layer before but for
/// their location: of such kernels one is created, on each rank.
class ListMaker {
public:
  ListMaker(const Executable &executable, SharedTexts &shared)
      : executable(executable), shared(shared), texts(executable.kernels.size()) {
    std::map<std::string, uint32_t> known;
    for (uint32_t kernel = 0; kernel < executable.kernels.size(); ++kernel) {
      likes.push_back(kernel);
      if (!isRankKernel(executable.kernels[kernel].call.name))
        continue;
      KernelCall call = executable.kernels[kernel].call;
      call.attributes.erase("location");
      const std::vector<int64_t> axes =
          call.has("axes") ? call.integers("axes").value_or(std::vector<int64_t>()) : std::vector<int64_t>();
      const std::string text = absl::StrCat(callText(call), " over ", absl::StrJoin(axes, " "));
      likes.back() = known.try_emplace(text, kernel).first->second;
    }
  }

  absl::StatusOr<CommandList> make(const Program &program, int64_t rank) {
    CommandList list{rank, {}};
    std::map<uint32_t, Partners> &partnersOfRank = partnersOf[rank];
    for (const ScheduleItem &item : program.schedule) {
      const Action &action = program.actions[item.action];
      for (uint32_t i = 0; i < action.commandCount; ++i) {
        const uint32_t command = action.firstCommand + i, kernel = program.commands[command].kernel;
        if (program.commands[command].kind != CommandKind::Launch ||
            !isRankKernel(executable.kernels[kernel].call.name))
          continue;
        CommandList::Entry entry{{}, command, lineStepOf(executable.kernels[kernel].call.name)};
        entry.microbatch = item.microbatch;
        auto [partners, isNew] = partnersOfRank.try_emplace(likes[kernel]);
        if (isNew) {
          absl::StatusOr<Partners> asked = partnersFor(rank, kernel);
          if (!asked.ok())
            return absl::InvalidArgumentError(absl::StrCat("rank ", rank, ", ",
                                                           commandText(executable, program, entry), ": ",
                                                           asked.status().message()));
          partners->second = *std::move(asked);
        }
        const Partners &whom = partners->second;
        entry.peer = whom.peer.value_or(entry.peer);
        const bool isWait = entry.step == LineStep::FinishSend || entry.step == LineStep::FinishReceive;
        if (whom.group || (whom.peer && !isWait))
          entry.call = {whom.group, textOf(kernel)};
        if (whom.group || whom.peer)
          list.entries.push_back(std::move(entry));
      }
    }
    return list;
  }

private:
  absl::StatusOr<Partners> partnersFor(int64_t rank, uint32_t kernel) {
    AbsentRank context(executable.mesh, rank);
    absl::StatusOr<std::unique_ptr<Kernel>> created =
        createRankKernel(executable.kernels[kernel].call, &context);
    if (!created.ok())
      return created.status();
    Partners partners{nullptr, context.peer};
    if (context.group)
      partners.group = shared.share(shared.groups, *context.group);
    return partners;
  }

  const std::shared_ptr<const std::string> &textOf(uint32_t kernel) {
    const KernelCall &call = executable.kernels[kernel].call;
    if (!texts[kernel])
      texts[kernel] = shared.share(shared.texts, lineStepOf(call.name) ? transferText(call) : callText(call));
    return texts[kernel];
  }

  const Executable &executable;
  SharedTexts &shared;
  std::vector<uint32_t> likes; ///< of each kernel: the first that is like it
  std::vector<std::shared_ptr<const std::string>> texts;
  /// By rank, then by the first of kernels that are alike.
  std::map<int64_t, std::map<uint32_t, Partners>> partnersOf;
};

/// Makes the lists of a job.
class JobLists {
public:
  explicit JobLists(const std::vector<Executable> &parts) : parts(parts) {
    for (const Executable &part : parts)
      makers.emplace_back(part, shared);
  }

  absl::StatusOr<std::vector<CommandList>> make(size_t program, std::span<const int64_t> ranks) {
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

private:
  const std::vector<Executable> &parts;
  SharedTexts shared;
  std::vector<ListMaker> makers;
};

} // namespace

absl::StatusOr<std::vector<CommandList>> commandListsOf(const std::vector<Executable> &parts, size_t program,
                                                        std::span<const int64_t> ranks) {
  return JobLists(parts).make(program, ranks);
}

absl::Status verifyCommandLists(const std::vector<Executable> &parts, size_t program,
                                std::span<const CommandList> lists) {
  return Meetings(parts, program, lists).run();
}

absl::StatusOr<int64_t> verifyCommandLists(const std::vector<Executable> &parts,
                                           std::span<const int64_t> ranks) {
  int64_t calls = 0;
  JobLists all(parts);
  for (size_t program = 0; program < parts.front().programs.size(); ++program) {
    absl::StatusOr<std::vector<CommandList>> lists = all.make(program, ranks);
    if (!lists.ok())
      return lists.status();
    if (absl::Status status = Meetings(parts, program, *lists).run(); !status.ok())
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
    return {chosen.begin(), chosen.end()};
  }
  auto choose = [&](int64_t rank) {
    const std::vector<int64_t> pipeline = mesh.group(rank, mesh.axesOf(kPipelineRole));
    chosen.insert(pipeline.begin(), pipeline.end());
  };
  const auto isEnough = [&] { return static_cast<int64_t>(chosen.size()) >= count; };
  std::mt19937_64 random(1);
  if (count > 0)
    choose(0);
  if (!isEnough())
    choose(ranks - 1);
  while (!isEnough())
    choose(static_cast<int64_t>(random() % static_cast<uint64_t>(ranks)));
  return {chosen.begin(), chosen.end()};
}

} // namespace weft
