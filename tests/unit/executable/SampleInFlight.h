//===- SampleInFlight.h - Small executables with values in flight ---------===//
//
// Three microbatches, of which two are in flight at once: F doubles x and keeps it, B adds what F kept to a
// sum. The third microbatch's value lies where the first one's was. A second sample sends what F kept to a
// peer, and has B add what it receives instead. The kernels are those of tests/unit/device/TestKernels.h; the
// transfers are for the verifier alone.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEINFLIGHT_H
#define WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEINFLIGHT_H

#include "runtime/executable/Executable.h"

namespace weft::testing {

enum InFlightBase : uint32_t {
  kFlightConstants,
  kFlightInputs,
  kFlightStep,
  kFlightRegion,
  kFlightKept,
  kFlightReceived,
  kFlightScratch
};

inline Executable sampleInFlight() {
  TensorType four{DType::F32, {4}};
  Executable executable;
  executable.weftVersion = "0.1.0";
  executable.target = {"test"};
  executable.memory.bases = {{"constants", BaseKind::Constants, 1, 64, std::string(64, '\0')},
                             {"inputs", BaseKind::Inputs, 3, 64},
                             {"step", BaseKind::Step, 1, 64},
                             {"in_flight", BaseKind::Slots, 1, 128},
                             {"step/in_flight/F-B", BaseKind::Slots, 3, 64, "", kFlightRegion, {0, 64, 0}}};
  executable.memory.rows = {{"constants", "all", 64},
                            {"inputs", "x", 192},
                            {"other", "sum", 64},
                            {"activations", "in flight", 128}};
  executable.kernels = {{{"add", {four, four}, {four}, {}}, 0}};
  executable.locations = {"sample"};
  Program step;
  step.name = "step";
  step.microbatches = 3;
  step.inputs = {{"x", four, {kFlightInputs, 0}, true}};
  step.outputs = {{"sum", four, {kFlightStep, 0}}};
  step.arguments = {{kFlightConstants, 0}, {kFlightStep, 0},                      // 0: sum = 0
                    {kFlightInputs, 0},    {kFlightInputs, 0}, {kFlightKept, 0},  // 1: kept = x + x
                    {kFlightStep, 0},      {kFlightKept, 0},   {kFlightStep, 0}}; // 2: sum += kept
  step.commands = {{CommandKind::Copy, 1, 1, kNone, 0, 0, {}, 16},
                   {CommandKind::Launch, 2, 1, 0, 2, 0, {}, 0},
                   {CommandKind::Launch, 2, 1, 0, 5, 0, {}, 0}};
  step.actions = {{"prepare", false, 0, 1}, {"F", true, 1, 1}, {"B", true, 2, 1}};
  step.schedule = {{0, kNone}, {1, 0}, {1, 1}, {2, 0}, {1, 2}, {2, 1}, {2, 2}};
  executable.programs = {step};
  return executable;
}

enum TransferAction : uint32_t { kPrepare, kForward, kSend, kSendWait, kReceive, kReceiveWait, kBackward };

/// In one region of three places: the first microbatch's value is being sent while the second's is made and
/// the first's answer is received.
inline Executable sampleTransfers() {
  TensorType four{DType::F32, {4}};
  Executable executable = sampleInFlight();
  executable.mesh.axes = {{"p0", 2}};
  executable.mesh.roles = {{"pipeline", {0}}};
  auto &bases = executable.memory.bases;
  bases[kFlightInputs].slotCount = 2;
  bases[kFlightRegion].slotBytes = 192;
  bases[kFlightKept] = {"step/in_flight/F-F.send_wait", BaseKind::Slots, 2, 64, "", kFlightRegion, {0, 64}};
  bases.push_back({"step/in_flight/B.receive-B", BaseKind::Slots, 2, 64, "", kFlightRegion, {128, 0}});
  bases.push_back({"scratch", BaseKind::Scratch, 1, 64});
  executable.memory.rows = {{"constants", "all", 64},
                            {"inputs", "x", 128},
                            {"other", "sum", 64},
                            {"activations", "in flight", 192},
                            {"activations", "scratch", 64}};
  auto toPeer = [&](const char *name, std::vector<TensorType> operands, std::vector<TensorType> results) {
    KernelCall call{name, std::move(operands), std::move(results), {}};
    call.setIntegers("axes", {0});
    call.setInteger("peer", 1);
    executable.kernels.push_back({call, 0});
  };
  toPeer("send", {four}, {});
  toPeer("send_wait", {}, {});
  toPeer("receive", {}, {four});
  toPeer("receive_wait", {}, {});
  Program &step = executable.programs[0];
  step.microbatches = 2;
  step.arguments = {{kFlightConstants, 0}, {kFlightStep, 0},                        // 0: sum = 0
                    {kFlightInputs, 0},    {kFlightInputs, 0},   {kFlightKept, 0},  // 1: kept = x + x
                    {kFlightKept, 0},                                               // 2: send kept
                    {kFlightReceived, 0},                                           // 4: receive
                    {kFlightStep, 0},      {kFlightReceived, 0}, {kFlightStep, 0}}; // 6: sum += received
  step.commands = {
      {CommandKind::Copy, 1, 1, kNone, 0, 0, {}, 16}, {CommandKind::Launch, 2, 1, 0, 2, 0, {}, 0},
      {CommandKind::Launch, 1, 0, 1, 5, 0, {}, 0},    {CommandKind::Launch, 0, 0, 2, 6, 0, {}, 0},
      {CommandKind::Launch, 0, 1, 3, 6, 0, {}, 0},    {CommandKind::Launch, 0, 0, 4, 7, 0, {}, 0},
      {CommandKind::Launch, 2, 1, 0, 7, 0, {}, 0}};
  step.actions = {{"prepare", false, 0, 1},  {"F", true, 1, 1},
                  {"F.send", true, 2, 1},    {"F.send_wait", true, 3, 1},
                  {"B.receive", true, 4, 1}, {"B.receive_wait", true, 5, 1},
                  {"B", true, 6, 1}};
  step.schedule = {{kPrepare, kNone}, {kForward, 0},     {kSend, 0},        {kForward, 1}, {kReceive, 0},
                   {kSendWait, 0},    {kSend, 1},        {kReceiveWait, 0}, {kReceive, 1}, {kBackward, 0},
                   {kSendWait, 1},    {kReceiveWait, 1}, {kBackward, 1}};
  return executable;
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_EXECUTABLE_SAMPLEINFLIGHT_H
