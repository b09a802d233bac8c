//===- InFlightTest.cpp - Places of values in flight ----------------------------===//
//
// Programs are written with nothing but stores, releases and an order of runs, and their plans held against
// what the order says: who is alive with whom is counted here, run by run. Orders are drawn at random, and
// those of the pipeline schedules.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/InFlight.h"
#include "dialects/nn/NnDialect.h"
#include "passes/memory/OffsetAssignment.h"
#include "passes/pipeline/schedules/Generators.h"

#include "absl/strings/str_cat.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <ctime>
#include <random>

namespace weft {
namespace {

/// One slot: stored by the action `first`, released by `last`; `floats` numbers long.
struct WrittenSlot {
  std::string first, last;
  int64_t floats = 16;
};
struct WrittenRun {
  std::string action;
  int64_t microbatch;
};

struct Written {
  int64_t microbatches = 1;
  std::vector<WrittenSlot> slots;
  std::vector<WrittenRun> runs;

  std::string text() const {
    std::map<std::string, std::string> actions;
    std::string text = "sched.program \"p\" microbatches(" + std::to_string(microbatches) + ") {\n";
    for (size_t index = 0; index < slots.size(); ++index) {
      const std::string name = "\"" + std::to_string(index) + "\"";
      const std::string type = "tensor<" + std::to_string(slots[index].floats) + "xf32>";
      const std::string value = "%v" + std::to_string(index);
      absl::StrAppend(&text, "  sched.slot ", name, " in_flight : ", type, " {per_microbatch}\n");
      absl::StrAppend(&actions[slots[index].first], "    ", value, " = sched.constant dense<0.0> : ", type,
                      "\n    sched.store ", name, ", ", value, " : ", type, "\n");
      absl::StrAppend(&actions[slots[index].last], "    sched.release ", name, "\n");
    }
    for (const auto &[name, body] : actions)
      absl::StrAppend(&text, "  sched.action \"", name, "\" per_microbatch {\n", body, "  }\n");
    for (const WrittenRun &run : runs)
      absl::StrAppend(&text, "  sched.run \"", run.action, "\" ", run.microbatch, "\n");
    return text + "}\n";
  }

  /// The life of a slot's value.
  Lifetime lifeOf(size_t slot, int64_t microbatch) const {
    Lifetime life{alignPlace(4 * slots[slot].floats), -1, -1};
    for (size_t run = 0; run < runs.size(); ++run)
      if (runs[run].microbatch == microbatch) {
        if (runs[run].action == slots[slot].first)
          life.begin = static_cast<int64_t>(run);
        if (runs[run].action == slots[slot].last)
          life.end = static_cast<int64_t>(run);
      }
    return life;
  }
};

struct Planned {
  int64_t bytes = 0, lowerBound = 0, mostLive = 0;
  size_t blocks = 0;
};

class InFlightPlans : public ::testing::Test {
protected:
  InFlightPlans() { context.loadDialect<nn::NnDialect, sched::SchedDialect>(); }

  /// Plans the program, and checks that no two values that are needed in one run share a byte.
  Planned plan(const Written &written) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(written.text(), &context);
    EXPECT_TRUE(module) << written.text();
    if (!module)
      return {};
    auto program = *module->getOps<sched::ProgramOp>().begin();
    mlir::FailureOr<InFlightPlan> plan = planInFlight(program);
    EXPECT_TRUE(mlir::succeeded(plan));
    std::map<std::string, const InFlightBlock *> blockOf;
    for (const InFlightBlock &block : plan->blocks)
      EXPECT_TRUE(blockOf.try_emplace(block.base, &block).second) << block.base;
    std::vector<Lifetime> lives;
    std::vector<int64_t> offsets;
    for (auto [index, slot] : llvm::enumerate(program.getBody().front().getOps<sched::SlotOp>())) {
      const InFlightBlock &block = *blockOf.at(slot.getPlace()->getBase().str());
      for (int64_t microbatch = 0; microbatch < written.microbatches; ++microbatch) {
        lives.push_back(written.lifeOf(index, microbatch));
        offsets.push_back(block.offsets[microbatch] + slot.getPlace()->getOffset());
        EXPECT_LE(offsets.back() + lives.back().bytes, plan->bytes);
      }
    }
    for (size_t a = 0; a < lives.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        EXPECT_TRUE(!lives[a].overlaps(lives[b]) || offsets[a] + lives[a].bytes <= offsets[b] ||
                    offsets[b] + lives[b].bytes <= offsets[a])
            << "values " << b << " and " << a << " of\n"
            << written.text();
    Planned planned{plan->bytes, plan->lowerBound, 0, plan->blocks.size()};
    for (const Lifetime &at : lives) {
      int64_t live = 0;
      for (const Lifetime &other : lives)
        live += other.begin <= at.begin && at.begin <= other.end ? other.bytes : 0;
      planned.mostLive = std::max(planned.mostLive, live);
    }
    EXPECT_EQ(planned.lowerBound, planned.mostLive);
    return planned;
  }

