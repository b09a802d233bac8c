#include "runtime/comm/mpi/MpiCommunicator.h"

#include "runtime/comm/mpi/MpiLine.h"

#include <numeric>

namespace weft {

absl::StatusOr<std::unique_ptr<MpiCommunicator>> MpiCommunicator::create(const MpiOptions &options) {
  if (absl::Status status = startMpi(); !status.ok())
    return status;
  absl::StatusOr<std::shared_ptr<MpiGroup>> group = MpiGroup::create(MPI_COMM_WORLD, options);
  if (!group.ok())
    return group.status();
  return create(*std::move(group));
}

absl::StatusOr<std::unique_ptr<MpiCommunicator>> MpiCommunicator::create(std::shared_ptr<MpiGroup> group) {
  std::vector<int> all(static_cast<size_t>(group->size()));
  std::iota(all.begin(), all.end(), 0);
  absl::StatusOr<MpiChannel *> channel = group->channel(all);
  if (!channel.ok())
    return channel.status();
  auto everyone = std::make_shared<MpiExchange>(group, **channel, false);
  return std::unique_ptr<MpiCommunicator>(new MpiCommunicator(std::move(group), std::move(everyone)));
}

MpiCommunicator::MpiCommunicator(std::shared_ptr<MpiGroup> ofRank, std::shared_ptr<Exchange> everyone)
    : GroupCommunicator(std::move(everyone)), group(std::move(ofRank)) {}

MpiCommunicator::~MpiCommunicator() { leave(); }

void MpiCommunicator::setWatch(PeerWatch *watch) { group->setWatch(watch); }

void MpiCommunicator::setLimits(const WaitLimits &limits) {
  if (group->currentWatch() != nullptr)
    group->currentWatch()->setLimits(limits);
}

void MpiCommunicator::enter(Phase phase, int64_t step) {
  if (group->currentWatch() != nullptr)
    group->currentWatch()->enter(phase, step);
}

void MpiCommunicator::abort(absl::Status cause) { group->abort(cause); }

absl::StatusOr<std::shared_ptr<Exchange>> MpiCommunicator::exchange(std::span<const int64_t> ranks) {
  absl::StatusOr<std::vector<int>> members = checkMembers(ranks);
  if (!members.ok())
    return members.status();
  absl::StatusOr<MpiChannel *> channel = group->channel(*members);
  if (!channel.ok())
    return channel.status();
  return std::make_shared<MpiExchange>(group, **channel, true);
}

absl::StatusOr<std::shared_ptr<Line>> MpiCommunicator::line(int64_t peer) {
  absl::StatusOr<int> other = checkPeer(peer);
  if (!other.ok())
    return other.status();
  return std::make_shared<MpiLine>(group, group->line(*other));
}

absl::Status MpiCommunicator::exchangeStatus() const { return group->keptFailure(); }

Traffic MpiCommunicator::traffic() const { return group->traffic(); }

absl::Status MpiCommunicator::failure() const { return group->failure(); }

std::vector<int> MpiCommunicator::leave() {
  if (hasLeft)
    return {};
  hasLeft = true;
  return group->leave();
}

void endMpi() {
  std::lock_guard<std::mutex> lock(mpiLock());
  if (mpiRuns() && !mpiIsBroken())
    MPI_Finalize();
}

} // namespace weft
