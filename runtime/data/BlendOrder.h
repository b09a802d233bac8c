//===- BlendOrder.h - Which input gives the k-th sample -------------------===//
//
// Inputs are mixed by weight, evenly: of any window of the run, each input has its share, up to a few
// samples. In a round of 65,536 samples input d gets exactly its share of slots; sample k takes the slot
// whose number is k with its 16 bits reversed (the van der Corput sequence), and how many of the slots before
// k belong to d follows from the same bits. So k maps to (input, how many samples of that input came before)
// without a table and without a walk from the start.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_DATA_BLENDORDER_H
#define WEFT_RUNTIME_DATA_BLENDORDER_H

#include "absl/status/statusor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

class BlendOrder {
public:
  /// Weights are positive and need not sum to 1. Shares are rounded to 1/65536; a weight below half of that
  /// is refused.
  static absl::StatusOr<BlendOrder> create(std::span<const double> weights);

  struct Pick {
    int64_t input; ///< which input
    int64_t index; ///< samples of that input before this one
    bool operator==(const Pick &) const = default;
  };
  /// Sample `k` >= 0 of the run.
  Pick pick(int64_t k) const;

private:
  /// borders[d] .. borders[d + 1] - 1 are the slots of input d.
  explicit BlendOrder(std::vector<uint32_t> borders) : borders(std::move(borders)) {}
  std::vector<uint32_t> borders;
};

} // namespace weft

#endif // WEFT_RUNTIME_DATA_BLENDORDER_H
