//===- AttentionShape.h - What an attention call asks for -----------------===//
//
// The sizes, types and attributes of `attention` and `attention_backward`, read from a call and checked
// against the signature once, so that the kernels index without checks. Also which keys a query sees: the one
// place where causal, window and the offset between query and key positions are combined.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_ATTENTIONSHAPE_H
#define WEFT_KERNELS_CPU_ATTENTIONSHAPE_H

#include "kernels/common/KernelCall.h"

#include "absl/status/statusor.h"

#include <algorithm>
#include <limits>

namespace weft::cpu {

/// Keys, or positions of keys, [first, last); empty when last <= first.
struct KeyRange {
  int64_t first;
  int64_t last;
};

struct AttentionShape {
  int64_t batch = 0;
  int64_t queries = 0; ///< s
  int64_t keys = 0;    ///< t
  int64_t heads = 0;   ///< n
  int64_t groups = 0;  ///< g: heads h * n / g ... share one key and value head
  int64_t depth = 0;   ///< d, of queries and keys
  int64_t width = 0;   ///< e, of values and results
  double scale = 1;
  double softcap = 0; ///< 0: none
  int64_t window = 0; ///< 0: none
  bool causal = false;
  bool hasSegments = false;
  bool hasPositions = false; ///< else row i of the queries is at i + keys - queries, row j of the keys at j
  bool hasSinks = false;
  bool wide = false; ///< everything is f64, and computed so
  DType query = DType::F32, key = DType::F32, value = DType::F32, output = DType::F32;
  DType statistics = DType::F32; ///< of lse: f32, or f64 in a wide call
  DType sinks = DType::F32;      ///< f32, or f64 in a wide call

  int64_t headsPerGroup() const { return heads / groups; }
  /// True of queries, keys and values of bfloat16: what multiplies them is then rounded to it.
  bool ofBFloat16() const { return query == DType::BF16 && key == DType::BF16 && value == DType::BF16; }

  /// The positions that a query at `position` sees.
  KeyRange visiblePositions(int64_t position) const {
    return {window > 0 ? position - window + 1 : std::numeric_limits<int64_t>::min(),
            causal ? position + 1 : std::numeric_limits<int64_t>::max()};
  }

  /// Without positions: the keys that query `i` sees.
  KeyRange visibleKeys(int64_t i) const {
    KeyRange range = visiblePositions(i + keys - queries);
    return {std::max(range.first, int64_t(0)), std::min(range.last, keys)};
  }

  /// Without positions: the keys that at least one query of [first, last) sees.
  KeyRange visibleKeys(int64_t firstQuery, int64_t lastQuery) const {
    return {visibleKeys(firstQuery).first, visibleKeys(lastQuery - 1).last};
  }

  /// The sinks' place in a call whose first operand that a call may lack is `firstOptional`.
  size_t sinksOperand(size_t firstOptional) const {
    return firstOptional + (hasSegments ? 2 : 0) + (hasPositions ? 2 : 0);
  }

  /// Reads operands (q, k, v, segments, positions, sinks) at `firstOperand` and the attributes.
  /// InvalidArgument names the operand or attribute at fault.
  static absl::StatusOr<AttentionShape> read(const KernelCall &call, size_t firstOperand);
  /// Of `attention(q, k, v, ...) -> o, lse`.
  static absl::StatusOr<AttentionShape> forward(const KernelCall &call);
  /// Of `attention_backward(do, q, k, v, o, lse, ...) -> dq, dk, dv, [dsinks]`.
  static absl::StatusOr<AttentionShape> backward(const KernelCall &call);
};

/// Of the gradient that the backward takes, and of those that it gives.
struct GradientTypes {
  DType output, query, key, value, sinks;
};

} // namespace weft::cpu

#endif // WEFT_KERNELS_CPU_ATTENTIONSHAPE_H
