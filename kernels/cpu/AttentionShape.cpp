//===- AttentionShape.cpp - Checks an attention call against its signature ===//
//
// Calls are read from files: every size is compared before a kernel exists, and each message names the
// kernel, the operand, what it is, and what it must be.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/AttentionShape.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>

namespace weft::cpu {
namespace {

absl::Status invalid(const KernelCall &call, const std::string &what) {
  return absl::InvalidArgumentError(absl::StrCat("kernel ", call.name, ": ", what));
}

/// A tensor of the signature: its name, its position, and the sizes that it must have.
struct Expected {
  const char *name;
  std::vector<int64_t> shape;
};

absl::Status checkShape(const KernelCall &call, const TensorType &type, const Expected &expected) {
  if (type.shape == expected.shape)
    return absl::OkStatus();
  return invalid(call, absl::StrCat(expected.name, " is ", type.str(), ", but its shape must be ",
                                    absl::StrJoin(expected.shape, "x")));
}

/// Data is bf16, f16 or f32, each tensor its own; or all of it is f64.
absl::Status checkData(const KernelCall &call, const TensorType &type, const char *name, bool wide) {
  bool fits = wide ? type.dtype == DType::F64 : isFloat(type.dtype) && type.dtype != DType::F64;
  if (fits)
    return absl::OkStatus();
  return invalid(call, absl::StrCat(name, " is ", type.str(), ", but its type must be ",
                                    wide ? "f64, as q's is" : "bf16, f16 or f32, unless q's is f64"));
}

absl::Status checkStatistics(const KernelCall &call, const TensorType &type, const char *name, bool wide) {
  if (type.dtype == DType::F32 || (wide && type.dtype == DType::F64))
    return absl::OkStatus();
  return invalid(
      call, absl::StrCat(name, " is ", type.str(), ", but its type must be ", wide ? "f32 or f64" : "f32"));
}

absl::Status checkCount(const KernelCall &call, size_t count, size_t expected, const char *what) {
  if (count == expected)
    return absl::OkStatus();
  return invalid(call, absl::StrCat(count, " ", what, " were given, but the signature has ", expected));
}

absl::Status readFlag(const KernelCall &call, const char *key, bool &flag) {
  int64_t value = call.integerOr(key, 0);
  if (value != 0 && value != 1)
    return invalid(call, absl::StrCat("attribute '", key, "' is ", value, ", but must be 0 or 1"));
  flag = value == 1;
  return absl::OkStatus();
}

absl::Status readAttributes(const KernelCall &call, AttentionShape &shape) {
  auto scale = call.number("scale");
  if (!scale.ok())
    return scale.status();
  shape.scale = *scale;
  shape.softcap = call.numberOr("softcap", 0);
  shape.window = call.integerOr("window", 0);
  if (!std::isfinite(shape.scale))
    return invalid(call, absl::StrCat("attribute 'scale' is ", shape.scale, ", but must be finite"));
  if (!(shape.softcap >= 0) || !std::isfinite(shape.softcap))
    return invalid(
        call, absl::StrCat("attribute 'softcap' is ", shape.softcap, ", but must be 0 (none) or positive"));
  if (shape.window < 0)
    return invalid(
        call, absl::StrCat("attribute 'window' is ", shape.window, ", but must be 0 (none) or positive"));
  absl::Status status = readFlag(call, "causal", shape.causal);
  status.Update(readFlag(call, "has_segments", shape.hasSegments));
  status.Update(readFlag(call, "has_positions", shape.hasPositions));
  status.Update(readFlag(call, "has_sinks", shape.hasSinks));
  return status;
}

absl::Status readSizes(const KernelCall &call, size_t firstOperand, AttentionShape &shape) {
  const char *names[] = {"q", "k", "v"};
  for (size_t i = 0; i < 3; ++i) {
    const TensorType &type = call.operands[firstOperand + i];
    if (type.shape.size() != 4)
      return invalid(call, absl::StrCat(names[i], " is ", type.str(), ", but must have 4 dimensions"));
    for (int64_t size : type.shape)
      if (size <= 0)
        return invalid(call, absl::StrCat(names[i], " is ", type.str(), ", but no dimension may be empty"));
  }
  const TensorType &q = call.operands[firstOperand], &k = call.operands[firstOperand + 1],
                   &v = call.operands[firstOperand + 2];
  shape.batch = q.shape[0], shape.queries = q.shape[1], shape.heads = q.shape[2], shape.depth = q.shape[3];
  shape.keys = k.shape[1], shape.groups = k.shape[2], shape.width = v.shape[3];
  shape.query = q.dtype, shape.key = k.dtype, shape.value = v.dtype;
  shape.wide = q.dtype == DType::F64;
  // No two positions are further apart: a longer window is the same, and positions cannot overflow with it.
  shape.window = std::min(shape.window, shape.hasPositions ? int64_t(1) << 32 : shape.queries + shape.keys);
  absl::Status status = checkShape(call, k, {"k", {shape.batch, shape.keys, shape.groups, shape.depth}});
  status.Update(checkShape(call, v, {"v", {shape.batch, shape.keys, shape.groups, shape.width}}));
  if (status.ok() && shape.heads % shape.groups != 0)
    status = invalid(call, absl::StrCat("q has ", shape.heads, " heads, which must be a multiple of the ",
                                        shape.groups, " of k"));
  for (size_t i = 0; i < 3; ++i)
    status.Update(checkData(call, call.operands[firstOperand + i], names[i], shape.wide));
  return status;
}

/// A pair of i32 operands, one of the queries and one of the keys: `what`_q and `what`_k.
absl::Status checkPair(const KernelCall &call, const std::string &what, size_t first,
                       const AttentionShape &shape) {
  const std::string names[] = {what + "_q", what + "_k"};
  const TensorType &q = call.operands[first], &k = call.operands[first + 1];
  absl::Status status = checkShape(call, q, {names[0].c_str(), {shape.batch, shape.queries}});
  status.Update(checkShape(call, k, {names[1].c_str(), {shape.batch, shape.keys}}));
  for (const TensorType *type : {&q, &k})
    if (type->dtype != DType::I32)
      status.Update(invalid(call, absl::StrCat(what, " are ", type->str(), ", but their type must be i32")));
  return status;
}

/// Segments, positions and sinks, the optional operands that close the list.
absl::Status readOptional(const KernelCall &call, size_t next, AttentionShape &shape) {
  absl::Status status;
  if (shape.hasSegments)
    status.Update(checkPair(call, "segments", next, shape));
  if (shape.hasPositions)
    status.Update(checkPair(call, "positions", next + (shape.hasSegments ? 2 : 0), shape));
  if (shape.hasSinks) {
    const TensorType &sinks = call.operands[shape.sinksOperand(next)];
    status.Update(checkShape(call, sinks, {"sinks", {shape.heads}}));
    status.Update(checkStatistics(call, sinks, "sinks", shape.wide));
    shape.sinks = sinks.dtype;
  }
  return status;
}

} // namespace

absl::StatusOr<AttentionShape> AttentionShape::read(const KernelCall &call, size_t firstOperand) {
  AttentionShape shape;
  absl::Status status = readAttributes(call, shape);
  // The operands before q, k, v are those of the backward: do; between them and the optional ones: o, lse.
  size_t required = firstOperand == 0 ? 3 : 6;
  size_t expected = shape.sinksOperand(required) + (shape.hasSinks ? 1 : 0);
  if (status.ok())
    status = checkCount(call, call.operands.size(), expected, "operands");
  if (status.ok())
    status = readSizes(call, firstOperand, shape);
  if (status.ok())
    status = readOptional(call, required, shape);
  if (!status.ok())
    return status;
  return shape;
}

absl::StatusOr<AttentionShape> AttentionShape::forward(const KernelCall &call) {
  auto shape = read(call, 0);
  if (!shape.ok())
    return shape;
  absl::Status status = checkCount(call, call.results.size(), 2, "results");
  if (!status.ok())
    return status;
  const TensorType &o = call.results[0], &lse = call.results[1];
  status.Update(checkShape(call, o, {"o", {shape->batch, shape->queries, shape->heads, shape->width}}));
  status.Update(checkData(call, o, "o", shape->wide));
  status.Update(checkShape(call, lse, {"lse", {shape->batch, shape->heads, shape->queries}}));
  status.Update(checkStatistics(call, lse, "lse", shape->wide));
  if (!status.ok())
    return status;
  shape->output = o.dtype;
  shape->statistics = lse.dtype;
  return shape;
}

absl::StatusOr<AttentionShape> AttentionShape::backward(const KernelCall &call) {
  auto shape = read(call, 1);
  if (!shape.ok())
    return shape;
  absl::Status status = checkCount(call, call.results.size(), shape->hasSinks ? 4 : 3, "results");
  if (!status.ok())
    return status;
  const TensorType &gradient = call.operands[0], &o = call.operands[4], &lse = call.operands[5];
  std::vector<int64_t> outputShape = {shape->batch, shape->queries, shape->heads, shape->width};
  status.Update(checkShape(call, gradient, {"do", outputShape}));
  status.Update(checkData(call, gradient, "do", shape->wide));
  status.Update(checkShape(call, o, {"o", outputShape}));
  status.Update(checkData(call, o, "o", shape->wide));
  status.Update(checkShape(call, lse, {"lse", {shape->batch, shape->heads, shape->queries}}));
  status.Update(checkStatistics(call, lse, "lse", shape->wide));
  const char *names[] = {"dq", "dk", "dv"};
  for (size_t i = 0; i < 3; ++i) {
    status.Update(checkShape(call, call.results[i], {names[i], call.operands[1 + i].shape}));
    status.Update(checkData(call, call.results[i], names[i], shape->wide));
  }
  if (shape->hasSinks) {
    status.Update(checkShape(call, call.results[3], {"dsinks", {shape->heads}}));
    status.Update(checkStatistics(call, call.results[3], "dsinks", shape->wide));
  }
  if (!status.ok())
    return status;
  shape->output = o.dtype;
  shape->statistics = lse.dtype;
  return shape;
}

} // namespace weft::cpu
