#include "kernels/common/ComputePlace.h"

#include "kernels/common/PlaceProcessors.h"
#include "kernels/common/ThreadPool.h"

namespace weft {
namespace {

thread_local ComputePlace *current = nullptr;

/// So long a rank computes while others wait: long against what a change of rank costs its caches, short
/// against a step, so that ranks of equal work come to their meetings together.
constexpr std::chrono::milliseconds kTurn(10);

} // namespace

ComputePlace::ComputePlace(ThreadPool &pool) : pool(pool), outer(current) { current = this; }

ComputePlace::~ComputePlace() {
  giveBack();
  current = outer;
  if (outer == nullptr)
    PlaceProcessors::leave();
}

ComputePlace *ComputePlace::ofThisThread() { return current; }

void ComputePlace::giveBackOfThisThread() {
  if (current != nullptr)
    current->giveBack();
}

void ComputePlace::take() {
  if (has())
    return;
  last = place = pool.takePlace(last);
  pool.runInPlace(place);
  since = std::chrono::steady_clock::now();
}

void ComputePlace::giveBack() {
  if (has())
    pool.givePlaceBack(place);
  place = -1;
}

void ComputePlace::takeTurn() {
  if (has() && pool.arePlacesWanted() && std::chrono::steady_clock::now() - since >= kTurn)
    giveBack();
  take();
}

} // namespace weft
