#include "passes/memory/OffsetAssignment.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
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
  explicit Rows(int64_t &looks) : looks(looks) {}

  /// The lowest offset at which `lifetime` has room.
  int64_t lowestGap(const Lifetime &lifetime) {
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
  int64_t topBeside(const Row &row, const Lifetime &lifetime) {
    int64_t top = 0;
    ++looks;
    for (auto next = llvm::upper_bound(row, lifetime.end, beginsBehind); next != row.begin();) {
      --next;
      if (next->end < lifetime.begin)
        break;
      top = std::max(top, next->top);
      ++looks;
    }
    return top;
  }

  int64_t &looks; ///< counts them
  std::vector<int64_t> starts;
  std::vector<Row> rows;
};

using Order = llvm::SmallVector<size_t>;

/// An order, and what comes of it when each buffer in turn takes the lowest gap that fits.
struct Placed {
  Order order;
  llvm::SmallVector<int64_t> offsets;
  int64_t peakBytes = 0;
  size_t firstOrder = 0; ///< of kOrders
};

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

/// Places the buffers in the order of `placed`. Gives up, with false, where the peak gets above `peakLimit`,
/// or `work`, to which it adds the rows and buffers that it looks at, above `workLimit`.
bool place(llvm::ArrayRef<Lifetime> lifetimes, int64_t peakLimit, Placed &placed, int64_t &work,
           int64_t workLimit) {
  placed.offsets.assign(lifetimes.size(), 0);
  placed.peakBytes = 0;
  Rows rows(work);
  for (size_t index : placed.order) {
    const Lifetime &own = lifetimes[index];
    if (own.bytes == 0)
      continue;
    const int64_t offset = placed.offsets[index] = rows.lowestGap(own);
    placed.peakBytes = std::max(placed.peakBytes, offset + own.bytes);
    if (placed.peakBytes > peakLimit || work > workLimit)
      return false;
    rows.add(own, offset);
  }
  return true;
}

/// What comes first: the lower key, then who begins first.
using OrderKey = std::pair<int64_t, int64_t> (*)(const Lifetime &);
int64_t lengthOf(const Lifetime &buffer) { return buffer.end - buffer.begin + 1; }
constexpr OrderKey kOrders[] = {
    [](const Lifetime &buffer) { return std::pair(-buffer.bytes, int64_t{0}); },
    [](const Lifetime &buffer) { return std::pair(buffer.begin, int64_t{0}); },
    [](const Lifetime &buffer) { return std::pair(-lengthOf(buffer), int64_t{0}); },
    [](const Lifetime &buffer) {
      return std::pair(-lengthOf(buffer) * (buffer.bytes / kPlaceAlignment), int64_t{0});
    },
    // What lives about as long, within a power of two, by size.
    [](const Lifetime &buffer) {
      return std::pair(-static_cast<int64_t>(llvm::Log2_64(lengthOf(buffer))), -buffer.bytes);
    },
};

/// What the search from one of kOrders looks at, rows and buffers in them: what bounds its time, and is the
/// same on every machine.
constexpr int64_t kWork = 10'000'000;

/// A local search over orders, from `best` on. A buffer that reaches the peak is tried earlier, or one that
/// lives with it anywhere. What is no worse is kept, so the search leaves plateaus: of equal peaks, the less
/// all buffers together reach above the goal, the better.
class Search {
public:
  Search(llvm::ArrayRef<Lifetime> lifetimes, Placed &best, int64_t goal)
      : lifetimes(lifetimes), best(best), goal(goal) {}

  void run() {
    Placed next = best;
    int64_t excess = excessOf(best), work = 0;
    while (work < kWork && best.peakBytes > goal) {
      const size_t highest = drawHighest();
      const bool movesHighest = random() % 2 == 0;
      const size_t from = movesHighest ? highest : drawBeside(lifetimes[best.order[highest]]);
      const size_t to = random() % (movesHighest ? from + 1 : best.order.size());
      work += static_cast<int64_t>(best.order.size());
      if (from == to)
        continue;
      next.order = best.order;
      move(next.order, from, to);
      if (!place(lifetimes, best.peakBytes, next, work, kWork) ||
          (next.peakBytes == best.peakBytes && excessOf(next) > excess))
        continue;
      std::swap(best, next);
      excess = excessOf(best);
    }
  }

private:
  int64_t excessOf(const Placed &placed) const {
    int64_t excess = 0;
    for (auto [buffer, offset] : llvm::zip_equal(lifetimes, placed.offsets))
      excess += std::max<int64_t>(0, offset + buffer.bytes - goal);
    return excess;
  }

  static void move(Order &order, size_t from, size_t to) {
    const auto begin = order.begin();
    if (from < to)
      std::rotate(begin + from, begin + from + 1, begin + to + 1);
    else
      std::rotate(begin + to, begin + from, begin + from + 1);
  }

  /// Where in the order a buffer stands that is drawn from those for which `isIn` holds, with equal chances.
  size_t draw(llvm::function_ref<bool(size_t)> isIn) {
    size_t found = 0, count = 0;
    for (auto [position, index] : llvm::enumerate(best.order))
      if (isIn(index) && random() % ++count == 0)
        found = position;
    return found;
  }
  size_t drawHighest() {
    return draw([&](size_t index) { return best.offsets[index] + lifetimes[index].bytes == best.peakBytes; });
  }
  size_t drawBeside(const Lifetime &other) {
    return draw([&](size_t index) { return lifetimes[index].overlaps(other); });
  }

  llvm::ArrayRef<Lifetime> lifetimes;
  Placed &best;
  int64_t goal;
  std::minstd_rand random{1};
};
} // namespace

OffsetPlan assignOffsets(llvm::ArrayRef<Lifetime> lifetimes) {
  OffsetPlan plan;
  findLowerBound(lifetimes, plan);
  const int64_t goal = plan.lowerBound + plan.lowerBound / kCloseEnough;
  std::vector<Placed> found;
  for (OrderKey key : kOrders) {
    Placed &placed = found.emplace_back();
    placed.firstOrder = found.size() - 1;
    placed.order = llvm::to_vector(llvm::seq<size_t>(0, lifetimes.size()));
    llvm::sort(placed.order, [&](size_t a, size_t b) {
      return std::tuple(key(lifetimes[a]), lifetimes[a].begin, a) <
             std::tuple(key(lifetimes[b]), lifetimes[b].begin, b);
    });
    int64_t work = 0;
    place(lifetimes, kNoLimit, placed, work, kNoLimit);
    if (placed.peakBytes <= goal)
      break;
  }
  auto isLower = [](const Placed &a, const Placed &b) {
    return std::pair(a.peakBytes, a.firstOrder) < std::pair(b.peakBytes, b.firstOrder);
  };
  std::sort(found.begin(), found.end(), isLower);
  for (Placed &start : found) {
    if (found.front().peakBytes <= goal)
      break;
    Search(lifetimes, start, goal).run();
    if (isLower(start, found.front()))
      std::swap(start, found.front());
  }
  plan.offsets = std::move(found.front().offsets);
  plan.peakBytes = found.front().peakBytes;
  return plan;
}

} // namespace weft
