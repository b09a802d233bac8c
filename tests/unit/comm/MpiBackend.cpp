//===- MpiBackend.cpp - Tests whose ranks are processes -------------------===//
//
// The harness itself uses MPI as a program does that trusts it, and waits where it must. WEFT_TEST_CHUNK sets
// the chunk size, so that the whole suite can run with messages in pieces. The first process reports; the
// others only what fails.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/comm/MpiBackend.h"

#include "runtime/comm/mpi/MpiGroup.h"

#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

namespace weft::testing {

MpiBackend &mpiBackend() {
  static MpiBackend backend;
  return backend;
}

/// Asleep: processes outnumber cores.
static void finish(MPI_Request request) {
  for (int done = 0; done == 0; std::this_thread::sleep_for(std::chrono::microseconds(200)))
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

void meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  finish(request);
}

static void broadcast(void *data, size_t bytes, size_t root) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, static_cast<int>(root), MPI_COMM_WORLD, &request);
  finish(request);
}

int64_t MpiBackend::mostRanks() const {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void MpiBackend::run(int ranks, const std::function<void(Communicator &)> &body) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static std::map<int, MPI_Comm> formed; // of the first N processes
  if (formed.count(ranks) == 0) {
    meet();
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &formed[ranks]);
  }
  if (rank < ranks) {
    absl::StatusOr<std::shared_ptr<MpiGroup>> group = MpiGroup::create(formed[ranks], options);
    ASSERT_EQ(group.status(), absl::OkStatus());
    absl::StatusOr<std::unique_ptr<MpiCommunicator>> communicator = MpiCommunicator::create(*group);
    ASSERT_EQ(communicator.status(), absl::OkStatus());
    body(**communicator);
  }
  meet();
}

void MpiBackend::collect(std::vector<std::string> &texts) {
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    uint64_t length = texts[rank].size();
    broadcast(&length, sizeof length, rank);
    texts[rank].resize(length);
    broadcast(texts[rank].data(), length, rank);
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
  weft::testing::meet();
  MPI_Finalize();
  return failed;
}
