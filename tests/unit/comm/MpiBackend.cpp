//===- MpiBackend.cpp - Tests whose ranks are processes -------------------===//
//
// The harness itself uses MPI as a program does that trusts it, and waits where it must. WEFT_TEST_CHUNK sets
// the chunk size, so that the whole suite can run with messages in pieces. The first process reports; the
// others only what fails.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/comm/MpiBackend.h"

#include "runtime/comm/mpi/MpiGroup.h"

#include <cstdlib>

namespace weft::testing {

MpiBackend &mpiBackend() {
  static MpiBackend backend;
  return backend;
}

int64_t MpiBackend::mostRanks() const {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void MpiBackend::run(int ranks, const std::function<void(Communicator &)> &body) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &some);
  if (some != MPI_COMM_NULL) {
    absl::StatusOr<std::shared_ptr<MpiGroup>> group = MpiGroup::create(some, options);
    ASSERT_EQ(group.status(), absl::OkStatus());
    absl::StatusOr<std::unique_ptr<MpiCommunicator>> communicator = MpiCommunicator::create(*group);
    ASSERT_EQ(communicator.status(), absl::OkStatus());
    body(**communicator);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void MpiBackend::collect(std::vector<std::string> &texts) {
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    uint64_t length = texts[rank].size();
    MPI_Bcast(&length, 1, MPI_UINT64_T, static_cast<int>(rank), MPI_COMM_WORLD);
    texts[rank].resize(length);
    MPI_Bcast(texts[rank].data(), static_cast<int>(length), MPI_BYTE, static_cast<int>(rank), MPI_COMM_WORLD);
  }
}

} // namespace weft::testing

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (absl::Status status = weft::startMpi(); !status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return 1;
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0)
    GTEST_FLAG_SET(brief, true);
  weft::testing::MpiBackend &backend = weft::testing::mpiBackend();
  if (const char *chunk = std::getenv("WEFT_TEST_CHUNK"))
    backend.options.chunkBytes = std::atoll(chunk);
  weft::testing::rankBackend() = &backend;
  const int failed = RUN_ALL_TESTS();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
