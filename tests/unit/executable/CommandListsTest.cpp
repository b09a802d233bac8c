// What every rank would call, and that lists which do not meet are refused with the two commands that
// disagree.
#include "runtime/executable/CommandLists.h"
#include "tests/unit/executable/SampleMeshExecutable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CommandLists : public ::testing::Test {
protected:
  std::vector<CommandList> listsOf(std::vector<int64_t> ranks) {
    absl::StatusOr<std::vector<CommandList>> lists = commandListsOf({executable}, 0, ranks);
    EXPECT_TRUE(lists.ok()) << lists.status();
    return lists.ok() ? *std::move(lists) : std::vector<CommandList>();
  }
  absl::Status verified(std::span<const CommandList> lists) {
    return verifyCommandLists({executable}, 0, lists);
  }
  static GroupCall call(std::vector<int64_t> ranks, std::string text) {
    return {std::make_shared<const std::vector<int64_t>>(std::move(ranks)),
            std::make_shared<const std::string>(std::move(text))};
  }

  Executable executable = sampleMeshExecutable();
};

TEST_F(CommandLists, ARankCallsTheCollectivesOfItsScheduleWithItsGroups) {
  std::vector<CommandList> lists = listsOf({1});
  ASSERT_EQ(lists.size(), 1);
  ASSERT_EQ(lists[0].entries.size(), 3);
  EXPECT_THAT(*lists[0].entries[0].call.ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(*lists[0].entries[0].call.call,
              HasSubstr("all_gather(tensor<2xf32>) -> (tensor<6xf32>), dimension 0"));
  EXPECT_THAT(*lists[0].entries[2].call.ranks, ElementsAre(0, 1)); // d1 varies fastest
  EXPECT_EQ(lists[0].entries[2].command, 5);
}

TEST_F(CommandLists, EqualCallsOfOneGroupAreEqual) {
  std::vector<CommandList> lists = listsOf({0, 1, 2});
  EXPECT_EQ(lists[0].entries[0].call, lists[2].entries[0].call);
  EXPECT_EQ(lists[0].entries[2].call, lists[1].entries[2].call);
  EXPECT_NE(lists[0].entries[2].call, lists[2].entries[2].call); // another group over d1
}

TEST_F(CommandLists, TheListsOfOneProgramMeet) {
  EXPECT_TRUE(verified(listsOf({0, 1, 2, 3})).ok());
  absl::StatusOr<int64_t> calls = verifyCommandLists({executable}, std::vector<int64_t>{0, 3});
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_EQ(*calls, 2 * 3);
}

TEST_F(CommandLists, TwoCollectivesInAnotherOrderAreRefusedWithBothCommands) {
  std::vector<CommandList> lists = listsOf({0, 1, 2, 3});
  std::swap(lists[2].entries[0], lists[2].entries[1]);
  absl::Status status = verified(lists);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("rank 0 calls all_gather"), HasSubstr("command 0 of step, at gather"),
                    HasSubstr("rank 2 calls reduce_scatter"), HasSubstr("command 2 of step, at layer 0")));
}

TEST_F(CommandLists, ACallThatIsLeftOutIsRefused) {
  std::vector<CommandList> lists = listsOf({0, 1, 2, 3});
  lists[3].entries.pop_back();
  EXPECT_THAT(
      std::string(verified(lists).message()),
      AllOf(HasSubstr("rank 2 calls all_reduce"), HasSubstr("rank 3 has come to the end of its list")));
}

TEST_F(CommandLists, OneGroupThatCallsDifferentlyIsShownBeforeThoseThatWaitForIt) {
  std::vector<CommandList> lists = listsOf({0, 1, 2, 3});
  const GroupCall right = lists[1].entries[2].call;
  lists[1].entries[2].call = call(*right.ranks, "all_reduce(tensor<3xf32>) -> (tensor<3xf32>), kind max");
  EXPECT_THAT(std::string(verified(lists).message()),
              AllOf(HasSubstr("rank 0 calls all_reduce(tensor<2xf32>)"),
                    HasSubstr("rank 1 calls all_reduce(tensor<3xf32>)")));
}

