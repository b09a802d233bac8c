#include "runtime/comm/GroupCommunicator.h"

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

/// `ranks` pieces of `each` bytes, the last ones cut off at `all`.
std::vector<Piece> piecesOf(size_t all, size_t each, int ranks) {
  std::vector<Piece> pieces;
  for (size_t rank = 0; rank < static_cast<size_t>(ranks); ++rank) {
    size_t begin = std::min(all, rank * each), end = std::min(all, begin + each);
    pieces.push_back({static_cast<int64_t>(begin), static_cast<int64_t>(end - begin)});
  }
  return pieces;
}

} // namespace

CollectiveCall GroupCommunicator::call(CollectiveOp operation, size_t counted) const {
  CollectiveCall made;
  made.operation = operation;
  made.sent = bytesSent(operation, static_cast<int64_t>(counted), size());
  return made;
}

absl::Status GroupCommunicator::barrier() {
  if (absl::Status status = everyone->begin(call(CollectiveOp::Barrier, 0), {}, {}); !status.ok())
    return status;
  everyone->end();
  return absl::OkStatus();
}

absl::Status GroupCommunicator::broadcast(std::span<std::byte> bytes, int root) {
  if (root < 0 || root >= size())
    return absl::InvalidArgumentError(absl::StrCat("broadcast: root ", root, " of ", size(), " ranks"));
  CollectiveCall made = call(CollectiveOp::Broadcast, bytes.size());
  made.bytes = static_cast<int64_t>(bytes.size());
  std::string detail = absl::StrCat("root ", root);
  made.detail = detail;
  if (absl::Status status = everyone->begin(made, {}, {bytes.data(), bytes.data(), nullptr}); !status.ok())
    return status;
  std::vector<Piece> pieces(static_cast<size_t>(size()));
  pieces[static_cast<size_t>(root)].bytes = made.bytes;
  if (absl::Status status = everyone->share(pieces, nullptr); !status.ok())
    return status;
  everyone->end();
  return absl::OkStatus();
}

absl::Status GroupCommunicator::allGather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (absl::Status status = checkLengths("all_gather", mine.size(), all.size(), size()); !status.ok())
    return status;
  CollectiveCall made = call(CollectiveOp::AllGather, all.size());
  made.bytes = static_cast<int64_t>(mine.size());
  if (absl::Status status = everyone->begin(made, {}, {mine.data(), all.data(), nullptr}); !status.ok())
    return status;
  std::byte *place = all.data() + static_cast<size_t>(rank()) * mine.size();
  if (!mine.empty() && place != mine.data())
    std::memmove(place, mine.data(), mine.size());
  if (absl::Status status = everyone->share(piecesOf(all.size(), mine.size(), size()), nullptr); !status.ok())
    return status;
  everyone->end();
  return absl::OkStatus();
}

absl::Status GroupCommunicator::beginReading(const CollectiveCall &made, std::span<const Piece> pieces,
                                             const void *operand, void *result) {
  const size_t own = static_cast<size_t>(rank());
  const int64_t each = pieces[own].bytes;
  Transfer transfer;
  for (size_t peer = 0; peer < pieces.size(); ++peer) {
    transfer.reads.push_back({pieces[own].offset, 1, 0, each});
    transfer.sends.push_back({pieces[peer].offset, 1, 0, pieces[peer].bytes});
    transfer.landings.push_back(static_cast<int64_t>(peer) * each);
  }
  if (everyone->packs() && staging.size() < pieces.size() * static_cast<size_t>(each))
    staging.resize(pieces.size() * static_cast<size_t>(each));
  return everyone->begin(made, transfer, {operand, result, staging.data()});
}

absl::Status GroupCommunicator::allReduce(std::span<std::byte> values, DType type, ReduceKind kind) {
  if (absl::Status status = checkElements("all_reduce", values.size(), type, kind); !status.ok())
    return status;
  CollectiveCall made = call(CollectiveOp::AllReduce, values.size());
  made.bytes = static_cast<int64_t>(values.size());
  made.type = type;
  made.detail = name(kind);
  // Every rank folds one stretch of elements in place, and takes the others' stretches.
  const size_t width = static_cast<size_t>(byteSize(type)), ranks = static_cast<size_t>(size());
  const size_t each = (values.size() / width + ranks - 1) / ranks;
  const std::vector<Piece> pieces = piecesOf(values.size(), each * width, size());
  if (absl::Status status = beginReading(made, pieces, values.data(), values.data()); !status.ok())
    return status;
  const Piece own = pieces[static_cast<size_t>(rank())];
  findFold(kind, type)(everyone->sources(), 0, values.data() + own.offset, own.bytes / byteSize(type));
  if (absl::Status status = everyone->share(pieces, nullptr); !status.ok())
    return status;
  everyone->end();
  return absl::OkStatus();
}

absl::Status GroupCommunicator::reduceScatter(std::span<const std::byte> all, std::span<std::byte> mine,
                                              DType type, ReduceKind kind) {
  if (absl::Status status = checkLengths("reduce_scatter", mine.size(), all.size(), size()); !status.ok())
    return status;
  if (absl::Status status = checkElements("reduce_scatter", mine.size(), type, kind); !status.ok())
    return status;
  CollectiveCall made = call(CollectiveOp::ReduceScatter, all.size());
  made.bytes = static_cast<int64_t>(all.size());
  made.type = type;
  made.detail = name(kind);
  const std::vector<Piece> pieces = piecesOf(all.size(), mine.size(), size());
  if (absl::Status status = beginReading(made, pieces, all.data(), mine.data()); !status.ok())
    return status;
  findFold(kind, type)(everyone->sources(), 0, mine.data(),
                       static_cast<int64_t>(mine.size()) / byteSize(type));
  everyone->end();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> GroupCommunicator::checkMembers(std::span<const int64_t> ranks) const {
  std::vector<int> members;
  for (int64_t member : ranks) {
    if (member < 0 || member >= size())
      return absl::InvalidArgumentError(absl::StrCat("exchange: rank ", member, " of ", size(), " ranks"));
    if (std::find(members.begin(), members.end(), static_cast<int>(member)) != members.end())
      return absl::InvalidArgumentError(absl::StrCat("exchange: rank ", member, " is named twice"));
    members.push_back(static_cast<int>(member));
  }
  if (std::find(members.begin(), members.end(), rank()) == members.end())
    return absl::InvalidArgumentError(
        absl::StrCat("exchange: rank ", rank(), " is not in the group it asks for"));
  return members;
}

absl::StatusOr<int> GroupCommunicator::checkPeer(int64_t peer) const {
  if (peer < 0 || peer >= size())
    return absl::InvalidArgumentError(absl::StrCat("line: rank ", peer, " of ", size(), " ranks"));
  if (peer == rank())
    return absl::InvalidArgumentError(absl::StrCat("line: rank ", peer, " has none to itself"));
  return static_cast<int>(peer);
}

} // namespace weft
