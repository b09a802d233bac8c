//===- Layout.cpp - transpose, broadcast, slices, concatenate, pad, iota, copy --===//
//
// Kernels that move elements and compute none: each is one or a few strided copies.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/Signature.h"
#include "kernels/cpu/StridedCopy.h"
#include "kernels/cpu/Strides.h"

namespace weft::cpu {
namespace {

/// Bytes of `value` as an element of a type.
std::vector<std::byte> encode(DType type, double value) {
  alignas(8) std::byte inRegister[8];
  std::vector<std::byte> stored(8);
  findInstructionLoop(ElementwiseOp::Cast, type, DType::F64)(inRegister, &value, nullptr, nullptr, 1);
  findStoreLoop(type)(stored.data(), inRegister, 1);
  return stored;
}

std::unique_ptr<Kernel> makeCopyKernel(StridedCopy copy) {
  return makeKernel([copy = std::move(copy)](const KernelArguments &arguments, ThreadPool &threads) {
    copy.run(arguments.operands[0], arguments.results[0], threads);
  });
}

int64_t dot(const std::vector<int64_t> &a, const std::vector<int64_t> &b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

/// Where in a tensor a block of it is: at `offsets`, to which dynamic starts are added where the call has
/// them, clamped so that it fits.
struct BlockPlace {
  std::vector<int64_t> offsets, room, strides; ///< room: the largest offset at which the block fits
  size_t firstStart = 0;                       ///< the operand; 0: none

  /// Of a block that is `what` in a call whose operands from `firstStart` on are starts.
  static absl::StatusOr<BlockPlace> read(const KernelCall &call, const TensorType &x, const TensorType &block,
                                         const char *what, size_t firstStart) {
    size_t rank = x.shape.size(), starts = call.operands.size() - firstStart;
    if (starts != 0 && starts != rank)
      return invalidCall(call, "takes no starts or one for each dimension of ", x.str(), ", got ", starts);
    for (size_t i = 0; i < starts; ++i)
      WEFT_CHECK_CALL(expectType(call, "a start", call.operands[firstStart + i], {DType::I64, {}}));
    auto offsets = readList(call, "offsets", rank);
    if (!offsets.ok())
      return offsets.status();
    if (block.dtype != x.dtype || block.shape.size() != rank)
      return invalidCall(call, what, " must have the type and rank of ", x.str(), ", got ", block.str());
    BlockPlace place{*std::move(offsets), {}, denseStrides(x.shape), starts == 0 ? 0 : firstStart};
    for (size_t i = 0; i < rank; ++i) {
      place.room.push_back(x.shape[i] - block.shape[i]);
      if (place.room[i] < 0)
        return invalidCall(call, "the slice ", block.str(), " is larger than ", x.str());
      if (starts == 0 && (place.offsets[i] < 0 || place.offsets[i] > place.room[i]))
        return invalidCall(call, "the slice ", block.str(), " at offset ", place.offsets[i], " of dimension ",
                           i, " reaches beyond ", x.str());
    }
    return place;
  }

  /// Elements of the tensor before the block's first.
  int64_t of(const KernelArguments &arguments) const {
    int64_t position = 0;
    for (size_t i = 0; i < room.size(); ++i) {
      int64_t start = offsets[i];
      if (firstStart != 0) {
        // A start near the ends of int64 must not overflow before it is clamped.
        int64_t dynamic = *static_cast<const int64_t *>(arguments.operands[firstStart + i]);
        if (__builtin_add_overflow(start, dynamic, &start))
          start = dynamic < 0 ? 0 : room[i];
      }
      position += std::clamp<int64_t>(start, 0, room[i]) * strides[i];
    }
    return position;
  }
};

} // namespace

KernelOrError createTranspose(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 1, 1));
  const TensorType &x = call.operands[0];
  auto permutation = readList(call, "permutation", x.shape.size());
  if (!permutation.ok())
    return permutation.status();
  std::vector<int64_t> strides = denseStrides(x.shape), permuted;
  std::vector<bool> seen(x.shape.size(), false);
  TensorType expected{x.dtype, {}};
  for (int64_t dimension : *permutation) {
    if (dimension < 0 || dimension >= static_cast<int64_t>(seen.size()) ||
        seen[static_cast<size_t>(dimension)])
      return invalidCall(call, "attribute 'permutation' must name each dimension of ", x.str(), " once");
    seen[static_cast<size_t>(dimension)] = true;
    expected.shape.push_back(x.shape[static_cast<size_t>(dimension)]);
    permuted.push_back(strides[static_cast<size_t>(dimension)]);
  }
  WEFT_CHECK_CALL(expectType(call, "result 0", call.results[0], expected));
  return makeCopyKernel(
      StridedCopy(expected.shape, x.dtype, permuted, x.dtype, denseStrides(expected.shape)));
}

