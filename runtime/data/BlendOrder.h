//===- BlendOrder.h - Which input gives the k-th sample -------------------===//
//
// Inputs are mixed by weight: of the first k samples, for every k, input i of share w gives more than k w - 1
// and fewer than k w + 1. So its j-th sample has a window of its own, [floor((j - 1) / w), ceil(j / w)), and
// an order is a choice of one sample for each place, each in its window. Serving the window that closes first
// finds one, but walks from the start; so places are cut into blocks, at whose borders the state is computed
// from the windows that are open there, and a block is filled when one of its samples is asked for. Which
// input gives sample k is a function of the weights and k alone. All numbers are exact: shares are ratios of
// integers, for weights are sums of powers of two.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_BLENDORDER_H
#define WEFT_RUNTIME_DATA_BLENDORDER_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

__extension__ typedef unsigned __int128 UInt128;

class BlendOrder {
public:
  /// Weights are positive and need not sum to 1; one below 2^-20 of their sum is refused. `key` names their
  /// list in messages.
  static absl::StatusOr<BlendOrder> create(std::span<const double> weights,
                                           const std::string &key = "data.train");

  struct Pick {
    int64_t input; ///< which input
    int64_t index; ///< samples of that input before this one
    bool operator==(const Pick &) const = default;
  };

  /// A stretch of consecutive samples. Whoever asks for one sample after the other keeps it.
  struct Block {
    int64_t number = -1;
    std::vector<int64_t> before; ///< samples of each input before the block
    std::vector<Pick> picks;
  };

  /// Sample `k` of the run, 0 <= k < 2^50; fills `block` if it holds other samples.
  Pick pick(int64_t k, Block &block) const;
  /// How many of the first `k` samples each input gives.
  std::vector<int64_t> counts(int64_t k) const;

private:
  BlendOrder(std::vector<UInt128> parts, UInt128 whole);

  /// Sample `j` (from 1) of an input: the first place that it may take, and the first that is too late.
  int64_t release(size_t input, int64_t j) const;
  int64_t deadline(size_t input, int64_t j) const;
  std::vector<int64_t> countsAtBorder(int64_t place) const;
  void fill(Block &block, int64_t number) const;

  std::vector<UInt128> parts; ///< the share of input i is parts[i] / whole
  UInt128 whole;
  int64_t blockLength;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_BLENDORDER_H
