// Processes that watch each other: who died, froze, is late, left or gave up is known to all, by name, in
// time.
#include "tests/unit/comm/ProcessHarness.h"

#include "runtime/comm/Communicator.h"
#include "runtime/support/ExitCode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

#include <numeric>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace weft::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::vector<int> allOf(int ranks) {
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

constexpr const char *kCall = "all_reduce #7 of 4096 bytes f32 (sum, layers.0)";

TEST(SocketWatch, ADeadProcessIsNamedByAllWithinHalfASecond) {
  constexpr int ranks = 12; // more than see it themselves
  const std::vector<int> all = allOf(ranks);
  for (int victim : {0, 5}) {
    Processes processes(ranks);
    processes.start([&](int rank, SocketWatch &watch, Told &told) {
      watch.enter(Phase::Step, 3);
      if (rank == victim) {
        told.stage = 3;
        ::pause();
      }
      waitInVain(watch, told, 7, all, {victim});
    });
    processes.awaitStage(3);
    const double killed = processes.signal(victim, SIGKILL);
    for (int rank = 0; rank < ranks; ++rank) {
      processes.join(rank);
      if (rank == victim)
        continue;
      EXPECT_THAT(
          processes[rank].words(),
          MatchesRegex("lost rank " + std::to_string(victim) +
                       ", which died: its connection to rank [0-9]+ ended without a goodbye. "
                       "Rank " +
                       std::to_string(rank) +
                       " was in step 3, in all_reduce #7 of 4096 bytes f32 \\(sum, layers.0\\) for "
                       "[0-9.]+ s. Start the job again, on as many ranks or fewer: it goes on from its "
                       "last checkpoint"));
      EXPECT_LT(processes[rank].at - killed, 0.5) << "rank " << rank;
    }
  }
}

TEST(SocketWatch, AFrozenProcessIsNamedWhenTheLimitIsOver) {
  constexpr int ranks = 4, victim = 2;
  const std::vector<int> all = allOf(ranks);
  Processes processes(ranks);
  processes.start([&](int rank, SocketWatch &watch, Told &told) {
    watch.enter(Phase::Save, 4);
    watch.setLimits({60, 60, 4});
    if (rank == victim) {
      told.stage = 3;
      std::this_thread::sleep_for(60s);
    }
    waitInVain(watch, told, 7, all, {victim});
  });
  processes.awaitStage(3);
  std::this_thread::sleep_for(1200ms); // a heartbeat says what it does
  const double frozen = processes.signal(victim, SIGSTOP);
  for (int rank : {0, 1, 3}) {
    processes.join(rank);
    EXPECT_THAT(processes[rank].words(),
                AllOf(HasSubstr("lost rank 2, which has not come to " + std::string(kCall) + " for "),
                      HasSubstr(" s (launch.timeout.save); it does not answer: frozen, or cut off. "),
                      HasSubstr(" heard that it was in save of step 4, outside of collectives for ")));
    EXPECT_LT(processes[rank].at - frozen, 4 + 5);
  }
}

TEST(SocketWatch, ARankThatIsLateIsToldFromOneThatIsFrozen) {
  const std::vector<int> pair = {0, 2};
  Processes processes(3);
  processes.start([&](int rank, SocketWatch &watch, Told &told) {
    watch.enter(Phase::Step, 9);
    watch.setLimits({60, 1, 60});
    if (rank == 2) { // computes, and has been in a call before
      watch.begin({}, 6, allOf(3));
      watch.end();
      std::this_thread::sleep_for(8s);
      return told.say(std::string(watch.check(Missing({})).message()));
    }
    // Rank 1 waits for rank 0, which waits for rank 2.
    waitInVain(watch, told, 7, rank == 0 ? pair : allOf(3), {rank == 0 ? 2 : 0});
  });
  for (int rank = 0; rank < 3; ++rank)
    processes.join(rank);
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_THAT(
        processes[rank].words(),
        AllOf(HasSubstr(rank == 2 ? "taken for lost by the others, since this rank " : "lost rank 2, which "),
              HasSubstr("(launch.timeout.step); it is in step 9, outside of collectives for "),
              HasSubstr(", after barrier #6")));
  EXPECT_THAT(processes[0].words(),
              HasSubstr("Rank 0 was in step 9, in all_reduce #7 of 4096 bytes f32 (sum, layers.0) "
                        "over ranks 0 2 for "));
}

