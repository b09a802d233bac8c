#include "runtime/comm/LocalCommunicator.h"

#include "runtime/comm/LocalGroup.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

absl::Status checkLengths(const char *what, size_t mine, size_t all, int ranks) {
  if (all % static_cast<size_t>(ranks) == 0 && mine == all / static_cast<size_t>(ranks))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": ", all, " bytes in all are not ", ranks, " times ", mine, " bytes"));
}

absl::Status checkElements(const char *what, size_t bytes, DType type, ReduceKind kind) {
  if (bytes % static_cast<size_t>(byteSize(type)) != 0)
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", bytes, " bytes are no whole number of ",
                                                   std::string(name(type)), " elements"));
  if (!findFold(kind, type))
    return absl::InvalidArgumentError(absl::StrCat(what, ": i1 has no sum; reduce it with max or min"));
  return absl::OkStatus();
}

/// memmove where there is something to move: empty spans may have null pointers, and what stays in its place
/// may be read by peers meanwhile.
void move(std::byte *to, const void *from, size_t bytes) {
  if (bytes != 0 && to != from)
    std::memmove(to, from, bytes);
}

/// One member's end of a channel.
class LocalExchange final : public Exchange {
public:
  /// With `isKept`, failures are those of Communicator::exchangeStatus().
  LocalExchange(std::shared_ptr<LocalGroup> group, LocalChannel &channel, size_t place, bool isKept)
      : group(std::move(group)), channel(channel), place(place), isKept(isKept) {}

  int member() const override { return static_cast<int>(place); }
  int size() const override { return static_cast<int>(channel.members.size()); }
  absl::Status begin(const CollectiveCall &call, const void *operand, void *result) override {
    return group->begin(channel, place, call, operand, result, isKept);
  }
  std::span<const void *const> operands() const override { return channel.operands; }
  std::span<void *const> results() const override { return channel.results; }
  void meet() override { group->meet(channel, place); }
  void end() override { group->end(channel, place); }

private:
  std::shared_ptr<LocalGroup> group;
  LocalChannel &channel; ///< lives as long as the group
  size_t place;
  bool isKept;
};

class LocalCommunicator final : public Communicator {
public:
  LocalCommunicator(std::shared_ptr<LocalGroup> sharedGroup, int ownRank, const std::vector<int> &all)
      : group(std::move(sharedGroup)), own(ownRank),
        everyone(group, group->channel(all), static_cast<size_t>(ownRank), false) {}
  ~LocalCommunicator() override { group->leave(own); }

  int rank() const override { return own; }
  int size() const override { return group->size(); }

  absl::Status barrier() override;
  absl::Status broadcast(std::span<std::byte> bytes, int root) override;
  absl::Status allGather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  absl::Status allReduce(std::span<std::byte> values, DType type, ReduceKind kind) override;
  absl::Status reduceScatter(std::span<const std::byte> all, std::span<std::byte> mine, DType type,
                             ReduceKind kind) override;

  void setLimits(const WaitLimits &limits) override { group->setLimits(own, limits); }
  void enter(Phase phase, int64_t step) override { group->enter(own, phase, step); }
  void abort(absl::Status cause) override { group->abort(own, cause); }
  absl::StatusOr<std::shared_ptr<Exchange>> exchange(std::span<const int64_t> ranks) override;
  absl::Status exchangeStatus() const override { return group->keptFailure(own); }
  Traffic traffic() const override { return group->traffic(own); }

private:
  CollectiveCall call(CollectiveOp operation, size_t counted) const {
    CollectiveCall made;
    made.operation = operation;
    made.sent = bytesSent(operation, static_cast<int64_t>(counted), size());
    return made;
  }

  std::shared_ptr<LocalGroup> group;
  int own;
  LocalExchange everyone;
};

absl::Status LocalCommunicator::barrier() {
  if (absl::Status status = everyone.begin(call(CollectiveOp::Barrier, 0), nullptr, nullptr); !status.ok())
    return status;
  everyone.end();
  return absl::OkStatus();
}

absl::Status LocalCommunicator::broadcast(std::span<std::byte> bytes, int root) {
  if (root < 0 || root >= size())
    return absl::InvalidArgumentError(absl::StrCat("broadcast: root ", root, " of ", size(), " ranks"));
  CollectiveCall made = call(CollectiveOp::Broadcast, bytes.size());
  made.bytes = static_cast<int64_t>(bytes.size());
  std::string detail = absl::StrCat("root ", root);
  made.detail = detail;
  if (absl::Status status = everyone.begin(made, bytes.data(), bytes.data()); !status.ok())
    return status;
  if (own != root)
    move(bytes.data(), everyone.operands()[static_cast<size_t>(root)], bytes.size());
  everyone.end();
  return absl::OkStatus();
}

