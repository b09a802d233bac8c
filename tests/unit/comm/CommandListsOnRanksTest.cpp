// What is said of command lists before they run, held against ranks that run them: lists that are accepted
// complete, and lists that are refused do not.
#include "runtime/executable/CommandLists.h"
#include "tests/unit/comm/Calls.h"
#include "tests/unit/executable/SampleMeshExecutable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace weft::testing {
namespace {

using Entry = CommandList::Entry;

constexpr int kRanks = 4;

/// Draws lists that complete: what happens is drawn in one order, and each rank does its part of it.
class ListDrawer {
public:
  explicit ListDrawer(uint64_t seed) : random(seed) {
    for (int rank = 0; rank < kRanks; ++rank)
      drawn.push_back({rank, {}});
  }

  std::vector<CommandList> lists(int events) {
    for (int event = 0; event < events; ++event) {
      const size_t from = pick(kRanks), to = (from + 1 + pick(kRanks - 1)) % kRanks;
      const size_t kind = pick(5);
      if (kind == 0)
        meet(from, to);
      else if (kind < 3)
        begin(from, to);
      else if (!underWay.empty())
        finish(pick(underWay.size()));
    }
    while (!underWay.empty())
      finish(0);
    return drawn;
  }

  /// One change of one list.
  void change(std::vector<CommandList> &changed) {
    std::vector<Entry> &entries = changed[pick(kRanks)].entries;
    if (entries.size() < 2)
      return;
    const size_t at = pick(entries.size() - 1);
    switch (pick(4)) {
    case 0:
    case 1:
      return std::swap(entries[at], entries[at + 1]);
    case 2:
      entries.erase(entries.begin() + static_cast<int64_t>(at));
      return;
    default:
      entries.insert(entries.begin() + static_cast<int64_t>(at), Entry(entries[at]));
    }
  }

private:
  size_t pick(size_t below) { return static_cast<size_t>(random() % below); }

  Entry entry(std::optional<LineStep> step, size_t peer) {
    Entry made{{}, 0, step, static_cast<int64_t>(peer)};
    made.call.call = text;
    return made;
  }

  void meet(size_t first, size_t second) {
    name("meeting");
    Entry made = entry(std::nullopt, 0);
    std::vector<int64_t> ranks = {static_cast<int64_t>(first), static_cast<int64_t>(second)};
    if (pick(3) == 0)
      ranks = {0, 1, 2, 3};
    made.call.ranks = std::make_shared<const std::vector<int64_t>>(ranks);
    for (int64_t rank : ranks)
      drawn[static_cast<size_t>(rank)].entries.push_back(made);
  }

  void begin(size_t from, size_t to) {
    name("message");
    drawn[from].entries.push_back(entry(LineStep::Send, to));
    drawn[to].entries.push_back(entry(LineStep::Receive, from));
    underWay.push_back({from, to});
  }

  void finish(size_t which) {
    auto [from, to] = underWay[which];
    underWay.erase(underWay.begin() + static_cast<int64_t>(which));
    drawn[from].entries.push_back(entry(LineStep::FinishSend, to));
    drawn[to].entries.push_back(entry(LineStep::FinishReceive, from));
  }

  void name(const char *what) {
    text = std::make_shared<const std::string>(what + std::to_string(named++ % 3));
  }

  std::mt19937_64 random;
  std::vector<CommandList> drawn;
  std::vector<std::pair<size_t, size_t>> underWay;
  std::shared_ptr<const std::string> text;
  int named = 0;
};

/// A rank does what is on its list.
absl::Status runList(Communicator &communicator, const CommandList &list) {
  communicator.setLimits({30, 30, 30});
  std::deque<std::vector<int32_t>> memory;
  int begun = 0;
  for (const Entry &entry : list.entries) {
    if (!entry.step) {
      std::shared_ptr<Exchange> exchange = *communicator.exchange(*entry.call.ranks);
      CollectiveCall call;
      call.detail = *entry.call.call;
      if (absl::Status status = exchange->begin(call, {}, {}); !status.ok())
        return status;
      exchange->end();
      continue;
    }
    std::shared_ptr<Line> line = *communicator.line(entry.peer);
    const CollectiveCall call{CollectiveOp::Send, DType::I32, 16, 16,
                              entry.call.call ? std::string_view(*entry.call.call) : std::string_view()};
    absl::Status status;
    if (*entry.step == LineStep::Send)
      status = line->send(call, memory.emplace_back(4).data());
    else if (*entry.step == LineStep::Receive)
      status = line->receive(call, memory.emplace_back(4).data());
    else
      status = *entry.step == LineStep::FinishSend ? line->finishSend() : line->finishReceive();
    begun += *entry.step == LineStep::Send || *entry.step == LineStep::Receive ? 1 : -1;
    if (!status.ok())
      return status;
  }
  return begun == 0 ? absl::OkStatus() : absl::InternalError("not all that was begun was waited for");
}

TEST(CommandListsOnRanks, CompleteExactlyWhenTheyAreAccepted) {
  const std::vector<Executable> parts = {sampleMeshExecutable()};
  int accepted = 0, refused = 0;
  for (uint64_t trial = 0; trial < 400; ++trial) {
    ListDrawer drawer(trial);
    std::vector<CommandList> lists = drawer.lists(14);
    for (uint64_t i = 0; i < trial % 4; ++i) // the first of four is as it was drawn
      drawer.change(lists);
    const absl::Status said = verifyCommandLists(parts, 0, lists);
    std::vector<absl::Status> all = statuses(kRanks, [&](Communicator &communicator) {
      return runList(communicator, lists[static_cast<size_t>(communicator.rank())]);
    });
    const auto failed =
        std::find_if(all.begin(), all.end(), [](const absl::Status &status) { return !status.ok(); });
    EXPECT_EQ(said.ok(), failed == all.end())
        << "trial " << trial << ": " << said << "; " << (failed == all.end() ? absl::OkStatus() : *failed);
    EXPECT_TRUE(trial % 4 != 0 || said.ok()) << said;
    ++(said.ok() ? accepted : refused);
  }
  EXPECT_GE(accepted, 120);
  EXPECT_GE(refused, 120);
}

} // namespace
} // namespace weft::testing
