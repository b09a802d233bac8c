#include "passes/memory/OffsetAssignment.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

namespace weft {
namespace {
/// The most bytes live at once, and at which command.
void findLowerBound(llvm::ArrayRef<Lifetime> lifetimes, OffsetPlan &plan) {
  std::map<int64_t, int64_t> changes;
  for (const Lifetime &lifetime : lifetimes) {
    changes[lifetime.begin] += lifetime.bytes;
    changes[lifetime.end + 1] -= lifetime.bytes;
  }
  int64_t live = 0;
  for (auto [command, change] : changes) {
    live += change;
    if (live > plan.lowerBound)
      plan.lowerBound = live, plan.peakCommand = command;
  }
}

/// The buffers placed so far, by offset. Those at one offset share their first byte, so no two of them live
/// together.
class Rows {
public:
  /// The lowest offset at which `lifetime` has room.
  int64_t lowestGap(const Lifetime &lifetime) const {
    int64_t offset = 0;
    for (size_t row = 0; row < starts.size() && starts[row] < offset + lifetime.bytes; ++row)
      offset = std::max(offset, topBeside(rows[row], lifetime));
    return offset;
  }

  void add(const Lifetime &lifetime, int64_t offset) {
    const auto start = llvm::lower_bound(starts, offset);
    const auto index = start - starts.begin();
    if (start == starts.end() || *start != offset) {
      starts.insert(start, offset);
      rows.emplace(rows.begin() + index);
    }
    Row &row = rows[index];
    row.insert(llvm::upper_bound(row, lifetime.begin, beginsBehind),
               {lifetime.begin, lifetime.end, offset + lifetime.bytes});
  }

private:
  struct Entry {
    int64_t begin, end, top;
  };
  using Row = std::vector<Entry>; // by begin, and so by end
  static bool beginsBehind(int64_t command, const Entry &entry) { return command < entry.begin; }

  /// Where the last of those ends that live together with `lifetime`; 0 if none does.
  static int64_t topBeside(const Row &row, const Lifetime &lifetime) {
    int64_t top = 0;
    for (auto next = llvm::upper_bound(row, lifetime.end, beginsBehind); next != row.begin();) {
      --next;
      if (next->end < lifetime.begin)
        break;
      top = std::max(top, next->top);
    }
    return top;
  }

  std::vector<int64_t> starts;
  std::vector<Row> rows;
};

/// Each buffer in turn at the lowest gap that fits, as long as the peak is below that of `plan`, which then
/// has these offsets.
void placeInOrder(llvm::ArrayRef<Lifetime> lifetimes, llvm::ArrayRef<size_t> order, OffsetPlan &plan) {
  llvm::SmallVector<int64_t> offsets(lifetimes.size(), 0);
  int64_t peakBytes = 0;
  Rows rows;
  for (size_t index : order) {
    const Lifetime &own = lifetimes[index];
    if (own.bytes == 0)
      continue;
    const int64_t offset = offsets[index] = rows.lowestGap(own);
    peakBytes = std::max(peakBytes, offset + own.bytes);
    if (peakBytes >= plan.peakBytes)
      return;
    rows.add(own, offset);
  }
  plan.offsets = std::move(offsets);
  plan.peakBytes = peakBytes;
}

/// What comes first: the lower key, then who begins first.
using OrderKey = int64_t (*)(const Lifetime &);
constexpr OrderKey kOrders[] = {
    [](const Lifetime &buffer) { return -buffer.bytes; },
    [](const Lifetime &buffer) { return buffer.begin; },
    [](const Lifetime &buffer) { return buffer.begin - buffer.end; },
    [](const Lifetime &buffer) { return (buffer.begin - buffer.end - 1) * (buffer.bytes / kPlaceAlignment); },
};
} // namespace

OffsetPlan assignOffsets(llvm::ArrayRef<Lifetime> lifetimes) {
  OffsetPlan plan;
  findLowerBound(lifetimes, plan);
  plan.peakBytes = std::numeric_limits<int64_t>::max();
  auto order = llvm::to_vector(llvm::seq<size_t>(0, lifetimes.size()));
  for (OrderKey key : kOrders) {
    llvm::sort(order, [&](size_t a, size_t b) {
      return std::tuple(key(lifetimes[a]), lifetimes[a].begin, a) <
             std::tuple(key(lifetimes[b]), lifetimes[b].begin, b);
    });
    placeInOrder(lifetimes, order, plan);
    if (plan.peakBytes == plan.lowerBound)
      break;
  }
  return plan;
}

} // namespace weft
