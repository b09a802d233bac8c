//===- AutoScheduleTest.cpp - The best schedule for given times -----------===//
//
// Times measured by the authors of Zero Bubble (arXiv:2401.10241, tables 6 to 9), in milliseconds.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/AutoSchedule.h"
#include "passes/pipeline/schedules/Generators.h"
#include "passes/pipeline/schedules/VerifySchedule.h"

#include "Written.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace weft::schedules {
namespace {

struct Profile {
  std::string model;
  int ranks, microbatches;
  ActionTimes times;
};

std::vector<Profile> profiles() {
  std::vector<Profile> all;
  for (std::map<std::string, std::string> &row : rowsOf("profiled_times.csv"))
    all.push_back({row["model"],
                   std::stoi(row["p"]),
                   std::stoi(row["m"]),
                   {std::stod(row["T_F_ms"]), std::stod(row["T_B_ms"]), std::stod(row["T_W_ms"]),
                    std::stod(row["T_comm_ms"])}});
  return all;
}

/// The search, with what must hold of every result.
AutoSchedule search(const AutoRequest &request) {
  absl::StatusOr<AutoSchedule> found = searchSchedule(request);
  EXPECT_TRUE(found.ok()) << found.status();
  if (!found.ok())
    return {};
  EXPECT_TRUE(verifySchedule(found->schedule).ok()) << verifySchedule(found->schedule);
  const std::vector<int> held = mostHeld(found->schedule);
  EXPECT_LE(*std::max_element(held.begin(), held.end()), request.heldLimit);
  EXPECT_DOUBLE_EQ(simulate(found->schedule, request.times)->span(), found->span);
  EXPECT_GE(found->span, found->lowerBound * (1 - 1e-12));
  return *std::move(found);
}

double spanOf(std::string_view name, const Profile &profile) {
  return simulate(*generateSchedule(name, {profile.ranks, profile.microbatches}), profile.times)->span();
}

TEST(AutoSchedule, IsAsGoodAsZbH1InItsMemory) {
  std::vector<Profile> all = profiles();
  ASSERT_EQ(all.size(), 12u);
  for (const Profile &profile : all) {
    AutoSchedule found = search({profile.ranks, profile.microbatches, 1, profile.ranks, profile.times});
    double reference = spanOf("zb_h1", profile);
    std::printf("%-6s p %2d m %3d L = p:  auto %9.3f  zb_h1 %9.3f  bound %9.3f\n", profile.model.c_str(),
                profile.ranks, profile.microbatches, found.span, reference, found.lowerBound);
    EXPECT_LE(found.span, reference * (1 + 1e-12));
  }
}

TEST(AutoSchedule, IsNoWorseThanZbH2AndNearTheBoundWithTwiceTheMemory) {
  int near = 0;
  for (const Profile &profile : profiles()) {
    AutoSchedule found = search({profile.ranks, profile.microbatches, 1, 2 * profile.ranks, profile.times});
    double reference = spanOf("zb_h2", profile), above = std::max(0.0, found.span / found.lowerBound - 1);
    std::printf("%-6s p %2d m %3d L = 2p: auto %9.3f  zb_h2 %9.3f  bound %9.3f (%.3f %% above)\n",
                profile.model.c_str(), profile.ranks, profile.microbatches, found.span, reference,
                found.lowerBound, 100 * above);
    EXPECT_LE(found.span, reference * (1 + 1e-12));
    near += above <= 0.03;
  }
  EXPECT_GE(near, 10);
}

TEST(AutoSchedule, TakesAtMostASecondFor16RanksAnd128Microbatches) {
  for (int chunks : {1, 2}) {
    std::clock_t start = std::clock();
    search({16, 128, chunks, 16 * chunks, {11.3, 11.2, 8.1, 0.4}});
    double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::printf("%d chunks: %.2f s\n", chunks, seconds);
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
    EXPECT_LE(seconds, 1.0);
#endif
  }
}

TEST(AutoSchedule, IsTheSameEachTime) {
  AutoRequest request{5, 13, 1, 6, {3, 4, 2, 0.5}};
  EXPECT_EQ(search(request).schedule, search(request).schedule);
}

TEST(AutoSchedule, UsesLittleMemoryWhereItMust) {
  double last = 1e9;
  for (int limit : {1, 2, 3, 4, 6, 8, 16}) {
    AutoSchedule found = search({4, 16, 1, limit, {1, 1, 1, 0}});
    EXPECT_LE(found.span, last) << limit;
    last = found.span;
  }
  EXPECT_EQ(last, 48); // no bubble
}

TEST(AutoSchedule, TwoChunksGoThereAndBack) {
  AutoSchedule found = search({4, 16, 2, 8, {1, 1, 1, 0}});
  EXPECT_EQ(found.schedule.layout, StageLayout::V);
  EXPECT_EQ(found.span, 48);
}

TEST(AutoSchedule, WhatCannotBeIsRefusedWithWhatCan) {
  const auto refusal = [](const AutoRequest &request) {
    return std::string(searchSchedule(request).status().message());
  };
  EXPECT_EQ(refusal({4, 8, 2, 3, {}}),
            "auto: no schedule found that holds at most 3 chunks on each of 4 ranks. Works: 5 or more");
  EXPECT_EQ(refusal({4, 8, 1, 0, {}}), "auto: a rank must hold at least 1 microbatch from its F to its W");
  EXPECT_EQ(refusal({4, 8, 3, 8, {}}),
            "auto: 3 chunks a rank. Works: 1, or 2 (there and back); interleaved takes more");
  EXPECT_EQ(refusal({4, 8, 1, 4, {1, -1, 1, 0}}), "auto: a time of -1; times are from 0 to 1e12");
  EXPECT_EQ(refusal({4, 8, 1, 4, {0, 0, 0, 0}}), "auto: F, B and W take no time; at least one must");
}

} // namespace
} // namespace weft::schedules
