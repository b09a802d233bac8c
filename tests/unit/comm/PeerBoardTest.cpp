// Who is linked to whom, what is sent, and how news spread: over thousands of ranks, without a socket.
#include "runtime/comm/PeerBoard.h"
#include "runtime/comm/PeerTopology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <thread>

namespace weft {
namespace {

using ::testing::HasSubstr;

/// Hops from `start` to the farthest rank that is reached without `gone`; -1 when one is not reached.
int farthest(int ranks, int start, const std::set<int> &gone) {
  std::vector<int> hops(static_cast<size_t>(ranks), -1);
  std::deque<int> queue = {start};
  hops[static_cast<size_t>(start)] = 0;
  int reached = 1, most = 0;
  while (!queue.empty()) {
    const int rank = queue.front();
    queue.pop_front();
    for (int next : linkedRanks(rank, ranks)) {
      if (gone.contains(next) || hops[static_cast<size_t>(next)] >= 0)
        continue;
      most = hops[static_cast<size_t>(next)] = hops[static_cast<size_t>(rank)] + 1;
      ++reached;
      queue.push_back(next);
    }
  }
  return reached + static_cast<int>(gone.size()) == ranks ? most : -1;
}

TEST(PeerTopology, FewLinksAndFewHops) {
  for (auto [ranks, links, hops] : std::vector<std::array<int, 3>>{
           {1, 0, 0}, {2, 1, 1}, {3, 2, 1}, {4, 2, 2}, {16, 3, 5}, {4096, 8, 16}}) {
    EXPECT_EQ(linkedRanks(0, ranks).size(), static_cast<size_t>(links)) << ranks;
    EXPECT_LE(farthest(ranks, 0, {}), hops) << ranks;
    for (int rank = 0; rank < ranks; rank += 37)
      for (int other : linkedRanks(rank, ranks))
        EXPECT_THAT(linkedRanks(other, ranks), ::testing::Contains(rank));
  }
}

TEST(PeerTopology, SurvivorsOfADeadHostAreStillConnected) {
  for (int first : {1, 500, 4000}) {
    std::set<int> host;
    for (int rank = first; rank < first + 64; ++rank)
      host.insert(rank);
    EXPECT_GE(farthest(4096, 0, host), 0);
  }
}

TEST(PeerMessage, ComesOutAsItWentIn) {
  std::string stream, text(3000, 'x');
  const PeerMessage first{PeerMessage::Kind::Lost, 3, 1, {1, ~0ull, 3}, "died"};
  const PeerMessage second{PeerMessage::Kind::Answer, 0, 2, {}, text};
  append(stream, first);
  append(stream, second);
  EXPECT_EQ(**takeMessage(stream, 4), first);
  absl::StatusOr<std::optional<PeerMessage>> cut = takeMessage(stream, 4);
  EXPECT_EQ((*cut)->text, text.substr(0, PeerMessage::kMostText));
  EXPECT_FALSE(takeMessage(stream, 4)->has_value());
}

TEST(PeerMessage, WhatIsNotWholeStays) {
  std::string whole;
  append(whole, {PeerMessage::Kind::GaveUp, 1, 1, {}, "a message"});
  for (size_t length = 0; length < whole.size(); ++length) {
    std::string part = whole.substr(0, length);
    ASSERT_TRUE(takeMessage(part, 2).ok());
    EXPECT_FALSE(takeMessage(part, 2)->has_value());
    EXPECT_EQ(part.size(), length);
  }
}

TEST(PeerMessage, BytesThatAreNoMessageAreRefused) {
  std::mt19937_64 random(1);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string bytes(64, '\0');
    for (char &byte : bytes)
      byte = static_cast<char>(random());
    refused += !takeMessage(bytes, 4).ok();
  }
  EXPECT_EQ(refused, 1000);
  std::string outside;
  append(outside, {PeerMessage::Kind::Lost, 4, 0, {}, ""});
  EXPECT_EQ(takeMessage(outside, 4).status().message(), "not a message between the 4 ranks of a job");
}

/// Boards whose links are function calls.
class Network {
public:
  explicit Network(int ranks) {
    for (int rank = 0; rank < ranks; ++rank)
      boards.push_back(std::make_unique<PeerBoard>(rank, ranks, [] {}));
  }
  /// What ranks say that they have heard all of, when messages are collected.
  PeerBoard::Clock::time_point allHeardUntil = PeerBoard::Clock::now();
  PeerBoard &operator[](int rank) { return *boards[static_cast<size_t>(rank)]; }
  /// Delivers until nothing is under way; ranks in `gone` hear and say nothing. Returns how many messages.
  int64_t deliver(const std::set<int> &gone = {}) {
    const int ranks = static_cast<int>(boards.size());
    for (int rank = 0; rank < ranks; ++rank)
      collect(rank, gone);
    int64_t count = 0;
    while (!queue.empty()) {
      auto [from, to, message] = std::move(queue.front());
      queue.pop_front();
      ++count;
      if (boards[static_cast<size_t>(to)]->hear(message, from))
        send(to, message, gone, from);
      collect(to, gone);
    }
    return count;
  }

private:
  struct Sent {
    int from, to;
    PeerMessage message;
  };
  void send(int from, const PeerMessage &message, const std::set<int> &gone, int but = -1) {
    for (int to : linkedRanks(from, static_cast<int>(boards.size())))
      if (to != but && !gone.contains(to))
        queue.push_back({from, to, message});
  }
  void collect(int rank, const std::set<int> &gone) {
    if (gone.contains(rank))
      return;
    for (const PeerMessage &message : boards[static_cast<size_t>(rank)]->takeMessages(allHeardUntil))
      send(rank, message, gone);
  }

