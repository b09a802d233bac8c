#include "kernels/common/Places.h"

#include "kernels/common/Waiting.h"

namespace weft {

Places::Places(int count) {
  for (int place = 0; place < count; ++place)
    free.insert(place);
}

int Places::take(int last) {
  if (const int place = takeUnlessWanted(last); place >= 0)
    return place;
  std::unique_lock<std::mutex> lock(mutex);
  Waiter self;
  (first == nullptr ? first : end->next) = &self;
  end = &self;
  waiting.fetch_add(1);
  int place = -1;
  const auto isMine = [&] { return first == &self && (place = takeFree(last)) >= 0; };
  if (!isMine()) {
    lock.unlock();
    for (int i = 0; i < 64 && !free.any(); ++i) // who only looks for tiles gives its place back at once
      relax();
    lock.lock();
    self.turn.wait(lock, isMine);
  }
  first = self.next;
  waiting.fetch_sub(1);
  if (first != nullptr && free.any())
    first->turn.notify_one();
  return place;
}

void Places::giveBack(int place) {
  free.insert(place);
  if (!areWanted())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  if (first != nullptr)
    first->turn.notify_one();
}

} // namespace weft
