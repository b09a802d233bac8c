// What ranks send to each other, in their command lists: every send meets a receive, and nobody waits in a
// ring.
#include "runtime/executable/CommandLists.h"
#include "tests/unit/executable/SampleMeshExecutable.h"
#include "tests/unit/executable/SamplePipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Entry = CommandList::Entry;

class Transfers : public ::testing::Test {
protected:
  /// On `ranks` ranks that run the first sample, with lists made by hand.
  absl::Status verified(const std::vector<CommandList> &lists) {
    return verifyCommandLists({executable}, 0, lists);
  }
  std::string refusal(const std::vector<CommandList> &lists) {
    absl::Status status = verified(lists);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  static Entry entry(LineStep step, int64_t peer, uint32_t command, const char *text = nullptr) {
    Entry made{{}, command, step, peer};
    if (text != nullptr)
      made.call.call = std::make_shared<const std::string>(text);
    return made;
  }
  static Entry send(int64_t peer, uint32_t command = 0, const char *text = "x") {
    return entry(LineStep::Send, peer, command, text);
  }
  static Entry receive(int64_t peer, uint32_t command = 1, const char *text = "x") {
    return entry(LineStep::Receive, peer, command, text);
  }
  static Entry sent(int64_t peer, uint32_t command = 2) { return entry(LineStep::FinishSend, peer, command); }
  static Entry received(int64_t peer, uint32_t command = 3) {
    return entry(LineStep::FinishReceive, peer, command);
  }
  static Entry at(uint32_t microbatch, Entry made) {
    made.microbatch = microbatch;
    return made;
  }
  static Entry together(std::vector<int64_t> ranks, uint32_t command = 4) {
    return {{std::make_shared<const std::vector<int64_t>>(std::move(ranks)),
             std::make_shared<const std::string>("all_reduce")},
            command};
  }

  Executable executable = sampleMeshExecutable();
};

TEST_F(Transfers, ARanksListIsThatOfItsPart) {
  const std::vector<Executable> parts = {samplePipelinePart(0), samplePipelinePart(1)};
  absl::StatusOr<std::vector<CommandList>> lists = commandListsOf(parts, 0, std::vector<int64_t>{1, 3});
  ASSERT_EQ(lists.status(), absl::OkStatus());
  const std::vector<Entry> &first = (*lists)[0].entries, &second = (*lists)[1].entries;
  ASSERT_EQ(first.size(), 4);
  EXPECT_EQ(first[0].step, LineStep::Send);
  EXPECT_EQ(first[0].peer, 3); // along p0, with the same place along d0
  EXPECT_EQ(*first[0].call.call, "tensor<4xf32>, boundary 1");
  EXPECT_EQ(first[1].step, LineStep::FinishSend);
  EXPECT_EQ(first[2].microbatch, 1);
  EXPECT_EQ(second[2].step, LineStep::Receive);
  EXPECT_EQ(second[2].peer, 1);
  EXPECT_TRUE(second[2].agreesWith(first[2]));
  EXPECT_FALSE(second[2].agreesWith(first[0])); // of another microbatch
  absl::StatusOr<int64_t> calls = verifyCommandLists(parts, std::vector<int64_t>{0, 1, 2, 3});
  ASSERT_EQ(calls.status(), absl::OkStatus());
  EXPECT_EQ(*calls, 4 * 4);
}

TEST_F(Transfers, ASendAndItsReceiveHaveOneType) {
  std::vector<Executable> parts = {samplePipelinePart(0), samplePipelinePart(1)};
  parts[1].kernels[0].call.results[0].shape = {2};
  EXPECT_EQ(
      verifyCommandLists(parts, std::vector<int64_t>{0, 2}).status().message(),
      "command lists disagree: rank 0 sends tensor<4xf32>, boundary 1 to rank 2 (command 0 of step, "
      "microbatch 0, at boundary 1), while rank 2 receives tensor<2xf32>, boundary 1 from rank 0 (command 0 "
      "of step, microbatch 0, at boundary 1). Each is #1 of its line");
}

TEST_F(Transfers, OfRanksWithoutAListComeInTime) {
  EXPECT_TRUE(verifyCommandLists(std::vector<Executable>{samplePipelinePart(0), samplePipelinePart(1)},
                                 std::vector<int64_t>{2})
                  .ok());
}

TEST_F(Transfers, MayCrossSinceTheyOnlyBegin) {
  EXPECT_TRUE(verified({{0, {send(1), receive(1), received(1), sent(1)}},
                        {1, {send(0), receive(0), received(0), sent(0)}}})
                  .ok());
  // With the wait before the other's send can begin, they may not.
  EXPECT_THAT(
      refusal({{0, {receive(1), received(1), send(1), sent(1)}},
               {1, {receive(0), received(0), send(0), sent(0)}}}),
      AllOf(HasSubstr("rank 0 waits for rank 1 to send x (command 1 of step, at layer 0; waits at command 3 "
                      "of step, at update)"),
            HasSubstr("while rank 1 waits for rank 0 to send x"),
            HasSubstr("each waits for the next, the last for the first")));
}

TEST_F(Transfers, ATransferWithoutItsOtherEndIsNamed) {
  EXPECT_EQ(
      refusal({{0, {}}, {1, {receive(0), received(0)}}}),
      "command lists disagree: rank 1 waits for rank 0 to send x (command 1 of step, at layer 0; waits at "
      "command 3 of step, at update), while rank 0 has come to the end of its list. They would wait for "
      "ever");
  EXPECT_THAT(refusal({{0, {send(1), sent(1), send(1), sent(1)}}, {1, {receive(0), received(0)}}}),
              AllOf(HasSubstr("rank 0 waits for rank 1 to receive x"),
                    HasSubstr("rank 1 has come to the end of its list")));
  // Also where nobody waits for it.
  EXPECT_EQ(refusal({{0, {send(1)}}, {1, {}}}), "command lists disagree: rank 0 sends x to rank 1 (command 0 "
                                                "of step, at gather), while rank 1 has come "
                                                "to the end of its list and does not receive it");
  EXPECT_THAT(refusal({{0, {}}, {1, {receive(0)}}}),
              HasSubstr("rank 0 has come to the end of its list and does "
                        "not send it"));
}

TEST_F(Transfers, WhatIsBegunIsWaitedFor) {
  EXPECT_EQ(refusal({{0, {send(1)}}, {1, {receive(0), received(0)}}}),
            "command lists: rank 0 sends x to rank 1 (command 0 of step, at gather) and comes to the end of "
            "its list "
            "without waiting for it");
  EXPECT_EQ(
      refusal({{0, {send(1), sent(1), sent(1)}}, {1, {receive(0), received(0)}}}),
      "command lists: rank 0 waits for its send #2 to rank 1, which it has not begun (command 2 of step, at "
      "layer 0)");
  EXPECT_THAT(refusal({{0, {received(1), receive(1)}}, {1, {send(0), sent(0)}}}),
              HasSubstr("rank 0 waits for its receive #1 from rank 1, which it has not begun"));
}

TEST_F(Transfers, AreInOneOrderOnBothEnds) {
  EXPECT_THAT(refusal({{0, {send(1, 0, "a"), send(1, 1, "b"), sent(1), sent(1)}},
                       {1, {receive(0, 1, "b"), receive(0, 0, "a"), received(0), received(0)}}}),
              AllOf(HasSubstr("rank 0 sends a to rank 1"), HasSubstr("while rank 1 receives b from rank 0"),
                    HasSubstr("Each is #1 of its line")));
  // The same message of another microbatch.
  EXPECT_THAT(refusal({{0, {at(0, send(1)), sent(1), at(1, send(1)), sent(1)}},
                       {1, {at(0, receive(0)), received(0), at(2, receive(0)), received(0)}}}),
              AllOf(HasSubstr("rank 0 sends x to rank 1 (command 0 of step, microbatch 1, at gather)"),
                    HasSubstr("rank 1 receives x from rank 0 (command 1 of step, microbatch 2, at layer 0)"),
                    HasSubstr("Each is #2 of its line")));
}

TEST_F(Transfers, ARingOfThreeIsShownWithEachCommand) {
  auto list = [](int64_t rank) {
    const int64_t before = (rank + 2) % 3, next = (rank + 1) % 3;
    return CommandList{rank, {receive(before), received(before), send(next), sent(next)}};
  };
  EXPECT_THAT(refusal({list(0), list(1), list(2)}),
              AllOf(HasSubstr("command lists disagree: rank 0 waits for rank 2 to send x"),
                    HasSubstr("while rank 1 waits for rank 0 to send x"),
                    HasSubstr("while rank 2 waits for rank 1 to send x"),
                    HasSubstr("each waits for the next, the last for the first")));
}

TEST_F(Transfers, ARingOverALineAndACollectiveIsShown) {
  EXPECT_THAT(
      refusal({{0, {receive(1), received(1), together({0, 1})}}, {1, {together({0, 1}), send(0), sent(0)}}}),
      AllOf(HasSubstr("rank 0 waits for rank 1 to send x"), HasSubstr("while rank 1 calls all_reduce")));
}

TEST_F(Transfers, ACollectiveThatOneRankSkipsIsShown) {
  EXPECT_THAT(
      refusal({{0, {together({0, 1}), send(1), sent(1)}}, {1, {receive(0), received(0)}}}),
      AllOf(HasSubstr("rank 0 calls all_reduce"), HasSubstr("while rank 1 waits for rank 0 to send x")));
}

// Many ranks that hand a value on, each before the one that it waits for: the work is that of the lists'
// length.
TEST_F(Transfers, OfALongChainComplete) {
  constexpr int64_t kRanks = 2000, kTimes = 20;
  std::vector<CommandList> lists;
  for (int64_t rank = kRanks - 1; rank >= 0; --rank) {
    CommandList &list = lists.emplace_back();
    list.rank = rank;
    for (int64_t time = 0; time < kTimes; ++time) {
      if (rank > 0)
        list.entries.insert(list.entries.end(), {receive(rank - 1), received(rank - 1)});
      if (rank < kRanks - 1)
        list.entries.insert(list.entries.end(), {send(rank + 1), sent(rank + 1)});
    }
  }
  EXPECT_TRUE(verified(lists).ok());
  lists.back().entries.pop_back();
  EXPECT_THAT(refusal(lists), HasSubstr("rank 0 sends x to rank 1"));
}

} // namespace
} // namespace weft::testing
