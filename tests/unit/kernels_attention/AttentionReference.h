//===- AttentionReference.h - Attention by its definition, in float64 -----===//
//
// Straightforward loops over every (query, key) pair: what the blocked kernels are held against.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_KERNELS_ATTENTION_ATTENTIONREFERENCE_H
#define WEFT_TESTS_UNIT_KERNELS_ATTENTION_ATTENTIONREFERENCE_H

#include "KernelHarness.h"

#include <string>

namespace weft::cpu {

/// Where the queries are among the keys. `Given` as operands: those of a rank that holds the second of two
/// parts, the middle two of four chunks, or the positions in any order.
enum class Positions : uint8_t { Implied, SecondPart, MiddleChunks, Shuffled };

struct AttentionCase {
  std::string name = {};
  int64_t batch = 1, queries = 1, keys = 1, heads = 1, groups = 1, depth = 1, width = 1;
  DType type = DType::F32;
  bool causal = false;
  int64_t window = 0;
  double softcap = 0;
  bool segments = false, sinks = false;
  Positions positions = Positions::Implied;
  double spread = 1;            ///< standard deviation of q and k
  double scale = 0;             ///< 0: 1 / sqrt(depth)
  int64_t distinctSegments = 0; ///< 0: no segment returns after another

  DType statistics() const { return type == DType::F64 ? DType::F64 : DType::F32; }
  double scaleInUse() const;
  KernelCall forwardCall() const;
  KernelCall backwardCall() const;
};

inline void PrintTo(const AttentionCase &c, std::ostream *out) { *out << c.forwardCall().str(); }

/// Seven queries and nine keys, causal.
AttentionCase smallAttention();

/// q, k, v, [segments_q, segments_k], [positions_q, positions_k], [sinks], random but for the seed.
std::vector<Tensor> attentionOperands(const AttentionCase &c, uint64_t seed);

struct AttentionForwardValues {
  std::vector<double> output, lse;
  std::vector<double> outputTerms; ///< for each element of output the sum of its terms' magnitudes
};
AttentionForwardValues referenceAttention(const AttentionCase &c, const std::vector<Tensor> &operands);

struct AttentionGradients {
  std::vector<double> query, key, value, sinks;
  std::vector<double> queryTerms, keyTerms, valueTerms; ///< sums of the terms' magnitudes
};
/// Gradients of sum(outputGradient * output).
AttentionGradients referenceAttentionBackward(const AttentionCase &c, const std::vector<Tensor> &operands,
                                              const std::vector<double> &outputGradient);

} // namespace weft::cpu

#endif // WEFT_TESTS_UNIT_KERNELS_ATTENTION_ATTENTIONREFERENCE_H
