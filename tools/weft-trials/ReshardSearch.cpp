#include "tools/weft-trials/ReshardSearch.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

namespace weft::trials {
namespace {

bool contains(const std::vector<int> &axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

bool isReplicatedOver(const Whereabouts &at, int axis) {
  return !contains(at.sum, axis) && !contains(at.max, axis) && !contains(at.lse, axis) &&
         !contains(at.tree, axis) &&
         std::none_of(at.splits.begin(), at.splits.end(),
                      [&](const std::vector<int> &split) { return contains(split, axis); });
}

class Search {
public:
  Search(const std::vector<int64_t> &axisSizes, const std::vector<int64_t> &shape, int64_t elementBytes,
         const Whereabouts &from, const Whereabouts &to)
      : axisSizes(axisSizes), shape(shape), elementBytes(elementBytes), from(from), to(to) {}

  double run() {
    offer(from, 0);
    while (!queue.empty()) {
      auto [bytes, here] = queue.top();
      queue.pop();
      if (bytes > best.at(here))
        continue;
      if (here == to)
        return bytes;
      leaveDimensions(here, bytes);
      reduce(here, bytes, &Whereabouts::sum);
      reduce(here, bytes, &Whereabouts::max);
      reduce(here, bytes, &Whereabouts::lse);
      reduceTree(here, bytes);
      split(here, bytes);
    }
    return -1;
  }

private:
  using Entry = std::pair<double, Whereabouts>;

  double partBytes(const Whereabouts &at) const {
    auto bytes = static_cast<double>(elementBytes);
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t size = shape[d];
      for (int axis : at.splits[d])
        size = (size + axisSizes[axis] - 1) / axisSizes[axis];
      bytes *= static_cast<double>(size);
    }
    return bytes;
  }

  /// What a rank of a ring of n sends of one unit: (n - 1) / n.
  double ring(const std::vector<int> &axes) const {
    double ranks = 1;
    for (int axis : axes)
      ranks *= static_cast<double>(axisSizes[axis]);
    return (ranks - 1) / ranks;
  }

  void offer(const Whereabouts &next, double bytes) {
    auto [known, isNew] = best.try_emplace(next, bytes);
    if (!isNew && known->second <= bytes)
      return;
    known->second = bytes;
    queue.push({bytes, next});
  }

  void leaveDimensions(const Whereabouts &here, double bytes) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (here.splits[d].empty())
        continue;
      int axis = here.splits[d].back();
      Whereabouts gathered = here;
      gathered.splits[d].pop_back();
      if (gathered.splits[d].empty())
        gathered.zigzag[d] = false;
      offer(gathered, bytes + ring({axis}) * partBytes(gathered));
      for (size_t other = 0; other < shape.size(); ++other)
        if (other != d)
          offerSplit(gathered, other, axis, bytes + ring({axis}) * partBytes(here));
    }
  }

  /// The axis may split a whole dimension in either way; in zigzag only what divides.
  void offerSplit(const Whereabouts &here, size_t d, int axis, double bytes) {
    for (bool zigzag : {false, true}) {
      if (!here.splits[d].empty() && zigzag != here.zigzag[d])
        continue;
      Whereabouts next = here;
      next.splits[d].push_back(axis);
      next.zigzag[d] = zigzag;
      if (!zigzag || dividesInZigzag(next, d))
        offer(next, bytes);
    }
  }

  bool dividesInZigzag(const Whereabouts &at, size_t d) const {
    int64_t chunks = 2;
    for (int axis : at.splits[d])
      chunks *= axisSizes[axis];
    return shape[d] % chunks == 0;
  }

  void reduce(const Whereabouts &here, double bytes, std::vector<int> Whereabouts::*kind) {
    const std::vector<int> &pending = here.*kind;
    for (uint32_t subset = 1; subset < (1u << pending.size()); ++subset) {
      std::vector<int> axes;
      Whereabouts reduced = here;
      (reduced.*kind).clear();
      for (size_t i = 0; i < pending.size(); ++i)
        ((subset >> i) & 1u ? axes : reduced.*kind).push_back(pending[i]);
      offer(reduced, bytes + 2 * ring(axes) * partBytes(here));
      for (size_t d = 0; d < shape.size() && axes.size() == 1; ++d)
        offerSplit(reduced, d, axes[0], bytes + ring(axes) * partBytes(here));
    }
  }

  /// The minor axes first, in their order; several go to one dimension where they cut it evenly.
  void reduceTree(const Whereabouts &here, double bytes) {
    for (size_t kept = 0; kept < here.tree.size(); ++kept) {
      std::vector<int> axes(here.tree.begin() + static_cast<ptrdiff_t>(kept), here.tree.end());
      Whereabouts reduced = here;
      reduced.tree.resize(kept);
      offer(reduced, bytes + 2 * ring(axes) * partBytes(here));
      for (size_t d = 0; d < shape.size(); ++d) {
        int64_t size = shape[d], parts = 1;
        for (int axis : here.splits[d])
          size = (size + axisSizes[axis] - 1) / axisSizes[axis];
        for (int axis : axes)
          parts *= axisSizes[axis];
        if (axes.size() > 1 && size % parts != 0)
          continue;
        Whereabouts scattered = reduced;
        scattered.splits[d].insert(scattered.splits[d].end(), axes.begin(), axes.end());
        if (scattered.zigzag[d] && !dividesInZigzag(scattered, d))
          continue;
        offer(scattered, bytes + ring(axes) * partBytes(here));
      }
    }
  }

  void split(const Whereabouts &here, double bytes) {
    for (int axis = 0; axis < static_cast<int>(axisSizes.size()); ++axis) {
      bool isIdle = isReplicatedOver(from, axis) && isReplicatedOver(to, axis);
      if (isIdle || !isReplicatedOver(here, axis))
        continue;
      for (size_t d = 0; d < shape.size(); ++d)
        offerSplit(here, d, axis, bytes);
      Whereabouts pending = here;
      pending.sum.insert(std::upper_bound(pending.sum.begin(), pending.sum.end(), axis), axis);
      offer(pending, bytes);
    }
  }

  const std::vector<int64_t> &axisSizes, &shape;
  int64_t elementBytes;
  const Whereabouts &from, &to;
  std::map<Whereabouts, double> best;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
};

} // namespace

double fewestBytes(const std::vector<int64_t> &axisSizes, const std::vector<int64_t> &shape,
                   int64_t elementBytes, const Whereabouts &from, const Whereabouts &to) {
  return Search(axisSizes, shape, elementBytes, from, to).run();
}

} // namespace weft::trials
