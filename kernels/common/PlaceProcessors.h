//===- PlaceProcessors.h - Each place of a pool on its processor ----------===//
//
// Where a pool has as many places as its process has processors, each place is one of them: whoever takes the
// place runs there. Ranks wake each other thousands of times a step, and a system that thinks it spares a
// migration lets two of them share a processor while another idles. A pool of another size leaves it to the
// system. Internal to the pool.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_PLACEPROCESSORS_H
#define WEFT_KERNELS_COMMON_PLACEPROCESSORS_H

#include <vector>

namespace weft {

class PlaceProcessors {
public:
  explicit PlaceProcessors(int places);
  /// The calling thread runs on the processor of this place.
  void run(int place) const;
  /// The calling thread may run where it might before it took places.
  static void leave();

private:
  std::vector<int> processors; ///< by place; none where the system decides
};

} // namespace weft

#endif // WEFT_KERNELS_COMMON_PLACEPROCESSORS_H
