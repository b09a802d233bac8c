//===- PeerBoard.cpp - What a rank knows of the others --------------------===//
//
// A question is asked once for all: whoever hears one within a second of another passes neither it nor a
// second answer on, so a job in which every rank's wait ends at once asks once. Answers go to everyone, and
// everyone can judge by them.
//
//===----------------------------------------------------------------------===//
#include "runtime/comm/PeerBoard.h"

#include "runtime/comm/CallText.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <numeric>

namespace weft {
namespace {

// Seconds.
constexpr double kQuestionIsNew = 1;      ///< another one is the same question
constexpr double kAnswersCome = 3;        ///< whoever has not answered then is silent
constexpr double kAnswersAreFresh = 6;    ///< then they are asked for again
constexpr double kNeighborIsSilent = 1.5; ///< without a heartbeat
constexpr double kGoodbyeCounts = 1;      ///< what a rank sent before it left has come by then
constexpr double kLateEnd = 8; ///< how much longer than the limit a call that all have come to may take

double secondsSince(PeerBoard::Clock::time_point start) {
  return std::chrono::duration<double>(PeerBoard::Clock::now() - start).count();
}

} // namespace

//===----------------------------------------------------------------------===//
// The rank's own thread
//===----------------------------------------------------------------------===//

void PeerBoard::setLimits(const WaitLimits &newLimits) {
  std::lock_guard lock(mutex);
  limits = newLimits;
}

void PeerBoard::enter(Phase phase, int64_t step) {
  std::lock_guard lock(mutex);
  activity.enter(phase, step);
}

void PeerBoard::begin(const CollectiveCall &call, uint64_t number, std::span<const int> members) {
  std::lock_guard lock(mutex);
  activity.begin(call, number, members, static_cast<size_t>(ranks));
}

void PeerBoard::end() {
  std::lock_guard lock(mutex);
  activity.end();
}

absl::Status PeerBoard::check(const PeerWait &wait) {
  absl::Status status;
  bool hasNews, toHear = false;
  {
    std::lock_guard lock(mutex);
    if (!isFailed && !left.empty() && activity.seconds() > kGoodbyeCounts)
      loseThoseWhoLeft(wait.missing());
    if (const double waited = activity.seconds(); !isFailed && waited >= limits.of(activity.phase())) {
      if (!askedAt || secondsSince(*askedAt) > kAnswersAreFresh)
        ask();
      else if (std::chrono::duration<double>(listenedAt - *askedAt).count() > kAnswersCome)
        judge(waited, wait.missing());
      else
        toHear = secondsSince(*askedAt) > kAnswersCome;
    }
    if (isFailed) {
      if (!isAttended)
        attendedAt = Clock::now();
      isAttended = true;
      status = failureLocked();
    }
    hasNews = !messages.empty();
  }
  if (hasNews || toHear)
    wake();
  return status;
}

void PeerBoard::giveUp(const absl::Status &cause) {
  {
    std::lock_guard lock(mutex);
    isAttended = true;
    attendedAt = Clock::now();
    if (isFailed)
      return; // for a reason that all know
    PeerMessage message;
    message.kind = Kind::GaveUp;
    message.rank = message.teller = static_cast<uint32_t>(own);
    message.values[0] = static_cast<uint64_t>(cause.ok() ? absl::StatusCode::kAborted : cause.code());
    message.values[1] = static_cast<uint64_t>(exitCodeOf(cause));
    message.text = std::string(cause.message());
    if (noteGaveUp(message))
      messages.push_back(std::move(message));
  }
  wake();
}

absl::Status PeerBoard::failureLocked() const {
  return rankGaveUp.ok() ? lossReport(lost, own, activity) : rankGaveUp;
}

/// A rank that has left cannot come to a call any more.
void PeerBoard::loseThoseWhoLeft(const std::vector<int> &missing) {
  for (int rank : missing)
    if (auto found = left.find(rank); found != left.end() && secondsSince(found->second) > kGoodbyeCounts)
      noteLost(rank, absl::StrCat("has left the job before ", activity.describeCall()));
}

void PeerBoard::ask() {
  PeerMessage question;
  question.kind = Kind::Question;
  question.rank = question.teller = static_cast<uint32_t>(own);
  messages.push_back(question);
  startAnswering();
}

void PeerBoard::startAnswering() {
  askedAt = Clock::now();
  answers.clear();
  hearsay.clear();
  answer();
}

/// Names those for whom this rank has waited too long: best whoever is silent, else whoever is outside of
/// collectives, first of those that it waits for, then of all.
void PeerBoard::judge(double waited, const std::vector<int> &missing) {
  std::vector<int> everyone(static_cast<size_t>(ranks));
  std::iota(everyone.begin(), everyone.end(), 0);
  const auto isSilent = [&](int rank) { return !answers.contains(rank); };
  const auto isBusy = [&](int rank) {
    auto found = answers.find(rank);
    return found != answers.end() && !found->second.isInCall;
  };
  const auto select = [&](const std::vector<int> &of, const auto &isSo) {
    std::vector<int> chosen;
    for (int rank : of)
      if (rank != own && isSo(rank))
        chosen.push_back(rank);
    return chosen;
  };
  std::vector<int> late = select(missing, isSilent);
  if (late.empty())
    late = select(missing, isBusy);
  const bool areMissing = !late.empty();
  if (late.empty())
    late = select(everyone, isSilent);
  if (late.empty())
    late = select(everyone, isBusy);
  for (int rank : late)
    noteLost(rank, describeAbsence(activity, waited, areMissing, describeAbsent(rank)));
  if (!late.empty() || waited < limits.of(activity.phase()) + kLateEnd)
    return;
  PeerMessage message;
  message.kind = Kind::GaveUp;
  message.rank = message.teller = static_cast<uint32_t>(own);
  message.values = {static_cast<uint64_t>(absl::StatusCode::kUnavailable),
                    static_cast<uint64_t>(ExitCode::PeerLost)};
  message.text =
      absl::StrCat("all ranks are in collectives and answer, yet ", activity.describeCall(),
                   absl::StrFormat(" has not ended for %.1f s (", waited),
                   std::string(limitKey(activity.phase())), "): is the network between their hosts cut?");
  if (noteGaveUp(message))
    messages.push_back(std::move(message));
}

std::string PeerBoard::describeAbsent(int rank) const {
  if (auto found = answers.find(rank); found != answers.end())
    return absl::StrCat("it is in ", found->second.text);
  std::string text = "it does not answer: frozen, or cut off";
  if (auto found = hearsay.find(rank); found != hearsay.end())
    absl::StrAppend(&text,
                    absl::StrFormat(". %.1f s ago rank %d heard that it was in ", found->second.age,
                                    found->second.teller),
                    found->second.text);
  return text;
}

//===----------------------------------------------------------------------===//
// The watch's thread
//===----------------------------------------------------------------------===//

bool PeerBoard::hear(const PeerMessage &message, int neighbor) {
  std::lock_guard lock(mutex);
  const int about = static_cast<int>(message.rank);
  switch (message.kind) {
  case Kind::Hello:
  case Kind::Welcome:
  case Kind::Chosen:
    return false;
  case Kind::Heartbeat:
    neighbors[neighbor] = {message.text, Clock::now()};
    return false;
  case Kind::Lost:
    if (!told.emplace(Kind::Lost, message.rank).second)
      return false;
    lost.push_back({about, message.text});
    settle(about);
    fail();
    return true;
  case Kind::GaveUp:
    return noteGaveUp(message);
  case Kind::Left:
    if (!told.emplace(Kind::Left, message.rank).second)
      return false;
    left.emplace(about, Clock::now());
    settle(about);
    return true;
  case Kind::Reported:
    if (!told.emplace(Kind::Reported, message.rank).second)
      return false;
    settle(about);
    return true;
  case Kind::Question:
    if (askedAt && secondsSince(*askedAt) < kQuestionIsNew)
      return false;
    startAnswering();
    return true;
  case Kind::Answer:
    return noteAnswer(message);
  }
  return false;
}

void PeerBoard::lose(int rank, std::string reason) {
  std::lock_guard lock(mutex);
  const uint32_t about = static_cast<uint32_t>(rank);
  if (!told.contains({Kind::Left, about}) && !told.contains({Kind::GaveUp, about}))
    noteLost(rank, std::move(reason));
}

void PeerBoard::leave() {
  std::lock_guard lock(mutex);
  PeerMessage message;
  message.kind = Kind::Left;
  message.rank = message.teller = static_cast<uint32_t>(own);
  settle(own);
  if (told.emplace(Kind::Left, message.rank).second)
    messages.push_back(message);
}

std::vector<PeerMessage> PeerBoard::takeMessages(Clock::time_point allHeardUntil) {
  std::lock_guard lock(mutex);
  listenedAt = allHeardUntil;
  return std::exchange(messages, {});
}

PeerMessage PeerBoard::heartbeat() const {
  std::lock_guard lock(mutex);
  return activityMessage(Kind::Heartbeat);
}

absl::Status PeerBoard::failure() const {
  std::lock_guard lock(mutex);
  return failureLocked();
}

bool PeerBoard::hasFailed() const {
  std::lock_guard lock(mutex);
  return isFailed;
}

std::optional<absl::Status> PeerBoard::unattended(const SocketWatch::Patience &patience) {
  std::lock_guard lock(mutex);
  if (!isFailed || isReported)
    return std::nullopt;
  if (isAttended ? secondsSince(attendedAt) < patience.end : secondsSince(failedAt) < patience.notice)
    return std::nullopt;
  isReported = true;
  return failureLocked();
}

void PeerBoard::tellReported() {
  {
    std::lock_guard lock(mutex);
    isReported = true;
    PeerMessage message;
    message.kind = Kind::Reported;
    message.rank = message.teller = static_cast<uint32_t>(own);
    if (!told.emplace(Kind::Reported, message.rank).second)
      return;
    messages.push_back(std::move(message));
    settle(own);
  }
  wake();
}

bool PeerBoard::haveAllReported() const {
  std::lock_guard lock(mutex);
  return settled.size() == static_cast<size_t>(ranks);
}

void PeerBoard::awaitReports(double seconds) {
  tellReported();
  std::unique_lock lock(mutex);
  settles.wait_for(lock, std::chrono::duration<double>(seconds),
                   [&] { return settled.size() == static_cast<size_t>(ranks); });
}

/// Nothing is to be said by that rank any more.
void PeerBoard::settle(int rank) {
  settled.insert(rank);
  settles.notify_all();
}

/// False when that was known.
bool PeerBoard::noteLost(int rank, std::string reason) {
  PeerMessage message;
  message.kind = Kind::Lost;
  message.rank = static_cast<uint32_t>(rank);
  message.teller = static_cast<uint32_t>(own);
  message.text = reason;
  if (!told.emplace(Kind::Lost, message.rank).second)
    return false;
  lost.push_back({rank, std::move(reason)});
  messages.push_back(std::move(message));
  settle(rank);
  fail();
  return true;
}

bool PeerBoard::noteGaveUp(const PeerMessage &message) {
  if (!told.emplace(Kind::GaveUp, message.rank).second)
    return false;
  if (!isFailed) {
    constexpr uint64_t codes = 16;
    const uint64_t code = message.values[0];
    const absl::Status cause(code >= 1 && code <= codes ? static_cast<absl::StatusCode>(code)
                                                        : absl::StatusCode::kUnknown,
                             message.text);
    rankGaveUp =
        gaveUp(static_cast<int>(message.rank), withExitCode(cause, static_cast<ExitCode>(message.values[1])));
  }
  fail();
  return true;
}

bool PeerBoard::noteAnswer(const PeerMessage &message) {
  uint64_t &latest = latestAnswer[{message.rank, message.teller}];
  if (message.values[0] <= latest)
    return false;
  latest = message.values[0];
  constexpr double milliseconds = 1000;
  (message.rank == message.teller ? answers : hearsay)[static_cast<int>(message.rank)] = {
      message.values[1] != 0, message.text, static_cast<int>(message.teller),
      static_cast<double>(message.values[2]) / milliseconds};
  return true;
}

/// What this rank does, and what it last heard of neighbors that are silent.
void PeerBoard::answer() {
  PeerMessage mine = activityMessage(Kind::Answer);
  mine.values[0] = ++answersGiven;
  messages.push_back(std::move(mine));
  for (const auto &[neighbor, known] : neighbors) {
    const double age = secondsSince(known.at);
    if (age < kNeighborIsSilent)
      continue;
    PeerMessage message;
    message.kind = Kind::Answer;
    message.rank = static_cast<uint32_t>(neighbor);
    message.teller = static_cast<uint32_t>(own);
    message.values = {answersGiven, 0, static_cast<uint64_t>(age * 1000)};
    message.text = known.text;
    hearsay[neighbor] = {false, known.text, own, age};
    messages.push_back(std::move(message));
  }
}

PeerMessage PeerBoard::activityMessage(Kind kind) const {
  PeerMessage message;
  message.kind = kind;
  message.rank = message.teller = static_cast<uint32_t>(own);
  message.values[1] = activity.isInCall() ? 1 : 0;
  message.text = activity.describe();
  return message;
}

void PeerBoard::fail() {
  if (!isFailed)
    failedAt = Clock::now();
  isFailed = true;
}

} // namespace weft
