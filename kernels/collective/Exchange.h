//===- Exchange.h - Members of a group read each other's operands ---------===//
//
// What a collective kernel runs on. A call goes begin -> (share) -> end. With begin() a member says what it
// reads of every other member's operand, and what they read of its own; where begin() returns, all of it can
// be read at sources(). Members that are threads of one address space read it where it is, and nothing is
// moved; members in processes of their own have it brought into memory that the kernel provides, and its
// rows then lie packed. A kernel is created for one of the two (packs()) and runs the same code on both.
//
// A begin() or share() that fails leaves word in RankContext::status(), and the kernel returns.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_EXCHANGE_H
#define WEFT_KERNELS_COLLECTIVE_EXCHANGE_H

#include "kernels/collective/Traffic.h"
#include "kernels/common/ThreadPool.h"
#include "kernels/common/Types.h"

#include "absl/status/status.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace weft {

/// What all members of a group must call alike; two calls are the same when all of it is equal. Whoever calls
/// begin() keeps `detail` alive until it returns.
struct CollectiveCall {
  CollectiveOp operation = CollectiveOp::Barrier;
  std::optional<DType> type; ///< none: bytes without a meaning
  int64_t bytes = 0;         ///< of the operand
  int64_t sent = 0;          ///< what this call counts in Traffic
  std::string_view detail;   ///< whatever else must agree: kind, dimension, types, location in the program
  bool operator==(const CollectiveCall &) const = default;
};

/// Bytes of an operand: `rows` rows of `bytes`, `stride` apart, from `offset`. One row has no stride.
struct Region {
  int64_t offset = 0;
  int64_t rows = 1;
  int64_t stride = 0;
  int64_t bytes = 0;

  int64_t total() const { return rows * bytes; }
  bool operator==(const Region &) const = default;
};

/// What a call reads, as one member sees it. Lists have an entry for each member, or none where nothing is
/// read. All that is read has one number of rows and one stride.
struct Transfer {
  std::vector<Region> reads; ///< of each member's operand
  std::vector<Region> sends; ///< what each member reads of this one's operand
  /// For exchanges that pack, in bytes from the start of the workspace: where what is read of each member
  /// goes, and where rows are packed for each. An exchange does not touch the entry of its own member,
  /// unless there are several rows.
  std::vector<int64_t> landings;
  std::vector<int64_t> packings; ///< none where there is one row
  bool landsInResult = false;    ///< landings are places in the result instead
};

/// A member's memory in one call.
struct ExchangeMemory {
  const void *operand = nullptr;
  void *result = nullptr;
  void *workspace = nullptr; ///< for exchanges that pack
};

/// A stretch of the result that one member has computed.
struct Piece {
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// One member's end of a group. Members make their calls one at a time, in the same order.
class Exchange {
public:
  virtual ~Exchange() = default;
  /// This member's place in the group, and the number of members.
  virtual int member() const = 0;
  virtual int size() const = 0;
  /// Whether what is read is brought here, rows packed; else it is read where it is, and there are neither
  /// landings nor packings.
  virtual bool packs() const = 0;

  /// Waits for all members, and for what this one reads. InvalidArgument, naming both sides, on all members
  /// when two of them call differently, or wait for each other in different groups; Unavailable when one of
  /// them has left. No allocation by our code after the first call, unless it fails.
  virtual absl::Status begin(const CollectiveCall &call, const Transfer &transfer,
                             const ExchangeMemory &memory) = 0;
  /// Where the first byte that is read of each member is, in the order of the group; until share() or end().
  virtual std::span<const void *const> sources() const = 0;
  /// Piece m of the result, computed by member m since begin(), becomes that of all. Every member gives the
  /// same pieces. Without threads, the caller's copies.
  virtual absl::Status share(std::span<const Piece> pieces, ThreadPool *threads) = 0;
  /// The call is over: peers read this member's memory no longer.
  virtual void end() = 0;
};

} // namespace weft

#endif // WEFT_KERNELS_COLLECTIVE_EXCHANGE_H
