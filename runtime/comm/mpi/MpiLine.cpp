#include "runtime/comm/mpi/MpiLine.h"

#include "runtime/comm/CallText.h"

namespace weft {

/// Beside the first meetings, which have the tag 1.
static constexpr int kSenderTag = 2, kReceiverTag = 3, kBytesTag = 4;

/// This rank's wait for messages of a transfer.
class MpiLineEnd::Wait final : public MpiWait {
public:
  Wait(const MpiLineEnd &end, const CallHeader &header) : end(end), header(header) {}
  std::string describe() const override {
    return describeCall(header.call(), header.number, end.members, end.members.size());
  }
  std::vector<int> missing() const override { return {end.peer}; }

private:
  const MpiLineEnd &end;
  const CallHeader &header;
};

absl::Status MpiLineEnd::begin(MpiGroup &group, const CollectiveCall &call, void *memory) {
  const CallHeader header = CallHeader::of(call, begun + 1);
  if (absl::Status status = group.enter(call, header.number, members, Wait(*this, header), true);
      !status.ok())
    return status;
  absl::Status status;
  {
    std::lock_guard<std::mutex> lock(mpiLock());
    if (spare.empty())
      spare.push_back(std::make_unique<Transfer>(options.chunkBytes));
    underWay.push_back(std::move(spare.back()));
    spare.pop_back();
    ++begun;
    underWay.back()->own = header;
    status = post(*underWay.back(), memory);
  }
  if (status.ok() && sends)
    group.count(call);
  group.exit(status, true);
  return status;
}

absl::Status MpiLineEnd::post(Transfer &transfer, void *memory) {
  constexpr int bytes = sizeof(CallHeader);
  if (options.checksCalls) {
    if (absl::Status status = transfer.words.receiveWhole(&transfer.theirs, bytes, peer,
                                                          sends ? kReceiverTag : kSenderTag, communicator);
        !status.ok())
      return status;
    if (absl::Status status = transfer.words.sendWhole(&transfer.own, bytes, peer,
                                                       sends ? kSenderTag : kReceiverTag, communicator);
        !status.ok())
      return status;
  }
  return sends ? transfer.data.sendMet(memory, transfer.own.bytes, peer, kBytesTag, communicator)
               : transfer.data.receive(memory, transfer.own.bytes, peer, kBytesTag, communicator);
}

absl::Status MpiLineEnd::finish(MpiGroup &group) {
  CollectiveCall call;
  call.operation = CollectiveOp::Send;
  CallHeader header = CallHeader::of(call, begun + 1);
  if (!underWay.empty()) {
    header = underWay.front()->own;
    call = header.call();
  }
  if (absl::Status status = group.enter(call, header.number, members, Wait(*this, header), true);
      !status.ok())
    return status;
  absl::Status status = finishFirst(group);
  group.exit(status, true);
  return status;
}

absl::Status MpiLineEnd::finishFirst(MpiGroup &group) {
  if (underWay.empty()) {
    const absl::Status status = notBegun(group.rank(), begun + 1, members);
    group.failAll(status, true);
    return status;
  }
  Transfer &transfer = *underWay.front();
  const Wait wait(*this, transfer.own);
  if (options.checksCalls) {
    if (absl::Status status = group.wait(transfer.words, group.everyone(), wait); !status.ok())
      return status;
    if (absl::Status status = compare(transfer); !status.ok()) {
      group.failAll(status, true);
      return status;
    }
  }
  if (absl::Status status = group.wait(transfer.data, group.everyone(), wait); !status.ok())
    return status;
  spare.push_back(std::move(underWay.front()));
  underWay.erase(underWay.begin());
  return absl::OkStatus();
}

/// InvalidArgument when the ends differ: the same at both.
absl::Status MpiLineEnd::compare(const Transfer &transfer) const {
  if (transfer.own == transfer.theirs)
    return absl::OkStatus();
  const CollectiveCall own = transfer.own.call(), theirs = transfer.theirs.call();
  return differentEnds(sends ? own : theirs, sends ? theirs : own, transfer.own.number, members);
}

bool MpiLineEnd::abandon() {
  for (std::unique_ptr<Transfer> &transfer : underWay) {
    transfer->words.abandon();
    transfer->data.abandon();
  }
  // MPI may still send the headers: they stay where they are.
  return !underWay.empty();
}

} // namespace weft