KernelOrError createBroadcast(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 1, 1));
  const TensorType &x = call.operands[0], &y = call.results[0];
  if (x.dtype != y.dtype)
    return invalidCall(call, "result 0 must have the type of ", x.str(), ", got ", y.str());
  auto dimensions = readList(call, "dimensions", x.shape.size());
  if (!dimensions.ok())
    return dimensions.status();
  std::vector<int64_t> strides = denseStrides(x.shape), spread(y.shape.size(), 0);
  std::vector<bool> seen(y.shape.size(), false);
  for (size_t i = 0; i < x.shape.size(); ++i) {
    int64_t target = (*dimensions)[i];
    if (target < 0 || target >= static_cast<int64_t>(seen.size()) || seen[static_cast<size_t>(target)])
      return invalidCall(call, "attribute 'dimensions' must name different dimensions of ", y.str());
    seen[static_cast<size_t>(target)] = true;
    int64_t size = y.shape[static_cast<size_t>(target)];
    if (x.shape[i] != size && x.shape[i] != 1)
      return invalidCall(call, "dimension ", i, " of ", x.str(), " does not fit dimension ", target, " of ",
                         y.str());
    spread[static_cast<size_t>(target)] = x.shape[i] == 1 ? 0 : strides[i];
  }
  return makeCopyKernel(StridedCopy(y.shape, x.dtype, spread, x.dtype, denseStrides(y.shape)));
}

KernelOrError createSlice(const KernelCall &call) {
  if (call.operands.empty() || call.results.size() != 1)
    return invalidCall(call, "takes a tensor, starts, and 1 result");
  const TensorType &x = call.operands[0], &y = call.results[0];
  absl::StatusOr<BlockPlace> place = BlockPlace::read(call, x, y, "result 0", 1);
  if (!place.ok())
    return place.status();
  StridedCopy copy(y.shape, x.dtype, denseStrides(x.shape), x.dtype, denseStrides(y.shape));
  int64_t bytes = byteSize(x.dtype);
  return makeKernel([copy, place = *place, bytes](const KernelArguments &arguments, ThreadPool &threads) {
    copy.run(at(arguments.operands[0], place.of(arguments) * bytes), arguments.results[0], threads);
  });
}

/// In place it writes the block alone.
KernelOrError createUpdateSlice(const KernelCall &call) {
  if (call.operands.size() < 2 || call.results.size() != 1)
    return invalidCall(call, "takes a tensor, a block of it, starts, and 1 result");
  const TensorType &x = call.operands[0], &block = call.operands[1];
  WEFT_CHECK_CALL(expectType(call, "result 0", call.results[0], x));
  absl::StatusOr<BlockPlace> place = BlockPlace::read(call, x, block, "operand 1", 2);
  if (!place.ok())
    return place.status();
  StridedCopy whole(x.shape, x.dtype, denseStrides(x.shape), x.dtype, denseStrides(x.shape));
  StridedCopy copy(block.shape, x.dtype, denseStrides(block.shape), x.dtype, denseStrides(x.shape));
  int64_t bytes = byteSize(x.dtype);
  auto body = [whole, copy, place = *place, bytes](const KernelArguments &arguments, ThreadPool &threads) {
    if (arguments.results[0] != arguments.operands[0])
      whole.run(arguments.operands[0], arguments.results[0], threads);
    copy.run(arguments.operands[1], at(arguments.results[0], place.of(arguments) * bytes), threads);
  };
  return makeKernel(body, 0, true);
}

