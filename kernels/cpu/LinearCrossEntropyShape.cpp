//===- LinearCrossEntropyShape.cpp - Checks a cross-entropy call ----------===//
//
// The four kernels have the same operands in different places; each place is checked with the same few
// rules, and each message names the kernel, the tensor, what it is, and what it must be.
//
//===----------------------------------------------------------------------===//
#include "kernels/cpu/LinearCrossEntropyShape.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>

namespace weft::cpu {
namespace {

absl::Status invalid(const KernelCall &call, const std::string &what) {
  return absl::InvalidArgumentError(absl::StrCat("kernel ", call.name, ": ", what));
}

absl::Status readAttributes(const KernelCall &call, LinearCrossEntropyShape &shape) {
  shape.hasIgnoreIndex = call.has("ignore_index");
  if (shape.hasIgnoreIndex) {
    absl::StatusOr<int64_t> index = call.integer("ignore_index");
    if (!index.ok())
      return index.status();
    shape.ignoreIndex = *index;
  }
  shape.labelSmoothing = call.numberOr("label_smoothing", 0);
  shape.zLoss = call.numberOr("z_loss", 0);
  shape.softcap = call.numberOr("softcap", 0);
  if (!(shape.labelSmoothing >= 0 && shape.labelSmoothing <= 1))
    return invalid(call, absl::StrCat("attribute 'label_smoothing' is ", shape.labelSmoothing,
                                      ", but must be from 0 to 1"));
  if (!std::isfinite(shape.zLoss) || shape.zLoss < 0)
    return invalid(call,
                   absl::StrCat("attribute 'z_loss' is ", shape.zLoss, ", but must be 0 (none) or positive"));
  if (!std::isfinite(shape.softcap) || shape.softcap < 0)
    return invalid(
        call, absl::StrCat("attribute 'softcap' is ", shape.softcap, ", but must be 0 (none) or positive"));
  return absl::OkStatus();
}

/// Reads `part_of`, with which ignored rows are told by their gradients.
absl::Status readPartOf(const KernelCall &call, LinearCrossEntropyShape &shape) {
  if (!call.has("part_of"))
    return absl::OkStatus();
  absl::StatusOr<int64_t> words = call.integer("part_of");
  if (!words.ok())
    return words.status();
  if (*words < 1)
    return invalid(call, absl::StrCat("attribute 'part_of' is ", *words, ", but must be positive"));
  shape.partOf = *words;
  shape.hasIgnoreIndex = false;
  return absl::OkStatus();
}

/// Reads `weight_type`: what w is rounded to.
absl::Status readWeightType(const KernelCall &call, LinearCrossEntropyShape &shape) {
  if (!call.has("weight_type"))
    return absl::OkStatus();
  absl::StatusOr<int64_t> type = call.integer("weight_type");
  if (!type.ok())
    return type.status();
  if (*type != static_cast<int64_t>(DType::BF16) || shape.input != DType::BF16 || shape.weight != DType::F32)
    return invalid(call, absl::StrCat("attribute 'weight_type' is ", *type,
                                      ", but only a float32 w is rounded, to ",
                                      static_cast<int64_t>(DType::BF16), " (bf16), where x is bf16"));
  shape.roundsWeight = true;
  return absl::OkStatus();
}

/// Checks tensors of one call; the first fault is kept.
class Checker {
public:
  explicit Checker(const KernelCall &call) : call(call) {}
  absl::Status status;

  bool counts(size_t operands, size_t results) {
    if (call.operands.size() != operands || call.results.size() != results)
      fail(absl::StrCat(call.operands.size(), " operands and ", call.results.size(),
                        " results were given, but the signature has ", operands, " and ", results));
    return status.ok();
  }

