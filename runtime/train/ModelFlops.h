//===- ModelFlops.h - What a step must compute ----------------------------===//
//
// mfu is the model's floating-point operations per second over the peak of the machine. The model's
// operations are those that any implementation must do: products of the forward pass once and of the backward
// pass twice; nothing that is recomputed, and nothing element-wise (PaLM, arXiv:2204.02311, appendix B). The
// peak is not looked up but measured at the start: the best rate of a large product on the job's own threads.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TRAIN_MODELFLOPS_H
#define WEFT_RUNTIME_TRAIN_MODELFLOPS_H

#include "runtime/config/Config.h"
#include "runtime/executable/Executable.h"

#include <optional>
#include <vector>

namespace weft {

/// Operations of forward and backward per token of a sequence of data.sequence_length:
///
///   6 (P - E) + 12 H D (K1 + ... + KL)
///
/// P: trainable elements in matrices, biases not counted; E: those that are looked up, which is no product:
/// learned positions, and the token embedding unless it is also the output layer. The second term is
/// attention in H heads of D: two products of 2 H D operations with each key that a query sees, three times
/// for forward and backward. K is their average in a layer: T/2 of T tokens under the causal mask, W - W^2 /
/// 2T in a window of W. None for a program written by hand: its attention is not known.
std::optional<double> modelFlopsPerToken(const Config &config, const std::vector<Executable> &parts);

} // namespace weft

#endif // WEFT_RUNTIME_TRAIN_MODELFLOPS_H