  mlir::MLIRContext context;
};

/// Stages of F, B and W in any order in which each follows the one before; two slots from F to B, one from F
/// to W, one from B to W.
Written randomProgram(std::mt19937 &random, bool equalSizes) {
  auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  Written written;
  const size_t stages = 1 + below(3);
  written.microbatches = static_cast<int64_t>(1 + below(6));
  const char *kinds[] = {"F", "B", "W"};
  std::vector<std::array<int64_t, 3>> done(stages);
  for (size_t stage = 0; stage < stages; ++stage) {
    auto name = [&](const char *kind) { return std::to_string(stage) + kind; };
    auto floats = [&] { return equalSizes ? 16 : static_cast<int64_t>(16 * (1 + below(6))); };
    if (!equalSizes) {
      written.slots.push_back({name("F"), name("B"), floats()});
      written.slots.push_back({name("B"), name("W"), floats()});
    }
    written.slots.push_back({name("F"), name("B"), floats()});
    written.slots.push_back({name("B"), name("W"), equalSizes ? 16 : floats()});
  }
  for (size_t left = 3 * stages * static_cast<size_t>(written.microbatches); left > 0;) {
    const size_t stage = below(stages), kind = below(3);
    auto &counts = done[stage];
    if (counts[kind] == (kind == 0 ? written.microbatches : counts[kind - 1]))
      continue;
    written.runs.push_back({std::to_string(stage) + kinds[kind], counts[kind]++});
    --left;
  }
  return written;
}

TEST_F(InFlightPlans, OfEqualSizesTakeAsManyPlacesAsLiveAtOnce) {
  std::mt19937 random(30);
  for (int instance = 0; instance < 200; ++instance) {
    Planned planned = plan(randomProgram(random, true));
    EXPECT_EQ(planned.bytes, planned.mostLive) << "instance " << instance;
  }
}

TEST_F(InFlightPlans, OfAnySizesNeverShareWhatIsNeeded) {
  std::mt19937 random(31);
  double worst = 1;
  for (int instance = 0; instance < 200; ++instance) {
    Planned planned = plan(randomProgram(random, false));
    EXPECT_GE(planned.bytes, planned.lowerBound);
    worst = std::max(worst, static_cast<double>(planned.bytes) / static_cast<double>(planned.lowerBound));
  }
  RecordProperty("worst_over_lower_bound", std::to_string(worst));
  EXPECT_LE(worst, 1.5);
}

TEST_F(InFlightPlans, SlotsThatLiveAlikeAreOneBlock) {
  Written written{2,
                  {{"F", "B"}, {"F", "B", 1}, {"F", "W"}},
                  {{"F", 0}, {"B", 0}, {"W", 0}, {"F", 1}, {"B", 1}, {"W", 1}}};
  Planned planned = plan(written);
  EXPECT_EQ(planned.blocks, 2u);
  EXPECT_EQ(planned.bytes, 3 * 64);
}

/// What a rank keeps of its stages, from F until W or BW, as one slot each.
Written keptBy(const schedules::PipelineSchedule &schedule, size_t rank) {
  Written written;
  written.microbatches = schedule.microbatches;
  std::map<int, std::string> last;
  for (const schedules::Action &action : schedule.actions[rank]) {
    // A schedule with both kinds of backward ends a stage's values in the one or the other.
    const bool ends = schedules::releases(action.kind);
    const std::string role =
        std::to_string(action.stage) + (ends ? "end" : std::string(letters(action.kind)));
    if (action.kind != schedules::ActionKind::BackwardInput)
      written.runs.push_back({role, action.microbatch});
    if (ends)
      last[action.stage] = role;
  }
  for (const auto &[stage, role] : last)
    written.slots.push_back({std::to_string(stage) + "F", role});
  return written;
}

TEST_F(InFlightPlans, OfEveryScheduleTakeWhatTheScheduleHolds) {
  int plans = 0;
  for (const schedules::ScheduleKind &kind : schedules::scheduleKinds())
    for (int ranks : {2, 4, 8})
      for (int microbatches : {ranks, 2 * ranks, 3 * ranks}) {
        auto schedule = schedules::generateSchedule(kind.name, {ranks, microbatches});
        if (!schedule.ok())
          continue;
        std::vector<int> held = schedules::mostHeld(*schedule);
        for (size_t rank = 0; rank < schedule->actions.size(); ++rank) {
          Planned planned = plan(keptBy(*schedule, rank));
          EXPECT_EQ(planned.bytes, 64 * held[rank]) << kind.name << " on rank " << rank << " of " << ranks
                                                    << ", " << microbatches << " microbatches";
          ++plans;
        }
      }
  EXPECT_GT(plans, 300);
}

TEST(InFlightOffsets, SixteenChunksOf128MicrobatchesAreSoonPlaced) {
  auto schedule = schedules::generateSchedule("interleaved", {4, 128, 16});
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  std::map<std::pair<int, int>, int64_t> begins;
  std::vector<Lifetime> lifetimes;
  for (auto [run, action] : llvm::enumerate(schedule->actions[0])) {
    auto &begin = begins[{action.stage, action.microbatch}];
    if (action.kind == schedules::ActionKind::Forward)
      begin = static_cast<int64_t>(run);
    if (releases(action.kind))
      for (int block = 0; block < 8; ++block)
        lifetimes.push_back({64 * (1 + (block * 7 + action.stage) % 11), begin, static_cast<int64_t>(run)});
  }
  ASSERT_EQ(lifetimes.size(), 16u * 128 * 8);
  const std::clock_t start = std::clock();
  OffsetPlan plan = assignOffsets(lifetimes);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  RecordProperty("seconds", std::to_string(seconds));
  RecordProperty("peak_over_lower_bound",
                 std::to_string(static_cast<double>(plan.peakBytes) / static_cast<double>(plan.lowerBound)));
  EXPECT_LT(seconds, 1);
  EXPECT_GE(plan.peakBytes, plan.lowerBound);
}

} // namespace
} // namespace weft
