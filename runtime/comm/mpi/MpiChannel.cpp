#include "runtime/comm/mpi/MpiChannel.h"

#include "runtime/comm/CallText.h"

#include "absl/strings/str_cat.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace weft {
namespace {

/// A channel carries one call at a time, whose messages follow each other in the order of their kind.
constexpr int kHeaderTag = 1, kOperandTag = 2, kPieceTag = 3;

void packRows(const Region &region, const void *operand, std::byte *to) {
  const std::byte *from = static_cast<const std::byte *>(operand) + region.offset;
  for (int64_t row = 0; row < region.rows; ++row)
    std::memcpy(to + row * region.bytes, from + row * region.stride, static_cast<size_t>(region.bytes));
}

} // namespace

CallHeader CallHeader::of(const CollectiveCall &call, uint64_t number) {
  CallHeader header;
  header.number = number;
  header.bytes = call.bytes;
  header.sent = call.sent;
  header.detailChecksum = XXH64(call.detail.data(), call.detail.size(), 0);
  header.detailLength = static_cast<uint32_t>(std::min(call.detail.size(), kMostDetail));
  header.operation = static_cast<uint8_t>(call.operation);
  header.hasType = call.type.has_value();
  header.type = call.type ? static_cast<uint8_t>(*call.type) : 0;
  std::copy_n(call.detail.begin(), header.detailLength, header.detail.begin());
  return header;
}

CollectiveCall CallHeader::call() const {
  CollectiveCall made;
  made.operation = static_cast<CollectiveOp>(operation);
  if (hasType != 0)
    made.type = static_cast<DType>(type);
  made.bytes = bytes;
  made.sent = sent;
  made.detail = std::string_view(detail.data(), detailLength);
  return made;
}

MpiChannel::MpiChannel(std::vector<int> ranks, int rank, MPI_Comm communicator, int64_t chunkBytes)
    : members(std::move(ranks)),
      place(static_cast<size_t>(std::find(members.begin(), members.end(), rank) - members.begin())),
      communicator(communicator), headers(members.size()), words(chunkBytes), data(chunkBytes) {}

/// This rank's wait for the messages of a call.
class MpiExchange::Wait final : public MpiWait {
public:
  Wait(const MpiExchange &exchange, const CallHeader &header, const MpiRequests &requests)
      : exchange(exchange), header(header), requests(requests) {}

