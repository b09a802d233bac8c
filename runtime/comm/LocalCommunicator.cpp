#include "runtime/comm/LocalCommunicator.h"

#include "runtime/comm/GroupCommunicator.h"
#include "runtime/comm/LocalGroup.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

/// One member's end of a channel.
class LocalExchange final : public Exchange {
public:
  /// With `isKept`, failures are those of Communicator::exchangeStatus().
  LocalExchange(std::shared_ptr<LocalGroup> group, LocalChannel &channel, size_t place, bool isKept)
      : group(std::move(group)), channel(channel), place(place), isKept(isKept),
        read(channel.members.size()) {}

  int member() const override { return static_cast<int>(place); }
  int size() const override { return static_cast<int>(channel.members.size()); }
  bool packs() const override { return false; }
  absl::Status begin(const CollectiveCall &call, const Transfer &transfer,
                     const ExchangeMemory &memory) override;
  std::span<const void *const> sources() const override { return read; }
  absl::Status share(std::span<const Piece> pieces, ThreadPool *threads) override;
  void end() override { group->end(channel, place); }

private:
  /// Copies the piece of another member from its result into this member's.
  void take(std::span<const Piece> pieces, size_t from) const;

  std::shared_ptr<LocalGroup> group;
  LocalChannel &channel; ///< lives as long as the group
  size_t place;
  bool isKept;
  std::vector<const void *> read; ///< sources()
};

absl::Status LocalExchange::begin(const CollectiveCall &call, const Transfer &transfer,
                                  const ExchangeMemory &memory) {
  if (absl::Status status = group->begin(channel, place, call, memory.operand, memory.result, isKept);
      !status.ok())
    return status;
  for (size_t from = 0; from < transfer.reads.size(); ++from)
    read[from] = static_cast<const std::byte *>(channel.operands[from]) + transfer.reads[from].offset;
  return absl::OkStatus();
}

absl::Status LocalExchange::share(std::span<const Piece> pieces, ThreadPool *threads) {
  group->meet(channel, place);
  if (threads != nullptr)
    threads->forEachTile(size(), [&](int64_t from, int) { take(pieces, static_cast<size_t>(from)); });
  else
    for (size_t from = 0; from < pieces.size(); ++from)
      take(pieces, from);
  return absl::OkStatus();
}

void LocalExchange::take(std::span<const Piece> pieces, size_t from) const {
  const Piece &piece = pieces[from];
  if (from == place || piece.bytes == 0)
    return;
  std::memcpy(static_cast<std::byte *>(channel.results[place]) + piece.offset,
              static_cast<const std::byte *>(channel.results[from]) + piece.offset,
              static_cast<size_t>(piece.bytes));
}

class LocalCommunicator final : public GroupCommunicator {
public:
  LocalCommunicator(std::shared_ptr<LocalGroup> sharedGroup, int ownRank, const std::vector<int> &all)
      : GroupCommunicator(std::make_shared<LocalExchange>(sharedGroup, sharedGroup->channel(all),
                                                          static_cast<size_t>(ownRank), false)),
        group(std::move(sharedGroup)), own(ownRank) {}
  ~LocalCommunicator() override { group->leave(own); }

  void setLimits(const WaitLimits &limits) override { group->setLimits(own, limits); }
  void enter(Phase phase, int64_t step) override { group->enter(own, phase, step); }
  void abort(absl::Status cause) override { group->abort(own, cause); }
  absl::StatusOr<std::shared_ptr<Exchange>> exchange(std::span<const int64_t> ranks) override;
  absl::StatusOr<std::shared_ptr<Line>> line(int64_t peer) override {
    absl::StatusOr<int> other = checkPeer(peer);
    if (!other.ok())
      return other.status();
    return std::make_shared<LocalLineEnds>(group, own, *other);
  }
  absl::Status exchangeStatus() const override { return group->keptFailure(own); }
  Traffic traffic() const override { return group->traffic(own); }

private:
  std::shared_ptr<LocalGroup> group;
  int own;
};

absl::StatusOr<std::shared_ptr<Exchange>> LocalCommunicator::exchange(std::span<const int64_t> ranks) {
  absl::StatusOr<std::vector<int>> members = checkMembers(ranks);
  if (!members.ok())
    return members.status();
  size_t place = static_cast<size_t>(std::find(members->begin(), members->end(), own) - members->begin());
  return std::make_shared<LocalExchange>(group, group->channel(*members), place, true);
}

} // namespace

absl::StatusOr<std::vector<std::unique_ptr<Communicator>>> createLocalGroup(int ranks) {
  if (ranks < 1 || ranks > kMostLocalRanks)
    return absl::InvalidArgumentError(
        absl::StrCat("a local group of ", ranks, " ranks: there are 1 to ", kMostLocalRanks));
  auto group = std::make_shared<LocalGroup>(ranks);
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(rank);
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (int rank = 0; rank < ranks; ++rank)
    communicators.push_back(std::make_unique<LocalCommunicator>(group, rank, all));
  return communicators;
}

std::unique_ptr<Communicator> createLocalCommunicator() {
  return std::make_unique<LocalCommunicator>(std::make_shared<LocalGroup>(1), 0, std::vector<int>{0});
}

} // namespace weft
