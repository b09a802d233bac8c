//===- Rope.cpp - Rotary position embedding -------------------------------===//
//
// Su et al., "RoFormer" (arXiv:2104.09864). The tables hold the angles, so every way of scaling them is the
// same kernel.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/RopeLoops.h"
#include "kernels/cpu/Signature.h"

namespace weft::cpu {

KernelOrError createRope(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 3, 1));
  const TensorType &x = call.operands[0], &cosines = call.operands[1];
  WEFT_CHECK_CALL(expectFloat(call, "operand 0", x));
  if (x.shape.size() != 4)
    return invalidCall(call, "operand 0 must be [b, s, n, d], got ", x.str());
  int64_t batch = x.shape[0], sequence = x.shape[1];
  TensorType shared{DType::F32, {sequence, 0}}, perBatch{DType::F32, {batch, sequence, 0}};
  if (!cosines.shape.empty())
    shared.shape.back() = perBatch.shape.back() = cosines.shape.back();
  if (!(cosines == shared) && !(cosines == perBatch))
    return invalidCall(call, "operand 1 must be f32 [s, r/2] or [b, s, r/2] for ", x.str(), ", got ",
                       cosines.str());
  WEFT_CHECK_CALL(expectType(call, "operand 2", call.operands[2], cosines));
  WEFT_CHECK_CALL(expectType(call, "result 0", call.results[0], x));
  if (cosines.shape.back() > x.shape[3] / 2)
    return invalidCall(call, "the tables ", cosines.str(), " rotate more than the ", x.shape[3],
                       " elements of a head");
  RotatedHeads heads{};
  heads.type = x.dtype;
  heads.heads = x.shape[2], heads.headSize = x.shape[3], heads.rotated = 2 * cosines.shape.back();
  heads.isInverse = call.integerOr("inverse", 0) != 0;
  heads.isInterleaved = call.integerOr("interleaved", 0) != 0;
  bool isShared = cosines.shape.size() == 2;
  int64_t positionSize = heads.heads * heads.headSize;
  int64_t piece = std::max<int64_t>(16 * 1024 / std::max<int64_t>(positionSize, 1), 1);
  auto body = [=](const KernelArguments &arguments, ThreadPool &threads) {
    forEachPiece(threads, batch * sequence, piece, [&](int64_t begin, int64_t end) {
      for (int64_t position = begin; position < end; ++position) {
        RotatedHeads bound = heads;
        int64_t table = (isShared ? position % sequence : position) * (heads.rotated / 2);
        bound.x = at(arguments.operands[0], position * positionSize * byteSize(heads.type));
        bound.y = at(arguments.results[0], position * positionSize * byteSize(heads.type));
        bound.cosines = static_cast<const float *>(arguments.operands[1]) + table;
        bound.sines = static_cast<const float *>(arguments.operands[2]) + table;
        rotateHeads(bound);
      }
    });
  };
  return makeKernel(body, 0, true);
}

} // namespace weft::cpu
