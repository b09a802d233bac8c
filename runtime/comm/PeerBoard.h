//===- PeerBoard.h - What a rank knows of the others ----------------------===//
//
// The thinking part of a peer watch, without a socket: what this rank is doing, who is lost, has given up or
// left, who answered a question with what; and from that, whether a wait can go on. Messages go in by hear()
// and out by takeMessages(); news are told once, so that flooding ends. Thread safe.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_PEERBOARD_H
#define WEFT_RUNTIME_COMM_PEERBOARD_H

#include "runtime/comm/PeerMessage.h"
#include "runtime/comm/SocketWatch.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weft {

class PeerBoard {
public:
  using Clock = RankActivity::Clock;

  /// `wake` is called, without a lock held, when there are messages to take, or to hear before someone is
  /// judged.
  PeerBoard(int rank, int ranks, std::function<void()> wake)
      : own(rank), ranks(ranks), wake(std::move(wake)) {}

  // Of the rank's own thread; see PeerWatch.
  void setLimits(const WaitLimits &newLimits);
  void enter(Phase phase, int64_t step);
  void begin(const CollectiveCall &call, uint64_t number, std::span<const int> members);
  void end();
  absl::Status check(const PeerWait &wait);
  void giveUp(const absl::Status &cause);
  /// tellReported(), then waits until haveAllReported(), `seconds` at most.
  void awaitReports(double seconds);

  // Of the watch's thread.
  /// A message of a link to `neighbor`. True for news that go on to all other links.
  bool hear(const PeerMessage &message, int neighbor);
  /// The link to a rank has ended, or never came to be. Nothing new when the rank has said that it goes.
  void lose(int rank, std::string reason);
  /// This rank goes.
  void leave();
  /// What is to be sent on all links. Every message that had come at `allHeardUntil` has gone through hear():
  /// nobody is taken for silent whose answer lies unread because this process did not run.
  std::vector<PeerMessage> takeMessages(Clock::time_point allHeardUntil);
  PeerMessage heartbeat() const;
  bool hasFailed() const;
  absl::Status failure() const;
  /// The failure, when the rank's own thread has not noticed it or not ended in time. Once.
  std::optional<absl::Status> unattended(const SocketWatch::Patience &patience);
  /// This rank has reported why the job failed.
  void tellReported();
  /// Whether every rank has, has left or is lost.
  bool haveAllReported() const;

private:
  struct Answer {
    bool isInCall = false;
    std::string text;
    int teller = 0;
    double age = 0; ///< seconds, of what `teller` knew of a silent rank
  };
  struct Known { ///< of a neighbor, by its heartbeats
    std::string text;
    Clock::time_point at;
  };

  using Kind = PeerMessage::Kind;

  bool noteLost(int rank, std::string reason);
  bool noteGaveUp(const PeerMessage &message);
  bool noteAnswer(const PeerMessage &message);
  void settle(int rank);
  void fail();
  void ask();
  void startAnswering();
  void answer();
  PeerMessage activityMessage(Kind kind) const;
  absl::Status failureLocked() const;
  void loseThoseWhoLeft(const std::vector<int> &missing);
  void judge(double waited, const std::vector<int> &missing);
  std::string describeAbsent(int rank) const;

  const int own, ranks;
  const std::function<void()> wake;
  mutable std::mutex mutex;
  WaitLimits limits;
  RankActivity activity;
  std::vector<PeerMessage> messages;        ///< to be sent
  std::set<std::pair<Kind, uint32_t>> told; ///< news of this kind about this rank
  std::vector<LostRank> lost;
  absl::Status rankGaveUp; ///< as this rank reports it
  std::map<int, Clock::time_point> left;
  std::set<int> settled; ///< ranks that are lost, have left or have reported
  std::condition_variable settles;
  bool isFailed = false, isAttended = false, isReported = false;
  Clock::time_point failedAt, attendedAt;
  std::optional<Clock::time_point> askedAt; ///< the latest question, whoever asked it
  Clock::time_point listenedAt;             ///< all that had come by then is heard
  uint64_t answersGiven = 0;
  std::map<int, Answer> answers; ///< in the ranks' own words, to the latest question
  std::map<int, Answer> hearsay; ///< what neighbors tell of those who are silent
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> latestAnswer; ///< by rank and teller
  std::map<int, Known> neighbors;
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_PEERBOARD_H