// Each pair of ranks agrees on what it does together; all three wait all the same.
TEST_F(CommandLists, ACycleOverThreeGroupsIsRefused) {
  auto first = call({0, 1}, "a"), second = call({1, 2}, "b"), third = call({2, 0}, "c");
  std::vector<CommandList> lists = {
      {0, {{first, 0}, {third, 2}}}, {1, {{second, 1}, {first, 0}}}, {2, {{third, 2}, {second, 1}}}};
  EXPECT_THAT(std::string(verified(lists).message()),
              AllOf(HasSubstr("command lists disagree: rank 0 calls a with ranks 0, 1 (command 0 of step, at "
                              "gather), while rank 1 calls b"),
                    HasSubstr(", while rank 2 calls c"),
                    HasSubstr(": each waits for the next, the last for the first")));
  std::swap(lists[1].entries[0], lists[1].entries[1]);
  std::swap(lists[2].entries[0], lists[2].entries[1]);
  EXPECT_TRUE(verified(lists).ok());
}

// Two communicators that share two ranks are called in one order on both.
TEST_F(CommandLists, GroupsThatShareRanksHaveOneOrder) {
  auto all = call({0, 1, 2}, "a"), two = call({0, 1}, "b");
  std::vector<CommandList> lists = {{0, {{all, 0}, {two, 1}}}, {1, {{two, 1}, {all, 0}}}, {2, {{all, 0}}}};
  EXPECT_THAT(std::string(verified(lists).message()),
              AllOf(HasSubstr("rank 0 calls a with ranks 0, 1, 2"),
                    HasSubstr("while rank 1 calls b with ranks 0, 1")));
  std::swap(lists[1].entries[0], lists[1].entries[1]);
  EXPECT_TRUE(verified(lists).ok());
}

TEST_F(CommandLists, MembersWithoutAListComeInTime) {
  std::vector<CommandList> lists = listsOf({0, 1, 2, 3});
  std::swap(lists[2].entries[0], lists[2].entries[1]);
  lists.erase(lists.begin() + 2);
  EXPECT_TRUE(verified(lists).ok());
}

TEST_F(CommandLists, AKernelThatDoesNotFitARanksPlaceIsNamed) {
  executable.kernels[0].call.operands[0].shape = {3}; // a part of 6 over 4 ranks has 2
  absl::StatusOr<std::vector<CommandList>> lists = commandListsOf({executable}, 0, std::vector<int64_t>{3});
  EXPECT_THAT(std::string(lists.status().message()),
              AllOf(HasSubstr("rank 3, command 0 of step, at gather"), HasSubstr("all_gather")));
}

TEST(SampleRanks, OfAPipelineAreWholeOnes) {
  Mesh mesh{{{"p0", 4}, {"d0", 64}}, {{"pipeline", {0}}}};
  EXPECT_THAT(sampleRanks(mesh, 2), ElementsAre(0, 64, 128, 192));
  std::vector<int64_t> ranks = sampleRanks(mesh, 21);
  EXPECT_EQ(ranks.size(), 24u);
  for (int64_t rank : ranks)
    EXPECT_THAT(ranks, ::testing::Contains((rank + 64) % 256));
  EXPECT_TRUE(sampleRanks(mesh, 0).empty());
}

TEST(SampleRanks, AreAllOfFewAndTheSameOfMany) {
  Mesh mesh{{{"d0", 2}, {"d1", 3}}, {}};
  EXPECT_THAT(sampleRanks(mesh, 20), ElementsAre(0, 1, 2, 3, 4, 5));
  mesh.axes = {{"d0", 4096}};
  std::vector<int64_t> ranks = sampleRanks(mesh, 20);
  EXPECT_EQ(ranks.size(), 20);
  EXPECT_EQ(ranks.front(), 0);
  EXPECT_EQ(ranks.back(), 4095);
  EXPECT_EQ(ranks, sampleRanks(mesh, 20));
}

} // namespace
} // namespace weft::testing
