//===- Random.h - What trials are drawn from --------------------------------===//
//
// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): a trial is
// a function of one 64-bit number, on every machine, so that a failure is repeated by its seed.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_RANDOM_H
#define WEFT_TOOLS_WEFT_TRIALS_RANDOM_H

#include "runtime/support/InitialValues.h"

#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace weft::trials {

class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In [low, high], both included.
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  /// In (0, 1).
  double unit() { return (static_cast<double>(next() >> 32) + 0.5) * 0x1p-32; }
  double real(double low, double high) { return low + (high - low) * unit(); }
  double normal() { return normalQuantile(unit()); }
  bool chance(double probability) { return unit() < probability; }
  template <typename T> T choose(std::initializer_list<T> list) { return chooseFrom(list); }
  template <typename List> auto chooseFrom(const List &list) {
    return *std::next(std::begin(list), integer(0, static_cast<int64_t>(std::size(list)) - 1));
  }

private:
  uint64_t state;
};

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_RANDOM_H
