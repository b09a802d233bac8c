//===- RankKernels.cpp - Kernels that know their rank and talk to no other -===//
//
// rank_slice, rank_offset, rank_valid, rank_first, rank_mask: all that depends on the rank is decided when
// the kernel is created.
//
//===----------------------------------------------------------------------===//
#include "kernels/collective/BoxCopy.h"
#include "kernels/collective/Factories.h"
#include "kernels/collective/NarrowFloats.h"

#include <array>
#include <cmath>
#include <cstring>

namespace weft::collective {
namespace {

/// One element as it is stored.
struct StoredElement {
  std::array<std::byte, 8> bytes = {};
  size_t size = 0;

  template <typename Number> static StoredElement of(Number number) {
    StoredElement stored;
    stored.size = sizeof(Number);
    std::memcpy(stored.bytes.data(), &number, sizeof(Number));
    return stored;
  }
  void fill(std::byte *to, int64_t count) const {
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + static_cast<size_t>(i) * size, bytes.data(), size);
  }
};

absl::StatusOr<StoredElement> storedElement(const KernelCall &call, DType type, double value) {
  switch (type) {
  case DType::BF16:
    return StoredElement::of(bf16FromFloat(static_cast<float>(value)));
  case DType::F16:
    return StoredElement::of(f16FromFloat(static_cast<float>(value)));
  case DType::F32:
    return StoredElement::of(static_cast<float>(value));
  case DType::F64:
    return StoredElement::of(value);
  case DType::I1:
  case DType::I32:
  case DType::I64:
    break;
  }
  // The highest integer of 64 bits is no double: 2^63 is the first that is too high.
  double bits = type == DType::I1 ? 0 : 8 * static_cast<double>(byteSize(type)) - 1;
  double lowest = type == DType::I1 ? 0 : -std::exp2(bits), past = type == DType::I1 ? 2 : std::exp2(bits);
  if (!(value >= lowest && value < past) || value != std::trunc(value))
    return invalidCall(call, "value ", value, " is no ", std::string(name(type)));
  if (type == DType::I1)
    return StoredElement::of(static_cast<uint8_t>(value));
  return type == DType::I32 ? StoredElement::of(static_cast<int32_t>(value))
                            : StoredElement::of(static_cast<int64_t>(value));
}

/// Operand 0 into result 0, unless they are the same memory.
void copyThrough(const KernelArguments &arguments, int64_t bytes) {
  if (arguments.results[0] != arguments.operands[0])
    std::memcpy(arguments.results[0], arguments.operands[0], static_cast<size_t>(bytes));
}

} // namespace

KernelOrError createRankSlice(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 1, 1));
  absl::StatusOr<size_t> dimension = readDimension(call, "dimension");
  if (!dimension.ok())
    return dimension.status();
  WEFT_CHECK_RANK_CALL(expectSameButFor(call, std::array{*dimension}));
  absl::StatusOr<bool> zigzag = readZigzag(call, "zigzag");
  if (!zigzag.ok())
    return zigzag.status();
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  if (!context)
    return makeKernelWithoutRank();
  const TensorType &whole = call.operands[0], &part = call.results[0];
  const int64_t size = whole.shape[*dimension];
  WEFT_CHECK_RANK_CALL(expectPart(call, *group, size, part.shape[*dimension], *zigzag));
  DimensionPart own = group->ownPart(size);
  std::vector<BoxCopy> copies;
  for (const PartStretch &stretch : group->stretches(size, group->index, *zigzag))
    copies.push_back(BoxCopy::along(*dimension, whole, stretch.whole, part, stretch.part, stretch.rows));
  return makeRankKernel(
      [copies, part, own, dimension = *dimension](const KernelArguments &arguments, ThreadPool &threads) {
        runCopies(copies, arguments.operands, arguments.results[0], threads);
        zeroTail(part, dimension, own.valid, arguments.results[0]);
      });
}

namespace {
/// A kernel that writes a number of this rank's part of a dimension of `size` elements.
KernelOrError createPartNumber(const KernelCall &call, const RankContext *context,
                               int64_t DimensionPart::*number) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 0, 1));
  if (call.results[0] != TensorType{DType::I64, {}})
    return invalidCall(call, "result 0 must be tensor<i64>, got ", call.results[0].str());
  absl::StatusOr<int64_t> size = call.integer("size");
  if (!size.ok())
    return size.status();
  constexpr int64_t kMost = int64_t{1} << 48;
  if (*size < 1 || *size > kMost)
    return invalidCall(call, "size ", *size, " is none of a dimension");
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  if (!context)
    return makeKernelWithoutRank();
  int64_t value = group->ownPart(*size).*number;
  return makeRankKernel([value](const KernelArguments &arguments, ThreadPool &) {
    *static_cast<int64_t *>(arguments.results[0]) = value;
  });
}
} // namespace

KernelOrError createRankOffset(const KernelCall &call, const RankContext *context) {
  return createPartNumber(call, context, &DimensionPart::start);
}

KernelOrError createRankValid(const KernelCall &call, const RankContext *context) {
  return createPartNumber(call, context, &DimensionPart::valid);
}

KernelOrError createRankFirst(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 1, 1));
  WEFT_CHECK_RANK_CALL(expectSameButFor(call, {}));
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  if (!context)
    return makeKernelWithoutRank({.isInPlace = true});
  int64_t bytes = call.operands[0].bytes();
  bool isFirst = group->index == 0;
  return makeRankKernel(
      [bytes, isFirst](const KernelArguments &arguments, ThreadPool &) {
        if (isFirst)
          copyThrough(arguments, bytes);
        else
          std::memset(arguments.results[0], 0, static_cast<size_t>(bytes));
      },
      {.isInPlace = true});
}

KernelOrError createRankMask(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 1, 1));
  WEFT_CHECK_RANK_CALL(expectSameButFor(call, {}));
  absl::StatusOr<size_t> dimension = readDimension(call, "dimension");
  if (!dimension.ok())
    return dimension.status();
  absl::StatusOr<int64_t> size = call.integer("size");
  if (!size.ok())
    return size.status();
  const TensorType &type = call.operands[0];
  int64_t rows = type.shape[*dimension];
  constexpr int64_t kMost = int64_t{1} << 48;
  if (*size < rows || *size > kMost)
    return invalidCall(call, "size ", *size, " is not that of a dimension with parts of ", rows);
  absl::StatusOr<double> value = call.number("value");
  if (!value.ok())
    return value.status();
  absl::StatusOr<StoredElement> element = storedElement(call, type.dtype, *value);
  if (!element.ok())
    return element.status();
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  if (!context)
    return makeKernelWithoutRank({.isInPlace = true});
  WEFT_CHECK_RANK_CALL(expectPart(call, *group, *size, rows));
  int64_t valid = group->ownPart(*size).valid, bytes = type.bytes();
  int64_t outer = sizeOfDimensions(type.shape, 0, *dimension);
  int64_t inner = sizeOfDimensions(type.shape, *dimension + 1, type.shape.size());
  return makeRankKernel(
      [=, element = *element](const KernelArguments &arguments, ThreadPool &) {
        copyThrough(arguments, bytes);
        auto *result = static_cast<std::byte *>(arguments.results[0]);
        for (int64_t i = 0; i < outer && valid < rows; ++i)
          element.fill(result + static_cast<size_t>((i * rows + valid) * inner) * element.size,
                       (rows - valid) * inner);
      },
      {.isInPlace = true});
}

} // namespace weft::collective
