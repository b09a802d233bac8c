#include "runtime/comm/mpi/MpiGroup.h"

#include "runtime/comm/CallText.h"
#include "runtime/comm/mpi/MpiChannel.h"
#include "runtime/comm/mpi/MpiLine.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <numeric>
#include <thread>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

/// A rank that leaves has sent what it had to send; this is how long that may take to arrive.
constexpr std::chrono::milliseconds kGrace(50);
/// How long a rank that leaves waits for the others.
constexpr std::chrono::seconds kPatience(30), kPatienceAfterFailure(1);
constexpr int kMeetingTag = 1; ///< on the communicator of all ranks, which carries nothing else

/// The pauses of one wait: none for the first tests, then sleeps that grow. Giving the turn away without a
/// sleep would put this rank behind whatever else is ready to run on its core.
class Pauses {
public:
  void pause() {
    constexpr int atOnce = 4;
    constexpr std::chrono::microseconds longest(500);
    if (++count <= atOnce)
      return;
    std::this_thread::sleep_for(next);
    next = std::min(next + next / 4, longest);
  }

private:
  int count = 0;
  std::chrono::microseconds next{10};
};

/// A wait that is no call.
class NamedWait final : public MpiWait {
public:
  NamedWait(std::string what, std::vector<int> ranks) : ranks(std::move(ranks)), what(std::move(what)) {}
  std::string describe() const override { return what; }
  std::vector<int> missing() const override { return ranks; }

  std::vector<int> ranks;

private:
  std::string what;
};

absl::Status waitForOne(MPI_Request &request) {
  for (Pauses pauses;; pauses.pause()) {
    std::lock_guard<std::mutex> lock(mpiLock());
    int done = 0;
    WEFT_CHECK_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done != 0)
      return absl::OkStatus();
  }
}

absl::StatusOr<MPI_Comm> copyOf(MPI_Comm parent) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  {
    std::lock_guard<std::mutex> lock(mpiLock());
    WEFT_CHECK_MPI(MPI_Comm_idup(parent, &copy, &request));
  }
  if (absl::Status status = waitForOne(request); !status.ok())
    return status;
  std::lock_guard<std::mutex> lock(mpiLock());
  WEFT_CHECK_MPI(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
  return copy;
}

} // namespace

absl::StatusOr<std::shared_ptr<MpiGroup>> MpiGroup::create(MPI_Comm parent, const MpiOptions &options) {
  absl::StatusOr<MPI_Comm> calls = copyOf(parent);
  if (!calls.ok())
    return calls.status();
  absl::StatusOr<MPI_Comm> words = copyOf(parent);
  if (!words.ok())
    return words.status();
  int rank = 0, size = 0;
  std::lock_guard<std::mutex> lock(mpiLock());
  WEFT_CHECK_MPI(MPI_Comm_rank(*calls, &rank));
  WEFT_CHECK_MPI(MPI_Comm_size(*calls, &size));
  return std::shared_ptr<MpiGroup>(new MpiGroup(*calls, *words, rank, size, options));
}

MpiGroup::MpiGroup(MPI_Comm calls, MPI_Comm words, int rank, int size, const MpiOptions &options)
    : options(options), own(rank), ranks(size), calls(calls), words(words), control(words, rank, size),
      all(static_cast<size_t>(size)) {
  std::iota(all.begin(), all.end(), 0);
}

MpiGroup::~MpiGroup() {
  std::lock_guard<std::mutex> lock(mpiLock());
  if (!mpiRuns())
    return;
  // A communicator is freed once nothing of it can be on its way any more; else its number might be taken by
  // a new one, and the messages with it.
  if (!isWhole || !control.allHaveLeft() || !control.failure().ok()) {
    noteMpiIsBroken();
    return;
  }
  for (const auto &[members, channel] : channels)
    if (channel->communicator != MPI_COMM_NULL)
      MPI_Comm_free(&channel->communicator);
  MPI_Comm_free(&calls);
  MPI_Comm_free(&words);
}