TEST(SocketWatch, AGoodbyeIsNoLossUnlessTheRankIsWaitedFor) {
  Processes processes(4);
  processes.start([&](int rank, SocketWatch &watch, Told &told) {
    if (rank == 3)
      return;
    std::this_thread::sleep_for(500ms);
    told.say(watch.check(Missing({})).ok() ? "goes on" : "stops");
    if (rank == 0)
      waitInVain(watch, told, 7, allOf(4), {3});
  });
  for (int rank = 0; rank < 4; ++rank)
    processes.join(rank);
  EXPECT_EQ(processes[1].words(), "goes on");
  EXPECT_THAT(processes[0].words(),
              HasSubstr("lost rank 3, which has left the job before " + std::string(kCall)));
}

TEST(SocketWatch, ACauseReachesAllWithItsCode) {
  Processes processes(3);
  processes.start([&](int rank, SocketWatch &watch, Told &told) {
    if (rank == 1) {
      watch.giveUp(withExitCode(absl::DataLossError("a file is damaged"), ExitCode::Data));
      std::this_thread::sleep_for(200ms);
      return;
    }
    absl::Status status;
    while ((status = watch.check(Missing({1}))).ok())
      std::this_thread::sleep_for(1ms);
    told.say(absl::StrCat(status.code() == absl::StatusCode::kDataLoss ? "" : "not ", "data loss, exit code ",
                          static_cast<int>(exitCodeOf(status)), isOfAnotherRank(status) ? "" : ", own", ": ",
                          std::string(status.message())));
  });
  for (int rank : {0, 2}) {
    processes.join(rank);
    EXPECT_EQ(processes[rank].words(), "data loss, exit code 3: rank 1 gave up: a file is damaged");
  }
}

TEST(SocketWatch, SpeaksForARankThatIsBusyWhenTheJobFails) {
  Processes processes(3);
  processes.start([&](int rank, SocketWatch &watch, Told &told) {
    watch.enter(Phase::Step, 5);
    watch.setStandIn({[&](const absl::Status &failure) { told.say(std::string(failure.message())); },
                      [](const absl::Status &) { ::_exit(7); }},
                     {0.2, 10, 10});
    told.stage = 3;
    std::this_thread::sleep_for(60s);
  });
  processes.awaitStage(3);
  const double killed = processes.signal(0, SIGKILL);
  for (int rank : {1, 2}) {
    processes.join(rank);
    EXPECT_THAT(processes[rank].words(), AllOf(HasSubstr("lost rank 0, which died: "),
                                               HasSubstr(" was in step 5, outside of collectives for ")));
    EXPECT_LT(processes[rank].at - killed, 0.7);
  }
}

TEST(SocketWatch, EndsARankThatDoesNotEndAfterAFailure) {
  Processes processes(2);
  processes.start([&](int rank, SocketWatch &watch, Told &told) {
    watch.setStandIn(
        {[&](const absl::Status &) { told.say("reported"); }, [](const absl::Status &) { ::_exit(7); }},
        {0.2, 0.5, 10});
    if (rank == 0)
      return watch.giveUp(absl::InternalError("a fault"));
    while (watch.check(Missing({0})).ok())
      std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(60s); // stuck on its way out
  });
  processes.join(0);
  processes.join(1);
  EXPECT_EQ(processes[1].words(), "reported");
  EXPECT_EQ(processes[0].words(), "");
}

TEST(SocketWatch, NoneEndsBeforeAllHaveReported) {
  constexpr int ranks = 12, victim = 4, slow = 9, busy = 2; // more than are linked to each other
  constexpr double slowSeconds = 1.5;
  const std::vector<int> all = allOf(ranks);
  Processes processes(ranks);
  processes.start([&](int rank, SocketWatch &watch, Told &told) {
    watch.setStandIn({[](const absl::Status &) {},
                      [&](const absl::Status &) {
                        told.say("ends");
                        ::_exit(7);
                      }},
                     {0.2, 10, 10});
    told.stage = 3;
    if (rank == victim || rank == busy)
      std::this_thread::sleep_for(60s);
    while (watch.check(Missing({victim})).ok())
      std::this_thread::sleep_for(1ms);
    if (rank == slow)
      std::this_thread::sleep_for(std::chrono::duration<double>(slowSeconds));
    watch.awaitReports();
    told.say("ends");
  });
  processes.awaitStage(3);
  const double killed = processes.signal(victim, SIGKILL);
  for (int rank = 0; rank < ranks; ++rank) {
    processes.join(rank);
    if (rank == victim)
      continue;
    EXPECT_EQ(processes[rank].words(), "ends");
    EXPECT_GE(processes[rank].at - killed, slowSeconds) << "rank " << rank;
    EXPECT_LT(processes[rank].at - killed, slowSeconds + 2) << "rank " << rank;
  }
}

