//===- FormulaeTest.cpp - Measured against the literature -----------------===//
//
// Times: B is the input gradient alone, F, B, W those of a rank's whole share. Bubble: the longest span less
// the work of a rank; no transfer time.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Formulae.h"

#include "Written.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::schedules {
namespace {

constexpr ActionTimes kEqual = {12, 12, 12, 0}; // divides by chunks without rounding

int mostOf(const PipelineSchedule &schedule) {
  const std::vector<int> held = mostHeld(schedule);
  return *std::max_element(held.begin(), held.end());
}

TEST(Formulae, AreExactWhereTheyAreProved) {
  for (std::string_view name : {"gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2"})
    for (int ranks : {1, 2, 3, 4, 8, 16})
      for (int microbatches : {ranks, ranks + 1, 2 * ranks - 1, 2 * ranks, 4 * ranks, 5 * ranks + 1}) {
        PipelineSchedule schedule = *generateSchedule(name, {ranks, microbatches});
        Formula formula = *formulaOf(schedule, kEqual);
        if (!formula.isReached)
          continue;
        EXPECT_TRUE(formula.isExact);
        EXPECT_EQ(simulate(schedule, kEqual)->bubble(), formula.bubbleTime)
            << name << " " << ranks << " x " << microbatches;
        // Groups of more microbatches than ranks hold more.
        if (name != "interleaved" || microbatches % ranks == 0)
          EXPECT_EQ(mostOf(schedule), formula.heldChunks) << name << " " << ranks << " x " << microbatches;
      }
}

TEST(Formulae, OfInterleavedHoldForMoreChunks) {
  for (int chunks : {1, 2, 3, 4})
    for (int ranks : {2, 4, 8}) {
      PipelineSchedule schedule = *generateSchedule("interleaved", {ranks, 3 * ranks, chunks});
      Formula formula = *formulaOf(schedule, kEqual);
      EXPECT_EQ(simulate(schedule, kEqual)->bubble(), formula.bubbleTime) << ranks << " x " << chunks;
      EXPECT_EQ(mostOf(schedule), chunks == 1 ? ranks : formula.heldChunks) << ranks << " x " << chunks;
    }
}

TEST(Formulae, HeldOnEachRankAsCounted) {
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(mostHeld(*generateSchedule("gpipe", {4, 9}))[rank], 9);
    EXPECT_EQ(mostHeld(*generateSchedule("1f1b", {4, 9}))[rank], 4 - rank);
    EXPECT_EQ(mostHeld(*generateSchedule("interleaved", {4, 8}))[rank], 2 * (3 - rank) + 4 + 1);
    EXPECT_EQ(mostHeld(*generateSchedule("zb_h1", {4, 9}))[rank], 4);
    EXPECT_EQ(mostHeld(*generateSchedule("zb_h2", {4, 9}))[rank], 7);
  }
}

TEST(Formulae, OfReconstructedSchedulesAreNear) {
  std::printf("%-12s %5s %12s %8s %12s %10s %6s %8s\n", "schedule", "ranks", "microbatches", "bubble",
              "literature", "deviation", "held", "there");
  for (std::string_view name : {"zb_v", "v_half", "v_min", "dualpipe_v"})
    for (int ranks : {2, 3, 4, 8})
      for (int microbatches : {2 * ranks, 2 * ranks + 1, 4 * ranks}) {
        PipelineSchedule schedule = *generateSchedule(name, {ranks, microbatches});
        Formula formula = *formulaOf(schedule, kEqual);
        EXPECT_TRUE(formula.isReached);
        double bubble = simulate(schedule, kEqual)->bubble();
        std::printf("%-12s %5d %12d %8g %12g %+10g %6d %8.3g\n", std::string(name).c_str(), ranks,
                    microbatches, bubble, formula.bubbleTime, bubble - formula.bubbleTime, mostOf(schedule),
                    formula.heldChunks);
        EXPECT_LE(std::abs(bubble - formula.bubbleTime), 2 * kEqual.work()) << name << " " << ranks;
        EXPECT_LE(mostOf(schedule), formula.heldChunks + 3) << name << " " << ranks;
      }
}

TEST(Formulae, ZeroBubbleVHasNone) {
  for (int ranks : {2, 3, 5, 8, 16})
    for (int microbatches : {2 * ranks - 1, 4 * ranks}) {
      PipelineSchedule schedule = *generateSchedule("zb_v", {ranks, microbatches});
      EXPECT_EQ(simulate(schedule, kEqual)->bubble(), 0) << ranks << " x " << microbatches;
      EXPECT_EQ(mostOf(schedule), 2 * ranks);
    }
}

/// What a row of the data file says, as a time in our language.
double bubbleOf(const std::string &text, double p, double m, const ActionTimes &t) {
  const double all = t.work(), whole = t.backwardInput + t.backwardWeight;
  const double rate = (p - 1) / (m + p - 1); // 1F1B's bubble as a part of its (m + p - 1)(F + B + W)
  const double time = rate * (m + p - 1) * all;
  if (text == "(p-1)/(m+p-1) =: B")
    return time;
  if (text == "B/3")
    return time / 3;
  if (text == "B/2")
    return time / 2;
  if (text == "2B/3")
    return 2 * time / 3;
  if (text == "0")
    return 0;
  if (text == "(PP-1)(F+B)") // DeepSeek's B is the whole backward
    return (p - 1) * (t.forward + whole);
  if (text == "(PP-1)(F+B-2W)")
    return (p - 1) * (t.forward + whole - 2 * t.backwardWeight);
  if (text == "(PP/2-1)(F&B+B-3W)") // of chunks: half a rank's share; PP = 2p
    return (p - 1) * (t.forward + whole + whole - 3 * t.backwardWeight) / 2;
  if (text == "(p-1)/m (fraction of ideal time)")
    return (p - 1) / m * (m * all);
  if (text == "(p-1)/(v*m)")
    return (p - 1) / (2 * m) * (m * all);
  ADD_FAILURE() << "a formula that no reader knows: " << text;
  return 0;
}

TEST(Formulae, OfAllSourcesAgreeInOneLanguage) {
  const std::map<std::string, std::string> names = {{"1F1B", "1f1b"},
                                                    {"ZB1P", "zb_h1"},
                                                    {"ZB2P", "zb_h2"},
                                                    {"ZBV", "zb_v"},
                                                    {"V-Half", "v_half"},
                                                    {"V-Min", "v_min"},
                                                    {"DualPipeV", "dualpipe_v"},
                                                    {"interleaved 1F1B", "interleaved"}};
  int compared = 0;
  for (std::map<std::string, std::string> &row : rowsOf("formulae.csv")) {
    const auto name = names.find(row["schedule"]);
    if (name == names.end()) {
      EXPECT_EQ(row["schedule"], "DualPipe"); // two copies of the parameters: not built
      continue;
    }
    PipelineSchedule schedule = *generateSchedule(name->second, {4, 24});
    EXPECT_NEAR(formulaOf(schedule, kEqual)->bubbleTime, bubbleOf(row["bubble"], 4, 24, kEqual), 1e-9)
        << row["schedule"] << " of " << row["source"];
    ++compared;
  }
  EXPECT_EQ(compared, 11);
}

} // namespace
} // namespace weft::schedules
