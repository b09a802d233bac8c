//===- LowerBound.cpp - What no schedule can beat -------------------------===//
//
// f, b, w: times of a chunk's actions; c: of a transfer; m microbatches, p ranks, at most L held. Below, the
// round trip from stage s to stage t is the time that a forward takes from s to t and its cotangent back to
// s: (t - s)(f + b), and 2c wherever two stages in a row are on different ranks.
//
// 1. A rank works m(f + b + w) for each chunk.
//
// With one chunk a rank (stage r on rank r), D = the round trip from r to the last stage:
//
// 2. The first backward on r belongs to a forward on r, and starts at least D after that ends. Until then r
//    has nothing but forwards, at most min(L, m), one of which ends when D begins: it idles for at least
//    D - (min(L, m) - 1) f.
// 3. From the end of the last forward on r to its backward pass at least D. In between r has no forwards,
//    and backwards of the others that it holds, at most min(L, m) - 1: it idles for at least
//    D - (min(L, m) - 1)(b + w).
//    If m > L, some forward comes after the first backward, so 2 and 3 speak of different times: both count.
// 4. Take a stage t behind the first stage s of a rank. Nothing of t starts before its input has come from
//    the first action of s; t then runs m forwards, m backwards and, since it holds at most L when the last
//    forward starts, at least m - L weight gradients, and idles as 2 and 3 say; its last backward must come
//    back to s, and a weight gradient there remains. With several chunks a rank, t's rank may hold other
//    chunks, so only the forwards and backwards count.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/LowerBound.h"

#include <algorithm>

namespace weft::schedules {
namespace {

class Bound {
public:
  Bound(const PipelineSchedule &shape, const ActionTimes &times, int heldLimit)
      : shape(shape), transfer(times.transfer), f(times.of(ActionKind::Forward, shape.chunks)),
        b(times.of(ActionKind::BackwardInput, shape.chunks)),
        w(times.of(ActionKind::BackwardWeight, shape.chunks)), m(shape.microbatches),
        held(std::min(std::max(heldLimit, 1), m)) {}

  double best() const {
    const double work = m * (f + b + w) * shape.chunks;
    double bound = work;
    const int last = shape.stages() - 1;
    // A rank's first stage has the longest way before it; that of rank 0 has the longest of all.
    for (int behind = 0; behind <= last; ++behind) {
      const bool isAlone = shape.chunks == 1;
      const double inside = m * (f + b) + (isAlone ? (m - held) * w + idle(roundTrip(behind, last)) : 0);
      bound = std::max(bound, roundTrip(0, behind) + inside + w);
    }
    if (shape.chunks == 1)
      bound = std::max(bound, work + idle(roundTrip(0, last)));
    return bound;
  }

private:
  double roundTrip(int from, int to) const {
    int hops = 0;
    // Stages in a row share a rank only at the turn of a V, or when there is one rank.
    for (int stage = from; stage < to; ++stage)
      hops += shape.rankOf(stage) != shape.rankOf(stage + 1);
    return (to - from) * (f + b) + 2 * hops * transfer;
  }

  /// Observations 2 and 3.
  double idle(double trip) const {
    const double start = std::max(0.0, trip - (held - 1) * f);
    const double end = std::max(0.0, trip - (held - 1) * (b + w));
    return m > held ? start + end : std::max(start, end);
  }

  const PipelineSchedule &shape;
  double transfer, f, b, w;
  int m, held; ///< held: what a rank can hold at most
};

} // namespace

double spanLowerBound(const PipelineSchedule &shape, const ActionTimes &times, int heldLimit) {
  return Bound(shape, times, heldLimit).best();
}

} // namespace weft::schedules