absl::Status LocalCommunicator::allGather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (absl::Status status = checkLengths("all_gather", mine.size(), all.size(), size()); !status.ok())
    return status;
  CollectiveCall made = call(CollectiveOp::AllGather, all.size());
  made.bytes = static_cast<int64_t>(mine.size());
  if (absl::Status status = everyone.begin(made, mine.data(), all.data()); !status.ok())
    return status;
  for (size_t other = 0; other < everyone.operands().size(); ++other)
    move(all.data() + other * mine.size(), everyone.operands()[other], mine.size());
  everyone.end();
  return absl::OkStatus();
}

absl::Status LocalCommunicator::allReduce(std::span<std::byte> values, DType type, ReduceKind kind) {
  if (absl::Status status = checkElements("all_reduce", values.size(), type, kind); !status.ok())
    return status;
  CollectiveCall made = call(CollectiveOp::AllReduce, values.size());
  made.bytes = static_cast<int64_t>(values.size());
  made.type = type;
  made.detail = name(kind);
  if (absl::Status status = everyone.begin(made, values.data(), values.data()); !status.ok())
    return status;
  // Every rank folds one stretch of elements in place, and fetches the others' stretches.
  size_t width = static_cast<size_t>(byteSize(type)), ranks = static_cast<size_t>(size());
  size_t elements = values.size() / width, each = (elements + ranks - 1) / ranks;
  auto begin = [&](size_t rank) { return std::min(elements, rank * each); };
  size_t first = begin(static_cast<size_t>(own)), past = begin(static_cast<size_t>(own) + 1);
  findFold(kind, type)(everyone.operands(), static_cast<int64_t>(first * width),
                       values.data() + first * width, static_cast<int64_t>(past - first));
  everyone.meet();
  for (size_t other = 0; other < ranks; ++other)
    if (other != static_cast<size_t>(own))
      move(values.data() + begin(other) * width,
           static_cast<const std::byte *>(everyone.results()[other]) + begin(other) * width,
           (begin(other + 1) - begin(other)) * width);
  everyone.end();
  return absl::OkStatus();
}

absl::Status LocalCommunicator::reduceScatter(std::span<const std::byte> all, std::span<std::byte> mine,
                                              DType type, ReduceKind kind) {
  if (absl::Status status = checkLengths("reduce_scatter", mine.size(), all.size(), size()); !status.ok())
    return status;
  if (absl::Status status = checkElements("reduce_scatter", mine.size(), type, kind); !status.ok())
    return status;
  CollectiveCall made = call(CollectiveOp::ReduceScatter, all.size());
  made.bytes = static_cast<int64_t>(all.size());
  made.type = type;
  made.detail = name(kind);
  if (absl::Status status = everyone.begin(made, all.data(), mine.data()); !status.ok())
    return status;
  findFold(kind, type)(everyone.operands(), static_cast<int64_t>(static_cast<size_t>(own) * mine.size()),
                       mine.data(), static_cast<int64_t>(mine.size()) / byteSize(type));
  everyone.end();
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Exchange>> LocalCommunicator::exchange(std::span<const int64_t> ranks) {
  std::vector<int> members;
  for (int64_t rank : ranks) {
    if (rank < 0 || rank >= size())
      return absl::InvalidArgumentError(absl::StrCat("exchange: rank ", rank, " of ", size(), " ranks"));
    if (std::find(members.begin(), members.end(), static_cast<int>(rank)) != members.end())
      return absl::InvalidArgumentError(absl::StrCat("exchange: rank ", rank, " is named twice"));
    members.push_back(static_cast<int>(rank));
  }
  auto mine = std::find(members.begin(), members.end(), own);
  if (mine == members.end())
    return absl::InvalidArgumentError(
        absl::StrCat("exchange: rank ", own, " is not in the group it asks for"));
  size_t place = static_cast<size_t>(mine - members.begin());
  return std::make_shared<LocalExchange>(group, group->channel(members), place, true);
}

} // namespace

absl::StatusOr<std::vector<std::unique_ptr<Communicator>>> createLocalGroup(int ranks) {
  constexpr int kMostRanks = 1024;
  if (ranks < 1 || ranks > kMostRanks)
    return absl::InvalidArgumentError(
        absl::StrCat("a local group of ", ranks, " ranks: there are 1 to ", kMostRanks));
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
