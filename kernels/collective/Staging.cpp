#include "kernels/collective/Staging.h"

namespace weft::collective {

absl::StatusOr<Staging> Staging::of(const KernelCall &call, int64_t rows, int64_t rowBytes) {
  constexpr int64_t kMostRanks = int64_t{1} << 24;
  const int64_t ranks = call.has("staged") ? call.integerOr("staged", 0) : 1;
  if (ranks < 1 || ranks > kMostRanks)
    return invalidCall(call, "staged ", ranks, " is no number of ranks");
  Staging staging{ranks, rows, rowBytes};
  // Sizes of types are below 2^48 elements: what a rank reads of all is checked before it is multiplied.
  constexpr int64_t kMostBytes = int64_t{1} << 56;
  if (staging.slotBytes() > kMostBytes / (2 * ranks))
    return invalidCall(call, "staged for ", ranks, " ranks it needs more than 2^56 bytes");
  return staging;
}

int64_t Staging::slotBytes() const {
  constexpr int64_t kAlignment = 64;
  return (rows * rowBytes + kAlignment - 1) / kAlignment * kAlignment;
}

int64_t Staging::workspaceBytes() const {
  if (ranks == 1)
    return 0;
  return (rows == 1 ? ranks - 1 : 2 * ranks - 1) * slotBytes();
}

Transfer Staging::place(std::vector<Region> reads, std::vector<Region> sends, int64_t own) const {
  Transfer transfer;
  const int64_t members = static_cast<int64_t>(reads.size()), slot = slotBytes();
  for (int64_t member = 0; member < members; ++member) {
    // Peers first, without a gap where this member would be; its own slot is the last of those that land.
    const int64_t peer = member < own ? member : member - 1;
    transfer.landings.push_back((member == own ? members - 1 : peer) * slot);
    if (rows > 1)
      transfer.packings.push_back(member == own ? 0 : (members + peer) * slot);
  }
  transfer.reads = std::move(reads);
  transfer.sends = std::move(sends);
  return transfer;
}

absl::Status expectStaging(const KernelCall &call, const Exchange &exchange) {
  const int64_t staged = call.integerOr("staged", 1);
  if (call.has("staged") && staged != exchange.size())
    return invalidCall(call, "it is staged for ", staged, " ranks, and its group has ", exchange.size());
  if (exchange.packs() && !call.has("staged"))
    return absl::FailedPreconditionError(
        absl::StrCat("kernel ", call.name,
                     ": the plan has no memory for what other processes send, because the program was "
                     "compiled with launch.comm: local. Compile it with launch.comm: auto or mpi"));
  return absl::OkStatus();
}

} // namespace weft::collective
