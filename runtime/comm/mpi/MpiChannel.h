//===- MpiChannel.h - A set of processes that meets -----------------------===//
//
// One MPI communicator and what a call over it needs. In a call every member sends each other member a header
// (what it calls) and, beside it, the bytes that the other reads; the headers are compared before a byte is
// used. Internal to runtime/comm/mpi.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_COMM_MPI_MPICHANNEL_H
#define WEFT_RUNTIME_COMM_MPI_MPICHANNEL_H

#include "runtime/comm/mpi/MpiGroup.h"

#include <array>

namespace weft {

/// A CollectiveCall as it travels: equal calls have equal bytes. A longer detail is cut off, which its
/// checksum makes up for.
struct CallHeader {
  static constexpr size_t kMostDetail = 456;

  uint64_t number = 0; ///< of the call in its channel
  int64_t bytes = 0, sent = 0;
  uint64_t detailChecksum = 0;
  uint32_t detailLength = 0; ///< of what is here
  uint8_t operation = 0;
  uint8_t hasType = 0, type = 0, unused = 0;
  std::array<char, kMostDetail> detail = {};

  static CallHeader of(const CollectiveCall &call, uint64_t number);
  /// Its detail is the header's.
  CollectiveCall call() const;
  bool operator==(const CallHeader &) const = default;
};

struct MpiChannel {
  MpiChannel(std::vector<int> ranks, int rank, MPI_Comm communicator, int64_t chunkBytes);

  const std::vector<int> members;
  const size_t place;              ///< of this rank
  MPI_Comm communicator;           ///< none for one member
  uint64_t opened = 0;             ///< calls that all have joined
  std::vector<CallHeader> headers; ///< by member
  MpiRequests words, data;
};

/// One member's end of a channel.
class MpiExchange final : public Exchange {
public:
  /// With `isKept`, failures are those of Communicator::exchangeStatus().
  MpiExchange(std::shared_ptr<MpiGroup> group, MpiChannel &channel, bool isKept);

  int member() const override { return static_cast<int>(channel.place); }
  int size() const override { return static_cast<int>(channel.members.size()); }
  bool packs() const override { return size() > 1; }
  absl::Status begin(const CollectiveCall &call, const Transfer &transfer,
                     const ExchangeMemory &memory) override;
  std::span<const void *const> sources() const override { return read; }
  absl::Status share(std::span<const Piece> pieces, ThreadPool *threads) override;
  void end() override { group->exit(absl::OkStatus(), isKept); }

private:
  class Wait;

  absl::Status exchangeAll(const CollectiveCall &call, const Transfer &transfer,
                           const ExchangeMemory &memory);
  absl::Status postHeaders();
  absl::Status postOperands(const Transfer &transfer, const ExchangeMemory &memory);
  absl::Status postPieces(std::span<const Piece> pieces);
  absl::Status compareHeaders() const;
  template <typename See> absl::Status forEachPeer(const See &see) const;

  std::shared_ptr<MpiGroup> group;
  MpiChannel &channel; ///< lives as long as the group
  bool isKept;
  std::vector<const void *> read; ///< sources()
  // Of the call at hand.
  CallHeader current;
  std::byte *result = nullptr;
};

} // namespace weft

#endif // WEFT_RUNTIME_COMM_MPI_MPICHANNEL_H
