//===- VerifyInFlightTest.cpp - What values in flight may not do ----------===//
//
// Each rule by the smallest damage that breaks it. Schedule items of the first sample: 0 prepare, 1 F0, 2 F1,
// 3 B0, 4 F2, 5 B1, 6 B2.
//
//===----------------------------------------------------------------------===//
#include "runtime/executable/Dump.h"
#include "runtime/executable/ExecutableFile.h"
#include "runtime/executable/Verify.h"
#include "tests/unit/executable/SampleInFlight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace weft::testing {
namespace {

struct Damage {
  const char *name;
  std::function<void(Executable &)> change;
  const char *message;
};
std::string caseName(const ::testing::TestParamInfo<Damage> &info) { return info.param.name; }

MemoryBase &kept(Executable &executable) { return executable.memory.bases[kFlightKept]; }
Program &step(Executable &executable) { return executable.programs[0]; }

TEST(InFlight, TheSamplesVerify) {
  EXPECT_EQ(verify(sampleInFlight()), absl::OkStatus());
  EXPECT_EQ(verify(sampleTransfers()), absl::OkStatus());
}

TEST(InFlight, ABaseWithinARegionTakesNoRoom) {
  MemoryPlan plan = sampleInFlight().memory;
  EXPECT_EQ(plan.arenaBytes(), 64u + 192 + 64 + 128);
  EXPECT_EQ(plan.bases[kFlightKept].bytes(), 0u);
  EXPECT_EQ(plan.starts()[kFlightKept], plan.starts()[kFlightRegion]);
}

TEST(InFlight, OffsetsGoThroughTheFile) {
  for (const Executable &executable : {sampleInFlight(), sampleTransfers()}) {
    const std::vector<Executable> parts(static_cast<size_t>(executable.mesh.pipelineRanks()), executable);
    EXPECT_EQ(*parseExecutables(*serializeExecutables(parts), "a.weft"), parts);
  }
}

TEST(InFlight, TheDumpShowsWhereEachMicrobatchLies) {
  std::string text = dump({sampleInFlight()});
  EXPECT_THAT(text, ::testing::HasSubstr("\n  base in_flight (slots): 1 x 128 bytes\n"
                                         "  base step/in_flight/F-B (slots): 3 x 64 bytes within in_flight "
                                         "at 0 64 0\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("(inputs+0, inputs+0) -> (step/in_flight/F-B+0)"));
}

class InFlightRefuses : public ::testing::TestWithParam<Damage> {};

TEST_P(InFlightRefuses, WithItsMessage) {
  Executable executable = sampleInFlight();
  GetParam().change(executable);
  EXPECT_EQ(verify(executable).message(), GetParam().message);
}

const Damage kBases[] = {
    {"NoSuchRegion", [](Executable &e) { kept(e).within = 9; },
     "base 'step/in_flight/F-B': lies within base 9 of 5"},
    {"OffsetsWithoutARegion", [](Executable &e) { e.memory.bases[kFlightStep].offsets = {0}; },
     "base 'step': 1 offsets, but it lies within no other base"},
    {"Kind", [](Executable &e) { kept(e).within = kFlightStep; },
     "base 'step/in_flight/F-B' of kind slots lies within base 'step' of kind step, both must be slots"},
    {"WithinItself", [](Executable &e) { kept(e).within = kFlightKept; },
     "base 'step/in_flight/F-B' lies within base 'step/in_flight/F-B', which must have 1 slot and lie within "
     "no other base"},
    {"OffsetCount", [](Executable &e) { kept(e).offsets.pop_back(); },
     "base 'step/in_flight/F-B': 2 offsets for 3 slots"},
    {"Alignment", [](Executable &e) { kept(e).offsets[1] = 32; },
     "base 'step/in_flight/F-B': offset 32 in base 'in_flight' is not a multiple of 64"},
    {"Bounds", [](Executable &e) { kept(e).offsets[1] = 128; },
     "base 'step/in_flight/F-B': 64 bytes at offset 128 pass the end of base 'in_flight' (128 bytes)"},
    {"BoundsOverflow", [](Executable &e) { kept(e).offsets[1] = ~uint64_t{63}; },
     "base 'step/in_flight/F-B': 64 bytes at offset 18446744073709551552 pass the end of base 'in_flight' "
     "(128 "
     "bytes)"},
};

const Damage kUses[] = {
    {"FromAnActionThatRunsOnce", [](Executable &e) { step(e).arguments[1] = {kFlightKept, 0}; },
     "program 'step', command 0 (sample), result 0: base 'step/in_flight/F-B' is one value per microbatch, "
     "which "
     "actions per microbatch reach"},
    {"AsAnOutput", [](Executable &e) { step(e).outputs[0].reference = {kFlightKept, 0}; },
     "program 'step', output 'sum': base 'step/in_flight/F-B' is one value per microbatch, which actions per "
     "microbatch reach"},
    {"BehindItsSlot", [](Executable &e) { step(e).arguments[6] = {kFlightKept, 64}; },
     "program 'step', command 2 (sample), operand 1: 16 bytes at offset 64 pass the end of a slot of base "
     "'step/in_flight/F-B' (64 bytes)"},
    {"TheRegionItself", [](Executable &e) { step(e).arguments[6] = {kFlightRegion, 0}; },
     "program 'step', command 2 (sample): reaches base 'in_flight' itself, in which other bases have their "
     "slots"},
    {"TooFewSlots",
     [](Executable &e) {
       kept(e).slotCount = 2;
       kept(e).offsets = {0, 64};
     },
     "program 'step', command 1 (sample): base 'step/in_flight/F-B' has 2 slots for 3 microbatches"},
    {"ReadBeforeWritten",
     [](Executable &e) { step(e).schedule = {{0, kNone}, {1, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {2, 2}}; },
     "program 'step', command 2 (sample), schedule item 3: reads base 'step/in_flight/F-B' of microbatch 1, "
     "which nothing has written yet"},
    {"SharedWhileBothAreNeeded", [](Executable &e) { kept(e).offsets[1] = 0; },
     "program 'step': base 'step/in_flight/F-B' of microbatch 0 (needed from schedule item 1 to 3) and base "
     "'step/in_flight/F-B' of microbatch 1 (needed from schedule item 2 to 5) share bytes of base "
     "'in_flight'"},
    {"MoreInFlightThanPlaces", [](Executable &e) { std::swap(step(e).schedule[3], step(e).schedule[4]); },
     "program 'step': base 'step/in_flight/F-B' of microbatch 0 (needed from schedule item 1 to 4) and base "
     "'step/in_flight/F-B' of microbatch 2 (needed from schedule item 3 to 6) share bytes of base "
     "'in_flight'"},
    {"PartlyShared",
     [](Executable &e) {
       kept(e).slotBytes = 128;
       kept(e).offsets = {64, 0, 128};
       e.memory.bases[kFlightRegion].slotBytes = 256;
       e.memory.rows[3].bytes = 256;
     },
     "program 'step': base 'step/in_flight/F-B' of microbatch 0 (needed from schedule item 1 to 3) and base "
     "'step/in_flight/F-B' of microbatch 1 (needed from schedule item 2 to 5) share bytes of base "
     "'in_flight'"},
};

INSTANTIATE_TEST_SUITE_P(Bases, InFlightRefuses, ::testing::ValuesIn(kBases), caseName);
INSTANTIATE_TEST_SUITE_P(Uses, InFlightRefuses, ::testing::ValuesIn(kUses), caseName);

class TransfersRefuse : public ::testing::TestWithParam<Damage> {};

TEST_P(TransfersRefuse, WithItsMessage) {
  Executable executable = sampleTransfers();
  GetParam().change(executable);
  EXPECT_EQ(verify(executable).message(), GetParam().message);
}

/// Schedule items: 0 prepare, 1 F0, 2 send0, 3 F1, 4 receive0, 5 send_wait0, 6 send1, 7 receive_wait0,
/// 8 receive1, 9 B0, 10 send_wait1, 11 receive_wait1, 12 B1.
const Damage kTransfers[] = {
    {"OverwrittenWhileItIsSent", [](Executable &e) { e.memory.bases[kFlightReceived].offsets[0] = 0; },
     "program 'step': base 'step/in_flight/F-F.send_wait' of microbatch 0 (needed from schedule item 1 to 5) "
     "and base 'step/in_flight/B.receive-B' of microbatch 0 (needed from schedule item 4 to 9) share bytes "
     "of "
     "base 'in_flight'"},
    {"ReadWhileAnotherTransferIsWaitedFor",
     [](Executable &e) { std::swap(step(e).schedule[10], step(e).schedule[12]); },
     "program 'step', command 6 (sample), schedule item 10: touches base 'step/in_flight/B.receive-B' of "
     "microbatch 1, which is being received: no receive_wait came before"},
    {"ReadBeforeTheWait", [](Executable &e) { std::swap(step(e).schedule[7], step(e).schedule[9]); },
     "program 'step', command 6 (sample), schedule item 7: touches base 'step/in_flight/B.receive-B' of "
     "microbatch 0, which is being received: no receive_wait came before"},
    {"SentFromScratch", [](Executable &e) { step(e).arguments[5] = {kFlightScratch, 0}; },
     "program 'step', command 2 (sample): kernel send begins a transfer in base 'scratch' of kind scratch, "
     "which does not live until the transfer is over"},
    {"ReceivedIntoScratch", [](Executable &e) { step(e).arguments[6] = {kFlightScratch, 0}; },
     "program 'step', command 4 (sample): kernel receive begins a transfer in base 'scratch' of kind "
     "scratch, "
     "which does not live until the transfer is over"},
};
INSTANTIATE_TEST_SUITE_P(Transfers, TransfersRefuse, ::testing::ValuesIn(kTransfers), caseName);

TEST(InFlight, NothingWritesWhatIsBeingSent) {
  Executable executable = sampleTransfers();
  Program &program = step(executable);
  program.arguments[9] = {kFlightKept, 0};                               // B writes what is sent,
  executable.memory.bases[kFlightReceived].offsets[1] = 128;             // which is alone in its place,
  std::swap(program.schedule[9], program.schedule[8]);                   // and for the first microbatch
  program.schedule.erase(program.schedule.begin() + 5);                  // not over: its wait comes
  program.schedule.insert(program.schedule.begin() + 9, {kSendWait, 0}); // behind B
  EXPECT_EQ(
      verify(executable).message(),
      "program 'step', command 6 (sample), schedule item 7: writes base 'step/in_flight/F-F.send_wait' of "
      "microbatch 0, which is being sent: no send_wait came before");
}

TEST(InFlight, WhatNobodyWaitsForIsNeededToTheEnd) {
  Executable executable = sampleTransfers();
  Program &program = step(executable);
  program.actions[kSendWait].commandCount = 0; // the waits are gone
  program.commands.erase(program.commands.begin() + 3);
  for (uint32_t action = kReceive; action < program.actions.size(); ++action)
    --program.actions[action].firstCommand;
  EXPECT_EQ(
      verify(executable).message(),
      "program 'step': base 'step/in_flight/F-F.send_wait' of microbatch 0 (needed from schedule item 1 to "
      "13) and base 'step/in_flight/B.receive-B' of microbatch 1 (needed from schedule item 8 to 12) share "
      "bytes of base 'in_flight'");
}

} // namespace
} // namespace weft::testing