  /// x[..., h] and w[v, h]: what all sizes come from.
  bool readSizes(const TensorType &x, const TensorType &w, LinearCrossEntropyShape &shape) {
    if (x.shape.empty())
      fail(absl::StrCat("x is ", x.str(), ", but must have a last dimension h"));
    else if (w.shape.size() != 2 || w.shape[1] != x.shape.back())
      fail(absl::StrCat("w is ", w.str(), ", but its shape must be v x ", x.shape.back(), ", as x is ",
                        x.str()));
    else if (x.elements() <= 0 || w.elements() <= 0)
      fail(absl::StrCat("x is ", x.str(), " and w is ", w.str(), ", but no dimension may be empty"));
    if (!status.ok())
      return false;
    rowShape.assign(x.shape.begin(), x.shape.end() - 1);
    shape.hidden = x.shape.back();
    shape.rows = x.elements() / shape.hidden;
    shape.vocabulary = w.shape[0];
    shape.wide = wide = x.dtype == DType::F64;
    shape.input = x.dtype, shape.weight = w.dtype;
    data("x", x, x.shape);
    data("w", w, w.shape);
    status.Update(readWeightType(call, shape));
    return status.ok();
  }

  /// Data is bf16, f16 or f32, each tensor its own; or all of it is f64.
  void data(const char *name, const TensorType &type, const std::vector<int64_t> &expected) {
    this->shape(name, type, expected);
    bool fits = wide ? type.dtype == DType::F64 : isFloat(type.dtype) && type.dtype != DType::F64;
    if (!fits)
      fail(absl::StrCat(name, " is ", type.str(), ", but its type must be ",
                        wide ? "f64, as x's is" : "bf16, f16 or f32, unless x's is f64"));
  }

  /// A value per row: losses, lse, their gradients; all of one type.
  void statistic(const char *name, const TensorType &type, DType expected) {
    this->shape(name, type, rowShape);
    if (type.dtype != expected || !(expected == DType::F32 || (wide && expected == DType::F64)))
      fail(absl::StrCat(name, " is ", type.str(), ", but its type must be f32",
                        wide ? ", or f64 for all values per row" : ""));
  }

  /// A trailing operand that there may be.
  void valid(const TensorType &type) {
    if (type != TensorType{DType::I64, {}})
      fail(absl::StrCat("valid is ", type.str(), ", but must be tensor<i64>"));
  }

  /// A part of the vocabulary has no more words than all of it.
  void partOf(const LinearCrossEntropyShape &shape) {
    if (shape.isPart() && shape.vocabulary > shape.partOf)
      fail(absl::StrCat("w has ", shape.vocabulary, " words, but is part of ", shape.partOf));
  }

  void targets(const TensorType &type) {
    this->shape("targets", type, rowShape);
    if (type.dtype != DType::I32)
      fail(absl::StrCat("targets is ", type.str(), ", but its type must be i32"));
  }

private:
  void shape(const char *name, const TensorType &type, const std::vector<int64_t> &expected) {
    if (type.shape != expected)
      fail(absl::StrCat(name, " is ", type.str(), ", but its shape must be ",
                        expected.empty() ? "that of a scalar" : absl::StrJoin(expected, "x")));
  }
  void fail(const std::string &what) { status.Update(invalid(call, what)); }

