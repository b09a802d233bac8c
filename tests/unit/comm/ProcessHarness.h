//===- ProcessHarness.h - The ranks of a test as processes ----------------===//
//
// Forks a process for each rank, with a watch linked to the others'. What a body finds out it writes into
// memory that all share, and the test looks at it when all processes have ended: a gtest assertion in a
// child would be lost.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_COMM_PROCESSHARNESS_H
#define WEFT_TESTS_UNIT_COMM_PROCESSHARNESS_H

#include "runtime/comm/SocketWatch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::testing {

using namespace std::chrono_literals;

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What a rank tells the test.
struct Told {
  PeerEndpoint endpoint;
  std::atomic<int> stage{0}; ///< 1: listens, 2: linked; further ones are the body's
  double at = 0;             ///< when it said `text`
  char text[2000] = {};

  std::string words() const { return text; }

  void say(std::string_view words) {
    at = now();
    std::memcpy(text, words.data(), std::min(words.size(), sizeof(text) - 1));
  }
};

/// Nothing has come yet from the ranks given.
class Missing final : public PeerWait {
public:
  explicit Missing(std::vector<int> ranks) : ranks(std::move(ranks)) {}
  std::vector<int> missing() const override { return ranks; }

private:
  std::vector<int> ranks;
};

class Processes {
public:
  using Body = std::function<void(int rank, SocketWatch &watch, Told &told)>;

  explicit Processes(int ranks) : count(ranks) {
    void *memory = ::mmap(nullptr, sizeof(Told) * static_cast<size_t>(ranks), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    told = static_cast<Told *>(memory);
    for (int rank = 0; rank < ranks; ++rank)
      new (told + rank) Told;
  }
  ~Processes() {
    for (pid_t process : pids)
      if (process > 0) {
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
      }
    ::munmap(told, sizeof(Told) * static_cast<size_t>(count));
  }

  /// Starts all ranks. A body ends its process by returning; its watch says goodbye then.
  void start(const Body &body) {
    for (int rank = 0; rank < count; ++rank) {
      const pid_t child = ::fork();
      if (child == 0) {
        runRank(rank, body);
        ::_exit(0);
      }
      pids.push_back(child);
    }
  }
  /// Waits until every rank (but one) has come to a stage.
  void awaitStage(int stage, int but = -1) const {
    for (int rank = 0; rank < count; ++rank)
      while (rank != but && told[rank].stage < stage)
        std::this_thread::sleep_for(1ms);
  }
  double signal(int rank, int number) const {
    ::kill(pids[static_cast<size_t>(rank)], number);
    return now();
  }
  /// Waits for the end of a rank's process.
  void join(int rank) { ::waitpid(std::exchange(pids[static_cast<size_t>(rank)], 0), nullptr, 0); }
  Told &operator[](int rank) const { return told[rank]; }

private:
  void runRank(int rank, const Body &body) {
    auto watch = SocketWatch::open(rank, count);
    if (!watch.ok())
      return told[rank].say(std::string(watch.status().message()));
    told[rank].endpoint = (*watch)->endpoint();
    told[rank].stage = 1;
    awaitStage(1);
    std::vector<PeerEndpoint> endpoints;
    for (int other = 0; other < count; ++other)
      endpoints.push_back(told[other].endpoint);
    if (absl::Status status = (*watch)->connect(endpoints, 10); !status.ok())
      return told[rank].say(std::string(status.message()));
    told[rank].stage = 2;
    awaitStage(2);
    body(rank, **watch, told[rank]);
  }

  int count;
  Told *told;
  std::vector<pid_t> pids;
};

/// Waits in call `number` until the watch has a reason not to, and tells it.
inline void waitInVain(SocketWatch &watch, Told &told, uint64_t number, std::span<const int> members,
                       const std::vector<int> &missing) {
  CollectiveCall call;
  call.operation = CollectiveOp::AllReduce;
  call.type = DType::F32;
  call.bytes = 4096;
  call.detail = "sum, layers.0";
  watch.begin(call, number, members);
  told.stage = 3;
  absl::Status status;
  while ((status = watch.check(Missing(missing))).ok())
    std::this_thread::sleep_for(1ms);
  told.say(std::string(status.message()));
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_COMM_PROCESSHARNESS_H