  std::string describe() const override {
    return describeCall(header.call(), header.number, exchange.channel.members,
                        static_cast<size_t>(exchange.group->size()));
  }
  std::vector<int> missing() const override {
    std::vector<int> ranks;
    requests.forEachMissing(
        [&](int peer) { ranks.push_back(exchange.channel.members[static_cast<size_t>(peer)]); });
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

private:
  const MpiExchange &exchange;
  const CallHeader &header;
  const MpiRequests &requests;
};

MpiExchange::MpiExchange(std::shared_ptr<MpiGroup> group, MpiChannel &channel, bool isKept)
    : group(std::move(group)), channel(channel), isKept(isKept), read(channel.members.size()) {}

absl::Status MpiExchange::begin(const CollectiveCall &call, const Transfer &transfer,
                                const ExchangeMemory &memory) {
  const CallHeader header = CallHeader::of(call, channel.opened + 1);
  if (absl::Status status =
          group->enter(call, header.number, channel.members, Wait(*this, header, channel.words), isKept);
      !status.ok())
    return status;
  current = header;
  result = static_cast<std::byte *>(memory.result);
  absl::Status status = exchangeAll(call, transfer, memory);
  if (status.ok())
    group->count(call);
  else
    group->exit(status, isKept);
  return status;
}

template <typename See> absl::Status MpiExchange::forEachPeer(const See &see) const {
  // Each member begins with the one behind it, so that not all send to the same one first.
  for (size_t step = 1; step < channel.members.size(); ++step)
    if (absl::Status status = see((channel.place + step) % channel.members.size()); !status.ok())
      return status;
  return absl::OkStatus();
}

absl::Status MpiExchange::exchangeAll(const CollectiveCall &call, const Transfer &transfer,
                                      const ExchangeMemory &memory) {
  const bool meets = group->settings().checksCalls || call.operation == CollectiveOp::Barrier;
  {
    std::lock_guard<std::mutex> lock(mpiLock());
    if (absl::Status status = meets ? postHeaders() : absl::OkStatus(); !status.ok())
      return status;
    if (absl::Status status = postOperands(transfer, memory); !status.ok())
      return status;
  }
  if (meets) {
    if (absl::Status status =
            group->wait(channel.words, channel.members, Wait(*this, current, channel.words));
        !status.ok()) {
      group->abandon(channel.data);
      return status;
    }
    if (absl::Status status = compareHeaders(); !status.ok()) {
      group->abandon(channel.data);
      group->failAll(status, channel.place == 0);
      return status;
    }
  }
  ++channel.opened;
  return group->wait(channel.data, channel.members, Wait(*this, current, channel.data));
}

absl::Status MpiExchange::postHeaders() {
  channel.headers[channel.place] = current;
  constexpr int bytes = sizeof(CallHeader);
  if (absl::Status status = forEachPeer([&](size_t peer) {
        return channel.words.receiveWhole(&channel.headers[peer], bytes, static_cast<int>(peer), kHeaderTag,
                                          channel.communicator);
      });
      !status.ok())
    return status;
  return forEachPeer([&](size_t peer) {
    return channel.words.sendWhole(&current, bytes, static_cast<int>(peer), kHeaderTag, channel.communicator);
  });
}

/// Begins all that is read, here and by peers. What this member reads of its own operand needs no message.
absl::Status MpiExchange::postOperands(const Transfer &transfer, const ExchangeMemory &memory) {
  if (transfer.reads.empty())
    return absl::OkStatus();
  auto *workspace = static_cast<std::byte *>(memory.workspace);
  std::byte *landing = transfer.landsInResult ? result : workspace;
  const Region &own = transfer.reads[channel.place];
  read[channel.place] = static_cast<const std::byte *>(memory.operand) + own.offset;
  if (own.rows > 1 && packs()) {
    std::byte *packed = landing + transfer.landings[channel.place];
    packRows(own, memory.operand, packed);
    read[channel.place] = packed;
  }
  if (absl::Status status = forEachPeer([&](size_t peer) {
        read[peer] = landing + transfer.landings[peer];
        return channel.data.receive(landing + transfer.landings[peer], transfer.reads[peer].total(),
                                    static_cast<int>(peer), kOperandTag, channel.communicator);
      });
      !status.ok())
    return status;
  return forEachPeer([&](size_t peer) {
    const Region &region = transfer.sends[peer];
    const std::byte *from = static_cast<const std::byte *>(memory.operand) + region.offset;
    if (region.rows > 1) {
      std::byte *packed = workspace + transfer.packings[peer];
      packRows(region, memory.operand, packed);
      from = packed;
    }
    return channel.data.send(from, region.total(), static_cast<int>(peer), kOperandTag, channel.communicator);
  });
}

/// InvalidArgument with the first member and the first that differs from it: the same on every member.
absl::Status MpiExchange::compareHeaders() const {
  const std::vector<CallHeader> &headers = channel.headers;
  for (size_t i = 1; i < headers.size(); ++i) {
    if (headers[i] == headers[0])
      continue;
    auto describe = [&](size_t member) {
      return describeCall(headers[member].call(), headers[member].number, channel.members,
                          static_cast<size_t>(group->size()));
    };
    return absl::InvalidArgumentError(absl::StrCat("rank ", channel.members[0], " called ", describe(0),
                                                   ", rank ", channel.members[i], " called ", describe(i)));
  }
  return absl::OkStatus();
}

absl::Status MpiExchange::share(std::span<const Piece> pieces, ThreadPool *) {
  absl::Status status;
  {
    std::lock_guard<std::mutex> lock(mpiLock());
    status = postPieces(pieces);
  }
  if (status.ok())
    status = group->wait(channel.data, channel.members, Wait(*this, current, channel.data));
  if (!status.ok())
    group->exit(status, isKept);
  return status;
}

absl::Status MpiExchange::postPieces(std::span<const Piece> pieces) {
  if (absl::Status status = forEachPeer([&](size_t peer) {
        return channel.data.receive(result + pieces[peer].offset, pieces[peer].bytes, static_cast<int>(peer),
                                    kPieceTag, channel.communicator);
      });
      !status.ok())
    return status;
  return forEachPeer([&](size_t peer) {
    return channel.data.send(result + pieces[channel.place].offset, pieces[channel.place].bytes,
                             static_cast<int>(peer), kPieceTag, channel.communicator);
  });
}

} // namespace weft
