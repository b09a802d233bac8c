//===- RankActivity.cpp - What a rank is doing, and how long it may wait --===//
//
// The texts of every report of a lost rank.
//
//===----------------------------------------------------------------------===//
#include "runtime/comm/RankActivity.h"

#include "runtime/comm/CallText.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cstring>

namespace weft {

void RankActivity::enter(Phase phase, int64_t ofStep) {
  currentPhase = phase;
  step = ofStep;
}

void RankActivity::begin(const CollectiveCall &begun, uint64_t itsNumber, std::span<const int> itsMembers,
                         size_t ofRanks) {
  call = begun;
  detailLength = std::min(begun.detail.size(), detail.size());
  std::memcpy(detail.data(), begun.detail.data(), detailLength);
  call.detail = {};
  number = itsNumber;
  members = itsMembers;
  ranks = ofRanks;
  inCall = true;
  since = Clock::now();
}

void RankActivity::end() {
  inCall = false;
  since = Clock::now();
}

double RankActivity::seconds(Clock::time_point now) const {
  return std::chrono::duration<double>(now - since).count();
}

std::string RankActivity::describePhase() const {
  if (currentPhase == Phase::Start || currentPhase == Phase::End)
    return currentPhase == Phase::Start ? "start" : "the end of the job";
  return absl::StrCat(currentPhase == Phase::Step ? "step " : "save of step ", step);
}

std::string RankActivity::describeCall() const {
  CollectiveCall named = call;
  named.detail = std::string_view(detail.data(), detailLength);
  return weft::describeCall(named, number, members, ranks);
}

std::string RankActivity::describe(Clock::time_point now) const {
  const std::string time = absl::StrFormat("for %.1f s", seconds(now));
  if (inCall)
    return absl::StrCat(describePhase(), ", in ", describeCall(), " ", time);
  return absl::StrCat(describePhase(), ", outside of collectives ", time,
                      number == 0 ? ", before its first" : absl::StrCat(", after ", describeCall()));
}

std::string_view limitKey(Phase phase) {
  return phase == Phase::Start  ? "launch.timeout.start"
         : phase == Phase::Step ? "launch.timeout.step"
                                : "launch.timeout.save";
}

std::string describeAbsence(const RankActivity &waiting, double seconds, bool isMember,
                            std::string_view known) {
  return absl::StrCat(isMember ? "has not come to " : "holds up ", waiting.describeCall(),
                      absl::StrFormat(" for %.1f s (", seconds), std::string(limitKey(waiting.phase())),
                      "); ", std::string(known));
}

absl::Status lossReport(const std::vector<LostRank> &lost, int own, const RankActivity &activity) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < std::min(lost.size(), most); ++i)
    absl::StrAppend(&text, i == 0 ? "" : "; ",
                    lost[i].rank == own ? std::string("taken for lost by the others, since this rank ")
                                        : absl::StrCat("lost rank ", lost[i].rank, ", which "),
                    lost[i].reason);
  if (lost.size() > most)
    absl::StrAppend(&text, "; and ", lost.size() - most, " more");
  absl::StrAppend(&text, ". Rank ", own, " was in ", activity.describe(),
                  ". Start the job again, on as many ranks or fewer: it goes on from its last checkpoint");
  return withExitCode(absl::UnavailableError(text), ExitCode::PeerLost);
}

} // namespace weft