absl::StatusOr<MpiChannel *> MpiGroup::channel(const std::vector<int> &members) {
  const auto entry = channels.try_emplace(members).first;
  std::unique_ptr<MpiChannel> &channel = entry->second;
  if (!channel) {
    absl::StatusOr<MPI_Comm> formed = formChannel(entry->first);
    if (!formed.ok())
      return formed.status();
    channel = std::make_unique<MpiChannel>(members, own, *formed, options.chunkBytes);
  }
  return channel.get();
}

/// MPI forms a communicator in one call that waits for all members, and not asleep: so they meet before it.
absl::StatusOr<MPI_Comm> MpiGroup::formChannel(const std::vector<int> &members) {
  if (members.size() == 1)
    return MPI_COMM_NULL;
  MpiRequests meeting(options.chunkBytes);
  {
    std::lock_guard<std::mutex> lock(mpiLock());
    for (int member : members) {
      if (member == own)
        continue;
      if (absl::Status status = meeting.receiveWhole(nullptr, 0, member, kMeetingTag, calls); !status.ok())
        return status;
      if (absl::Status status = meeting.sendWhole(nullptr, 0, member, kMeetingTag, calls); !status.ok())
        return status;
    }
  }
  CollectiveCall first;
  first.detail = "the first meeting";
  if (watch != nullptr)
    watch->begin(first, 0, members);
  absl::Status met =
      wait(meeting, all,
           NamedWait(absl::StrCat("the first meeting of ranks ", absl::StrJoin(members, " ")), members));
  if (watch != nullptr)
    watch->end();
  if (!met.ok())
    return met;
  std::lock_guard<std::mutex> lock(mpiLock());
  MPI_Group everyone = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm formed = MPI_COMM_NULL;
  WEFT_CHECK_MPI(MPI_Comm_group(calls, &everyone));
  WEFT_CHECK_MPI(MPI_Group_incl(everyone, static_cast<int>(members.size()), members.data(), &some));
  WEFT_CHECK_MPI(MPI_Comm_create_group(calls, some, kMeetingTag, &formed));
  WEFT_CHECK_MPI(MPI_Comm_set_errhandler(formed, MPI_ERRORS_RETURN));
  WEFT_CHECK_MPI(MPI_Group_free(&some));
  WEFT_CHECK_MPI(MPI_Group_free(&everyone));
  return formed;
}

MpiLineState &MpiGroup::line(int peer) {
  std::unique_ptr<MpiLineState> &line = lines[peer];
  if (!line)
    line = std::make_unique<MpiLineState>(
        MpiLineState{MpiLineEnd(own, peer, own, options, calls), MpiLineEnd(peer, own, own, options, calls)});
  return *line;
}

absl::Status MpiGroup::enter(const CollectiveCall &call, uint64_t number, std::span<const int> members,
                             const MpiWait &what, bool isKept) {
  std::lock_guard<std::mutex> lock(mpiLock());
  if (isKept && !kept.ok())
    return kept;
  if (inCall)
    return absl::FailedPreconditionError(absl::StrCat("rank ", own, " called ",
                                                      std::string(name(call.operation)),
                                                      " while another call of it was not over"));
  absl::Status status = control.failure();
  if (status.ok() && control.hasLeft(own))
    status = hasLeft(own, own, what.describe());
  if (isKept)
    kept.Update(status);
  if (!status.ok()) {
    abandonLines();
    return status;
  }
  inCall = true;
  if (watch != nullptr)
    watch->begin(call, number, members);
  return status;
}

void MpiGroup::exit(const absl::Status &status, bool isKept) {
  std::lock_guard<std::mutex> lock(mpiLock());
  inCall = false;
  if (watch != nullptr)
    watch->end();
  if (isKept)
    kept.Update(status);
  if (!status.ok())
    abandonLines();
}

void MpiGroup::abandonLines() {
  for (const auto &[peer, line] : lines) {
    const bool sent = line->out.abandon(), received = line->in.abandon();
    isWhole = isWhole && !sent && !received;
  }
}

void MpiGroup::count(const CollectiveCall &call) {
  std::lock_guard<std::mutex> lock(mpiLock());
  ++sent[call.operation].calls;
  sent[call.operation].bytes += call.sent;
}