  const KernelCall &call;
  std::vector<int64_t> rowShape;
  bool wide = false;
};

/// A block of rows times the vocabulary stays near the third-level cache, and amortizes the traffic of dw; a
/// tile of the vocabulary, times a block of rows or h, stays near the second. Small vocabularies still make
/// some tiles, for threads.
void chooseTiles(LinearCrossEntropyShape &shape) {
  constexpr int64_t kMostBlock = 16 << 20, kMostRows = 256, kFewestRows = 32;
  int64_t rows =
      std::clamp(kMostBlock / shape.vocabulary / kFewestRows * kFewestRows, kFewestRows, kMostRows);
  shape.rowBlock = std::min(rows, shape.rows);
  constexpr int64_t kMostTile = 512 << 10, kFewestColumns = 64, kStep = 16, kWantedTiles = 16;
  int64_t columns = std::min({shape.vocabulary / kWantedTiles, kMostTile / shape.hidden, kMostTileColumns});
  shape.vocabularyTile = std::max(columns / kStep * kStep, kFewestColumns);
}

absl::StatusOr<LinearCrossEntropyShape> finish(const Checker &checker, LinearCrossEntropyShape &shape) {
  if (!checker.status.ok())
    return checker.status;
  chooseTiles(shape);
  return shape;
}

} // namespace

absl::StatusOr<LinearCrossEntropyShape> LinearCrossEntropyShape::forward(const KernelCall &call) {
  LinearCrossEntropyShape shape;
  Checker checker(call);
  checker.status = readAttributes(call, shape);
  if (checker.status.ok() && checker.counts(3, 3) &&
      checker.readSizes(call.operands[0], call.operands[1], shape)) {
    shape.statistics = call.results[0].dtype;
    checker.targets(call.operands[2]);
    const char *names[] = {"loss", "z_loss", "lse"};
    for (size_t i = 0; i < 3; ++i)
      checker.statistic(names[i], call.results[i], shape.statistics);
  }
  return finish(checker, shape);
}

absl::StatusOr<LinearCrossEntropyShape> LinearCrossEntropyShape::partial(const KernelCall &call) {
  LinearCrossEntropyShape shape;
  Checker checker(call);
  checker.status = readAttributes(call, shape);
  shape.hasIgnoreIndex = false;
  shape.hasValid = call.operands.size() == 4;
  if (checker.status.ok() && checker.counts(shape.hasValid ? 4 : 3, 3) &&
      checker.readSizes(call.operands[0], call.operands[1], shape)) {
    shape.statistics = call.results[0].dtype;
    checker.targets(call.operands[2]);
    if (shape.hasValid)
      checker.valid(call.operands[3]);
    const char *names[] = {"lse", "target_logit", "logit_sum"};
    for (size_t i = 0; i < 3; ++i)
      checker.statistic(names[i], call.results[i], shape.statistics);
  }
  return finish(checker, shape);
}

absl::StatusOr<LinearCrossEntropyShape> LinearCrossEntropyShape::backward(const KernelCall &call) {
  LinearCrossEntropyShape shape;
  Checker checker(call);
  checker.status = readAttributes(call, shape);
  checker.status.Update(readPartOf(call, shape));
  shape.hasValid = shape.isPart() && call.operands.size() == 7;
  if (checker.status.ok() && checker.counts(shape.hasValid ? 7 : 6, 2) &&
      checker.readSizes(call.operands[2], call.operands[3], shape)) {
    shape.statistics = call.operands[0].dtype;
    checker.statistic("dloss", call.operands[0], shape.statistics);
    checker.statistic("dz_loss", call.operands[1], shape.statistics);
    checker.targets(call.operands[4]);
    checker.statistic("lse", call.operands[5], shape.statistics);
    checker.partOf(shape);
    if (shape.hasValid)
      checker.valid(call.operands[6]);
    checker.data("dx", call.results[0], call.operands[2].shape);
    checker.data("dw", call.results[1], call.operands[3].shape);
    shape.inputGradient = call.results[0].dtype, shape.weightGradient = call.results[1].dtype;
  }
  return finish(checker, shape);
}

absl::StatusOr<LinearCrossEntropyShape> LinearCrossEntropyShape::forwardBackward(const KernelCall &call) {
  LinearCrossEntropyShape shape;
  Checker checker(call);
  checker.status = readAttributes(call, shape);
  if (checker.status.ok() && checker.counts(5, 5) &&
      checker.readSizes(call.operands[2], call.operands[3], shape)) {
    shape.statistics = call.operands[0].dtype;
    checker.statistic("dloss", call.operands[0], shape.statistics);
    checker.statistic("dz_loss", call.operands[1], shape.statistics);
    checker.targets(call.operands[4]);
    const char *names[] = {"loss", "z_loss", "lse"};
    for (size_t i = 0; i < 3; ++i)
      checker.statistic(names[i], call.results[i], shape.statistics);
    checker.data("dx", call.results[3], call.operands[2].shape);
    checker.data("dw", call.results[4], call.operands[3].shape);
    shape.inputGradient = call.results[3].dtype, shape.weightGradient = call.results[4].dtype;
  }
  return finish(checker, shape);
}

} // namespace weft::cpu
