#include "kernels/collective/CallChecks.h"

#include <algorithm>
#include <limits>

namespace weft::collective {
namespace {

absl::Status expectShape(const KernelCall &call, const char *side, const TensorType &type) {
  constexpr int64_t kMostElements = int64_t{1} << 48;
  if (type.dtype > DType::F64)
    return invalidCall(call, side, " has an unknown element type");
  int64_t room = kMostElements;
  for (int64_t size : type.shape) {
    if (size < 1 || size > room)
      return invalidCall(call, side, " has the shape of ", type.str(),
                         ": sizes start at 1, and there are at most 2^48 elements");
    room /= size;
  }
  return absl::OkStatus();
}

} // namespace

absl::Status expectTensors(const KernelCall &call, size_t operands, size_t results) {
  if (call.operands.size() != operands || call.results.size() != results)
    return invalidCall(call, "takes ", operands, " operands and ", results, " results, got ",
                       call.operands.size(), " and ", call.results.size());
  for (const TensorType &type : call.operands)
    WEFT_CHECK_RANK_CALL(expectShape(call, "operand 0", type));
  for (const TensorType &type : call.results)
    WEFT_CHECK_RANK_CALL(expectShape(call, "result 0", type));
  return absl::OkStatus();
}

absl::Status expectSameButFor(const KernelCall &call, std::span<const size_t> dimensions) {
  const TensorType &operand = call.operands[0], &result = call.results[0];
  TensorType expected = operand;
  bool sameRank = operand.shape.size() == result.shape.size();
  for (size_t dimension : dimensions)
    if (sameRank)
      expected.shape[dimension] = result.shape[dimension];
  if (sameRank && expected == result)
    return absl::OkStatus();
  return invalidCall(call, "result 0 must be like operand 0, ", operand.str(),
                     dimensions.empty() ? "" : ", in all but the dimensions that it changes", ", got ",
                     result.str());
}

absl::StatusOr<size_t> readDimension(const KernelCall &call, const std::string &key) {
  absl::StatusOr<int64_t> dimension = call.integer(key);
  if (!dimension.ok())
    return dimension.status();
  const TensorType &operand = call.operands[0];
  if (*dimension < 0 || *dimension >= static_cast<int64_t>(operand.shape.size()))
    return invalidCall(call, key, " ", *dimension, " is none of ", operand.str());
  return static_cast<size_t>(*dimension);
}

absl::StatusOr<RankGroup> readGroup(const KernelCall &call, const RankContext *context) {
  absl::StatusOr<std::vector<int64_t>> axes = call.integers("axes");
  if (!axes.ok())
    return axes.status();
  RankGroup group;
  int64_t limit = context ? context->axisCount() : std::numeric_limits<uint32_t>::max();
  for (int64_t axis : *axes) {
    if (axis < 0 || axis >= limit)
      return context ? invalidCall(call, "axis ", axis, " is none of the mesh's ", limit)
                     : invalidCall(call, "axis ", axis, " is no index of an axis");
    uint32_t index = static_cast<uint32_t>(axis);
    if (std::find(group.axes.begin(), group.axes.end(), index) != group.axes.end())
      return invalidCall(call, "axis ", axis, " is named twice");
    group.axes.push_back(index);
    if (context)
      group.sizes.push_back(context->axisSize(index));
  }
  if (context) {
    group.ranks = context->size(group.axes);
    group.index = context->index(group.axes);
  }
  return group;
}

absl::StatusOr<bool> readZigzag(const KernelCall &call, const std::string &key) {
  int64_t value = call.integerOr(key, 0);
  if (value == 0 || value == 1)
    return value == 1;
  return invalidCall(call, key, " is ", value, ", but must be 0 or 1");
}

absl::Status expectPart(const KernelCall &call, const RankGroup &group, int64_t whole, int64_t part,
                        bool zigzag) {
  if (zigzag && whole % (2 * group.ranks) != 0)
    return invalidCall(call, "a dimension of ", whole, " is no zigzag over ", group.ranks,
                       " ranks: it must be a multiple of ", 2 * group.ranks);
  int64_t expected = group.ownPart(whole).size;
  if (part == expected)
    return absl::OkStatus();
  return invalidCall(call, "a dimension of ", whole, " over ", group.ranks, " ranks has parts of ", expected,
                     ", the types say ", part);
}

std::unique_ptr<Kernel> makeKernelWithoutRank(KernelMemory memory) {
  return makeRankKernel([](const KernelArguments &, ThreadPool &) {}, memory);
}

int64_t sizeOfDimensions(const std::vector<int64_t> &shape, size_t begin, size_t end) {
  int64_t size = 1;
  for (size_t i = begin; i < end; ++i)
    size *= shape[i];
  return size;
}

} // namespace weft::collective