  std::vector<std::unique_ptr<PeerBoard>> boards;
  std::deque<Sent> queue;
};

TEST(PeerBoard, NewsOfADeathReachEveryRankOnceOverEachLink) {
  constexpr int ranks = 4096, dead = 77;
  Network network(ranks);
  for (int rank : linkedRanks(dead, ranks))
    network[rank].lose(dead, "died");
  EXPECT_LE(network.deliver({dead}), ranks * 8);
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != dead)
      ASSERT_THAT(std::string(network[rank].failure().message()),
                  HasSubstr("lost rank 77, which died. Rank "));
}

class Waits final : public PeerWait {
public:
  std::vector<int> missing() const override { return {5}; }
};

TEST(PeerBoard, ManyWhoseWaitsEndAtOnceAskOnce) {
  constexpr int ranks = 256;
  Network network(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    network[rank].setLimits({0, 0, 0});
    if (rank != 5)
      network[rank].begin({}, 1, {});
  }
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != 5)
      EXPECT_EQ(network[rank].check(Waits()), absl::OkStatus());
  // Each rank's answer goes over each link once, and each of the questions no farther than to the neighbors.
  EXPECT_LE(network.deliver({5}), ranks * 6 * (ranks + 1));
}

TEST(PeerBoard, NobodyIsLostWhoseAnswerMayLieUnread) {
  using namespace std::chrono_literals;
  Network network(6);
  for (int rank = 0; rank < 6; ++rank) {
    network[rank].setLimits({0, 0, 0});
    network[rank].begin({}, 1, {});
  }
  EXPECT_EQ(network[0].check(Waits()), absl::OkStatus()); // asks
  network.deliver({0, 5});
  std::this_thread::sleep_for(3200ms); // the process did not run: the answers lie in its sockets
  EXPECT_EQ(network[0].check(Waits()), absl::OkStatus());
  network.deliver({5});
  network.allHeardUntil = PeerBoard::Clock::now();
  network.deliver({5});
  EXPECT_THAT(std::string(network[0].check(Waits()).message()),
              HasSubstr("lost rank 5, which has not come to"));
  EXPECT_THAT(std::string(network[0].check(Waits()).message()), ::testing::Not(HasSubstr("; lost rank")));
}

TEST(PeerBoard, ARankThatSaysItGoesIsNotLost) {
  Network network(3);
  network[2].leave();
  network.deliver();
  network[0].lose(2, "died");
  EXPECT_FALSE(network[0].hasFailed());
  network[1].giveUp(absl::InternalError("a fault"));
  network.deliver();
  network[0].lose(1, "died");
  EXPECT_EQ(network[0].failure().message(), "rank 1 gave up: a fault");
}

TEST(PeerBoard, AllKnowWhenAllHaveReported) {
  constexpr int ranks = 128, dead = 77, left = 100;
  Network network(ranks);
  for (int rank : linkedRanks(dead, ranks))
    network[rank].lose(dead, "died");
  network[left].leave();
  for (int rank = 0; rank < ranks - 1; ++rank)
    if (rank != dead && rank != left)
      network[rank].tellReported();
  network.deliver({dead});
  for (int rank = 0; rank < ranks; ++rank)
    ASSERT_FALSE(network[rank].haveAllReported()) << rank;
  network[ranks - 1].tellReported();
  EXPECT_LE(network.deliver({dead}), ranks * 8);
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != dead)
      ASSERT_TRUE(network[rank].haveAllReported()) << rank;
}

TEST(PeerBoard, ALossThatCameFirstIsWhatIsTold) {
  Network network(3);
  network[0].lose(2, "died");
  network.deliver({2});
  network[1].giveUp(network[1].failure());
  network.deliver({2});
  EXPECT_THAT(std::string(network[0].failure().message()),
              HasSubstr("lost rank 2, which died. Rank 0 was in start"));
}

} // namespace
} // namespace weft
