//===- Communication.h - What a program sends, known before it runs -------===//
//
// Collectives are commands like any other, and a program's schedule says how often each of its actions runs.
// So the bytes that a rank sends in one run of a program follow from the executable alone, and they are what
// the communicator counts while it runs: both ask kernels/collective/Traffic.h. Every rank of one part of a
// job sends as much as any other.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_EXECUTABLE_COMMUNICATION_H
#define WEFT_RUNTIME_EXECUTABLE_COMMUNICATION_H

#include "kernels/collective/Traffic.h"
#include "runtime/executable/Executable.h"

#include <string>
#include <vector>

namespace weft {

/// The collectives, or sends, of one operation and order of additions over one set of axes, in one action of
/// a program.
struct CommunicationRow {
  uint32_t action = 0; ///< index into Program::actions
  CollectiveOp operation = CollectiveOp::AllReduce;
  std::vector<int64_t> axes; ///< of the mesh, major to minor
  int64_t runs = 0;          ///< of the action in one run of the program
  Traffic::Count once;       ///< in one run of the action
  bool isTree = false;       ///< reductions by the canonical tree

  int64_t calls() const { return runs * once.calls; }
  int64_t bytes() const { return runs * once.bytes; }
  bool operator==(const CommunicationRow &) const = default;
};

/// Whether a kernel has to do with other ranks: collectives, and messages between two (they begin, and are
/// waited for).
bool communicates(const KernelCall &call);

/// In the order in which actions first run, within an action the most bytes first. The executable must be
/// one that the compiler made or an executor runs, and the program its own.
std::vector<CommunicationRow> communicationOf(const Executable &executable, const Program &program);
/// Calls and bytes of one run of the program, by operation.
Traffic trafficOf(const Executable &executable, const Program &program);

/// The table of --explain communication, of the program of this index; one for each part of the job.
std::string explainCommunication(const std::vector<Executable> &parts, size_t program);
/// What the communicator counted in one run of the program, beside what was compiled, by operation.
std::string compareTraffic(const Traffic &compiled, const Traffic &counted);

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTABLE_COMMUNICATION_H