TEST(SocketWatch, AReportThatDoesNotComeIsNotAwaitedForever) {
  Processes processes(3);
  processes.start([&](int rank, SocketWatch &watch, Told &told) {
    watch.setStandIn({}, {0.2, 10, 1});
    if (rank == 2)
      std::this_thread::sleep_for(4s); // and no stand-in: it is not lost, and says nothing
    if (rank == 0)
      watch.giveUp(absl::InternalError("a fault"));
    while (watch.check(Missing({2})).ok())
      std::this_thread::sleep_for(1ms);
    const auto begin = std::chrono::steady_clock::now();
    watch.awaitReports();
    told.say(std::chrono::steady_clock::now() - begin < (rank == 2 ? 1s : 3s) ? "in time" : "late");
  });
  for (int rank = 0; rank < 3; ++rank) {
    processes.join(rank);
    EXPECT_EQ(processes[rank].words(), "in time");
  }
}

TEST(SocketWatch, StrangersAreNotHeard) {
  Processes processes(2);
  processes.start([&](int rank, SocketWatch &watch, Told &told) {
    watch.setLimits({60, 60, 60});
    told.stage = 3;
    while (told.stage < 4 && watch.check(Missing({1 - rank})).ok())
      std::this_thread::sleep_for(1ms);
    told.say(std::string(watch.check(Missing({})).message()));
  });
  processes.awaitStage(3);
  PeerMessage forged;
  forged.kind = PeerMessage::Kind::Hello;
  forged.rank = forged.teller = 1;
  forged.values[0] = processes[0].endpoint.token + 1;
  std::string hello, chosen;
  append(hello, forged);
  forged.kind = PeerMessage::Kind::Chosen;
  append(chosen, forged);
  forged.kind = PeerMessage::Kind::Lost;
  std::string lost;
  append(lost, forged);
  for (const std::string &bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n and more than a whole header of text"),
        absl::StrCat(hello, chosen, lost), absl::StrCat(chosen, lost), std::string()}) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(processes[0].endpoint.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
    ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    std::this_thread::sleep_for(50ms);
    ::close(socket);
  }
  std::this_thread::sleep_for(50ms);
  for (int rank : {0, 1})
    processes[rank].stage = 4;
  for (int rank : {0, 1}) {
    processes.join(rank);
    EXPECT_EQ(processes[rank].words(), "");
  }
}

TEST(SocketWatch, ARankThatCannotBeReachedIsNamed) {
  auto watch = SocketWatch::open(0, 2);
  ASSERT_TRUE(watch.ok());
  std::vector<PeerEndpoint> endpoints(2, (*watch)->endpoint());
  {
    auto gone = SocketWatch::open(1, 2);
    endpoints[1] = (*gone)->endpoint();
  }
  EXPECT_THAT(std::string((*watch)->connect(endpoints, 1).message()),
              AllOf(HasSubstr("rank 0 cannot reach rank 1 on TCP port "),
                    HasSubstr("127.0.0.1: Connection refused"),
                    HasSubstr("Ranks must be able to connect to each other")));
  endpoints[1] = endpoints[0]; // where this very rank listens
  EXPECT_THAT(std::string((*watch)->connect(endpoints, 1).message()),
              HasSubstr("another program answers there"));
  auto alone = SocketWatch::open(1, 2);
  EXPECT_EQ((*alone)->connect(endpoints, 0.1).message(),
            "rank 0 has not connected to rank 1 within 0.1 s. Ranks must be able to connect to each other");
}

} // namespace
} // namespace weft::testing