absl::Status MpiGroup::wait(MpiRequests &requests, std::span<const int> members, const MpiWait &what) {
  lostSince.reset();
  bool isFirst = true;
  for (Pauses pauses;; pauses.pause()) {
    absl::StatusOr<bool> done = testOnce(requests, members, what);
    if (done.ok() && *done)
      return absl::OkStatus();
    absl::Status status = done.status();
    if (status.ok() && !isFirst && watch != nullptr) {
      status = watch->check(what);
      if (!status.ok()) {
        std::lock_guard<std::mutex> lock(mpiLock());
        control.fail(status);
      }
    }
    isFirst = false;
    if (!status.ok()) {
      abandon(requests);
      return status;
    }
  }
}

absl::StatusOr<bool> MpiGroup::testOnce(MpiRequests &requests, std::span<const int> members,
                                        const MpiWait &what) {
  std::lock_guard<std::mutex> lock(mpiLock());
  absl::StatusOr<bool> done = requests.test();
  if (!done.ok())
    control.tellFailure(gaveUp(own, done.status()));
  if (!done.ok() || *done)
    return done;
  if (absl::Status status = control.poll(); !status.ok())
    return status;
  if (!control.failure().ok())
    return control.failure();
  if (absl::Status status = checkLost(requests, members, what); !status.ok())
    return status;
  return false;
}

/// Unavailable when a member that has left still owes a message.
absl::Status MpiGroup::checkLost(const MpiRequests &requests, std::span<const int> members,
                                 const MpiWait &what) {
  int lost = -1;
  requests.forEachMissing([&](int peer) {
    if (int rank = members[static_cast<size_t>(peer)]; lost < 0 && control.hasLeft(rank))
      lost = rank;
  });
  if (lost < 0)
    return absl::OkStatus();
  if (!lostSince)
    lostSince = Clock::now();
  return Clock::now() - *lostSince < kGrace ? absl::OkStatus() : hasLeft(lost, own, what.describe());
}

void MpiGroup::abandon(MpiRequests &requests) {
  std::lock_guard<std::mutex> lock(mpiLock());
  requests.abandon();
  isWhole = false;
}

void MpiGroup::failAll(const absl::Status &status, bool tells) {
  std::lock_guard<std::mutex> lock(mpiLock());
  if (tells)
    control.tellFailure(status);
  else
    control.fail(status);
}

void MpiGroup::abort(const absl::Status &cause) {
  {
    std::lock_guard<std::mutex> lock(mpiLock());
    control.tellFailure(gaveUp(own, cause));
  }
  if (watch != nullptr) // for those who do not wait
    watch->giveUp(cause);
}

std::vector<int> MpiGroup::leave() {
  const Clock::time_point start = Clock::now();
  NamedWait end("the end of the job", {});
  if (watch != nullptr)
    watch->enter(Phase::End, 0);
  {
    std::lock_guard<std::mutex> lock(mpiLock());
    if (!mpiRuns())
      return {};
    control.tellLeft();
    abandonLines();
  }
  for (Pauses pauses;; pauses.pause()) {
    end.ranks = others();
    bool isOver = end.ranks.empty() || (watch != nullptr && !watch->check(end).ok());
    std::lock_guard<std::mutex> lock(mpiLock());
    isOver = isOver && control.isSent();
    const auto patience = control.failure().ok() && isWhole ? kPatience : kPatienceAfterFailure;
    if (isOver || !control.poll().ok() || Clock::now() - start > patience)
      return end.ranks;
  }
}

/// The ranks that have not left.
std::vector<int> MpiGroup::others() const {
  std::lock_guard<std::mutex> lock(mpiLock());
  std::vector<int> here;
  for (int rank = 0; rank < ranks; ++rank)
    if (!control.hasLeft(rank))
      here.push_back(rank);
  return here;
}

absl::Status MpiGroup::keptFailure() const {
  std::lock_guard<std::mutex> lock(mpiLock());
  return kept;
}

absl::Status MpiGroup::failure() const {
  std::lock_guard<std::mutex> lock(mpiLock());
  return control.failure();
}

Traffic MpiGroup::traffic() const {
  std::lock_guard<std::mutex> lock(mpiLock());
  return sent;
}

} // namespace weft