KernelOrError createConcatenate(const KernelCall &call) {
  if (call.operands.empty() || call.results.size() != 1)
    return invalidCall(call, "takes at least 1 operand and 1 result, got ", call.operands.size(), " and ",
                       call.results.size());
  TensorType expected = call.operands[0];
  auto dimension = readDimension(call, expected);
  if (!dimension.ok())
    return dimension.status();
  int64_t &total = expected.shape[*dimension];
  for (size_t i = 1; i < call.operands.size(); ++i) {
    const TensorType &next = call.operands[i];
    TensorType fitting = expected;
    bool sameRank = next.shape.size() == expected.shape.size();
    if (sameRank)
      fitting.shape[*dimension] = next.shape[*dimension];
    if (!sameRank || !(fitting == next))
      return invalidCall(call, "operand ", i, ", ", next.str(), ", does not fit ", call.operands[0].str(),
                         " along dimension ", *dimension);
    total += next.shape[*dimension];
  }
  WEFT_CHECK_CALL(expectType(call, "result 0", call.results[0], expected));
  struct Part {
    StridedCopy copy;
    int64_t offset;
  };
  std::vector<Part> parts;
  std::vector<int64_t> strides = denseStrides(expected.shape);
  int64_t offset = 0, bytes = byteSize(expected.dtype);
  for (const TensorType &operand : call.operands) {
    parts.push_back(
        {StridedCopy(operand.shape, operand.dtype, denseStrides(operand.shape), operand.dtype, strides),
         offset * bytes});
    offset += operand.shape[*dimension] * strides[*dimension];
  }
  return makeKernel([parts = std::move(parts)](const KernelArguments &arguments, ThreadPool &threads) {
    for (size_t i = 0; i < parts.size(); ++i)
      parts[i].copy.run(arguments.operands[i], at(arguments.results[0], parts[i].offset), threads);
  });
}

KernelOrError createPad(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 1, 1));
  const TensorType &x = call.operands[0];
  auto low = readList(call, "low", x.shape.size()), high = readList(call, "high", x.shape.size());
  if (!low.ok())
    return low.status();
  if (!high.ok())
    return high.status();
  auto value = call.number("value");
  if (!value.ok())
    return value.status();
  TensorType expected = x;
  constexpr int64_t kMost = int64_t{1} << 48;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if ((*low)[i] < 0 || (*high)[i] < 0 || (*low)[i] > kMost || (*high)[i] > kMost)
      return invalidCall(call, "cannot pad dimension ", i, " by ", (*low)[i], " and ", (*high)[i]);
    expected.shape[i] += (*low)[i] + (*high)[i];
  }
  WEFT_CHECK_CALL(expectType(call, "result 0", call.results[0], expected));
  std::vector<int64_t> strides = denseStrides(expected.shape);
  StridedCopy fill(expected.shape, x.dtype, std::vector<int64_t>(x.shape.size(), 0), x.dtype, strides);
  StridedCopy inside(x.shape, x.dtype, denseStrides(x.shape), x.dtype, strides);
  int64_t position = dot(*low, strides) * byteSize(x.dtype);
  return makeKernel([fill, inside, position, element = encode(x.dtype, *value)](
                        const KernelArguments &arguments, ThreadPool &threads) {
    fill.run(element.data(), arguments.results[0], threads);
    inside.run(arguments.operands[0], at(arguments.results[0], position), threads);
  });
}

KernelOrError createIota(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 0, 1));
  const TensorType &x = call.results[0];
  auto dimension = readDimension(call, x);
  if (!dimension.ok())
    return dimension.status();
  if (x.dtype == DType::I1)
    return invalidCall(call, "does not count in ", x.str());
  constexpr int64_t kMostCounted = int64_t{1} << 27; // what is counted is kept; no sequence is longer
  if (x.shape[*dimension] > kMostCounted)
    return invalidCall(call, "counts up to ", kMostCounted, " in a dimension, got ", x.str());
  int64_t bytes = byteSize(x.dtype);
  std::vector<std::byte> counted(static_cast<size_t>(x.shape[*dimension] * bytes));
  for (int64_t i = 0; i < x.shape[*dimension]; ++i) {
    std::vector<std::byte> element = encode(x.dtype, static_cast<double>(i));
    std::copy_n(element.begin(), bytes, counted.begin() + i * bytes);
  }
  std::vector<int64_t> strides(x.shape.size(), 0);
  strides[*dimension] = 1;
  StridedCopy copy(x.shape, x.dtype, strides, x.dtype, denseStrides(x.shape));
  return makeKernel(
      [copy, counted = std::move(counted)](const KernelArguments &arguments, ThreadPool &threads) {
        copy.run(counted.data(), arguments.results[0], threads);
      });
}

KernelOrError createCopy(const KernelCall &call) {
  WEFT_CHECK_CALL(expectCounts(call, 1, 1));
  const TensorType &x = call.operands[0], &y = call.results[0];
  if (x.bytes() != y.bytes())
    return invalidCall(call, "result 0 must have the bytes of ", x.str(), ", got ", y.str());
  return makeCopyKernel(StridedCopy({x.bytes()}, DType::I1, {1}, DType::I1, {1}));
}

} // namespace weft::cpu
