//===- MpiBackend.h - Tests whose ranks are processes ---------------------===//
//
// All processes of an mpirun run the same tests, one beside the other; a test for fewer ranks runs on the
// first of them, while the others wait for its results.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_COMM_MPIBACKEND_H
#define WEFT_TESTS_UNIT_COMM_MPIBACKEND_H

#include "runtime/comm/mpi/MpiCommunicator.h"
#include "tests/unit/comm/RankHarness.h"

namespace weft::testing {

class MpiBackend final : public RankBackend {
public:
  int64_t mostRanks() const override;
  void run(int ranks, const std::function<void(Communicator &)> &body) override;
  void collect(std::vector<std::string> &texts) override;

  /// Of the communicators that run() makes.
  MpiOptions options;
};

/// Waits for all processes.
void meet();

/// The one that main() installed.
MpiBackend &mpiBackend();

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_COMM_MPIBACKEND_H
