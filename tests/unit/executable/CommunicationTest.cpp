// What a program sends and what ranks keep, read from the executable: the sample's collectives, by hand.
#include "runtime/executable/Communication.h"
#include "runtime/executable/PersistentBytes.h"
#include "tests/unit/executable/SampleMeshExecutable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::testing {
namespace {

using ::testing::ElementsAre;

TEST(Communication, EachActionHasARowPerOperationAndAxes) {
  Executable executable = sampleMeshExecutable();
  EXPECT_THAT(communicationOf(executable, executable.programs[0]),
              ElementsAre(CommunicationRow{0, CollectiveOp::AllGather, {0, 1}, 1, {1, 18}},
                          CommunicationRow{0, CollectiveOp::ReduceScatter, {0, 1}, 1, {1, 18}},
                          CommunicationRow{1, CollectiveOp::AllReduce, {1}, 1, {1, 8}}));
}

TEST(Communication, AnActionCountsAsOftenAsItRuns) {
  Executable executable = sampleMeshExecutable();
  executable.programs[0].schedule = {{0, kNone}, {0, kNone}, {0, kNone}, {1, kNone}};
  Traffic traffic = trafficOf(executable, executable.programs[0]);
  EXPECT_EQ(traffic[CollectiveOp::AllGather], (Traffic::Count{3, 54}));
  EXPECT_EQ(traffic[CollectiveOp::AllReduce], (Traffic::Count{1, 8}));
  EXPECT_EQ(traffic.bytes(), 3 * (18 + 18) + 8);
}

TEST(Communication, ASendCountsWhereItIsSent) {
  Executable executable = sampleMeshExecutable();
  KernelCall send{"send", {{DType::F32, {6}}}, {}, {}}, receive{"receive", {}, {{DType::F32, {6}}}, {}};
  for (KernelCall *call : {&send, &receive}) {
    call->setIntegers("axes", {0});
    call->setInteger("peer", 1);
    executable.kernels.push_back({*call, 0});
  }
  Program program;
  program.name = "step";
  program.arguments = {{kMeshStep, 0}, {kMeshStep, 64}};
  program.commands = {{CommandKind::Launch, 1, 0, 5, 0, 0, {}, 0},
                      {CommandKind::Launch, 0, 1, 6, 1, 0, {}, 0}};
  program.actions = {{"send", true, 0, 2}};
  program.schedule = {{0, 0}, {0, 1}, {0, 2}};
  EXPECT_THAT(communicationOf(executable, program),
              ElementsAre(CommunicationRow{0, CollectiveOp::Send, {0}, 3, {1, 24}}));
  EXPECT_EQ(trafficOf(executable, program).bytes(), 72);
}

TEST(Communication, TheTableNamesPartsAndAxes) {
  Executable executable = sampleMeshExecutable();
  executable.programs[0].schedule = {{0, kNone}, {0, kNone}, {1, kNone}};
  EXPECT_EQ(
      explainCommunication({executable}, 0),
      "communication: program step, 80 bytes sent by each of 4 ranks\n"
      "  forward_backward x 2     all_gather       [d0, d1]              2 calls               36 bytes\n"
      "  forward_backward x 2     reduce_scatter   [d0, d1]              2 calls               36 bytes\n"
      "  update                   all_reduce       [d1]                  1 calls                8 bytes\n");
}

TEST(Communication, ATensorIsBroadcastWithoutSending) {
  Executable executable = sampleMeshExecutable();
  executable.kernels[0].call.name = "broadcast";
  EXPECT_EQ(communicationOf(executable, executable.programs[0]).size(), 2);
}

TEST(Communication, WhatWasCountedStandsBesideWhatWasCompiled) {
  Traffic compiled, counted;
  compiled[CollectiveOp::AllGather] = {2, 36};
  counted[CollectiveOp::AllGather] = {2, 36};
  counted[CollectiveOp::AllReduce] = {1, 8};
  EXPECT_EQ(compareTraffic(compiled, counted),
            "communication: one step, 44 bytes sent by this rank, 36 compiled\n"
            "  operation           calls            bytes   compiled calls   compiled bytes\n"
            "  all_gather              2               36                2               36\n"
            "  all_reduce              1                8                0                0");
}

TEST(PersistentBytes, SixElementsOnFourRanksAreTwoOnEachAndPadding) {
  // 6 floats over 2 x 2 ranks: parts of 2, of which two hold 1; each in 64 bytes.
  EXPECT_EQ(persistentBytesOf({sampleMeshExecutable()}), (PersistentBytes{4, 24, 0, 8, 4 * 64 - 32}));
  EXPECT_EQ(persistentBytesOf({sampleMeshExecutable()}).onRank(), 64);
}

TEST(PersistentBytes, WhatSeveralRanksHoldIsCopies) {
  Executable executable = sampleMeshExecutable();
  executable.variables[0].type.shape = {3};
  executable.variables[0].placement.dimensions = {{{1}}};
  EXPECT_EQ(persistentBytesOf({executable}), (PersistentBytes{4, 24, 24, 0, 4 * 64 - 48}));
  executable.variables[0].type.shape = {6};
  executable.variables[0].placement = {};
  EXPECT_EQ(persistentBytesOf({executable}), (PersistentBytes{4, 24, 72, 0, 4 * 64 - 96}));
}

} // namespace
} // namespace weft::testing
