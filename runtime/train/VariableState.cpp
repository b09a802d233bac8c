//===- VariableState.cpp - The variables of a run: first values, saved ones ===//
//
// Random values are computed in float64 and rounded once to the variable's type.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/VariableState.h"

#include "kernels/reference/Rounding.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/InitialValues.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft {
namespace {

/// A state tensor of at most this many bytes is a scalar.
constexpr size_t kScalarBytes = 8;

/// The distribution function of the standard normal distribution.
double normalDistribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double firstValue(const Initializer &initializer, const InitialValues &random, int64_t index) {
  const std::vector<double> &numbers = initializer.numbers;
  switch (initializer.kind) {
  case InitializerKind::Zeros:
    return 0.0;
  case InitializerKind::Ones:
    return 1.0;
  case InitializerKind::Constant:
    return numbers[0];
  case InitializerKind::Normal:
    return numbers[0] + numbers[1] * random.normal(index);
  case InitializerKind::TruncatedNormal: { // by inversion, between the quantiles of the two ends
    double low = normalDistribution((numbers[2] - numbers[0]) / numbers[1]);
    double high = normalDistribution((numbers[3] - numbers[0]) / numbers[1]);
    double p = std::clamp(low + (high - low) * random.uniform(index), 0x1p-34, 1 - 0x1p-34);
    return std::clamp(numbers[0] + numbers[1] * normalQuantile(p), numbers[2], numbers[3]);
  }
  case InitializerKind::Uniform:
    return numbers[0] + (numbers[1] - numbers[0]) * random.uniform(index);
  }
  return 0.0;
}

template <typename T> void put(std::byte *at, T value) { std::memcpy(at, &value, sizeof(T)); }

/// The upper half of a float32 that holds a bfloat16 exactly.
uint16_t bfloat16Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

void store(std::byte *at, DType type, double value) {
  switch (type) {
  case DType::I1:
    return put<uint8_t>(at, value != 0.0);
  case DType::I32:
    return put(at, static_cast<int32_t>(value));
  case DType::I64:
    return put(at, static_cast<int64_t>(value));
  case DType::BF16:
    return put(at, bfloat16Bits(static_cast<float>(reference::roundToType(value, type))));
  case DType::F16:
    return put(at, static_cast<_Float16>(reference::roundToType(value, type)));
  case DType::F32:
    return put(at, static_cast<float>(value));
  case DType::F64:
    return put(at, value);
  }
}

} // namespace

TensorType globalType(const Variable &variable) {
  return variable.placement.whole() ? variable.type
                                    : TensorType{variable.type.dtype, variable.placement.globalShape};
}

checkpoint::Slice sliceOf(const Mesh &mesh, const Variable &variable, int64_t rank) {
  if (variable.placement.whole())
    return checkpoint::wholeSlice(variable.type.shape);
  checkpoint::Slice slice;
  for (const Extent &extent : partOf(mesh, rank, variable.placement)) {
    // An empty part may begin behind the end, where padding of an outer level lies.
    slice.offset.push_back(std::min(extent.start, variable.placement.globalShape[slice.offset.size()]));
    slice.size.push_back(extent.valid);
  }
  return slice;
}

/// Gives one part of a variable its first values, in rows along the last dimension.
static void initializePart(const Variable &variable, const checkpoint::Slice &slice, const HostTensor &tensor,
                           uint64_t seed) {
  const InitialValues random(seed, variable.name);
  const DType type = variable.type.dtype;
  const int64_t width = byteSize(type);
  std::fill(tensor.bytes.begin(), tensor.bytes.end(), std::byte{0});
  const std::vector<int64_t> front(slice.size.size(), 0);
  // With elements of one byte the walk counts elements: runs are from indices of the whole to those in
  // memory.
  checkpoint::BoxWalk walk(1, slice.size, {globalType(variable).shape, slice.offset},
                           {variable.type.shape, front});
  for (checkpoint::BoxWalk::Run run; walk.next(run);)
    for (int64_t i = 0; i < run.bytes; ++i)
      store(tensor.bytes.data() + (run.to + i) * width, type,
            firstValue(variable.initializer, random, run.from + i));
}

void initializeVariables(Executor &executor, uint64_t seed, int64_t rank) {
  const std::vector<Variable> &variables = executor.executable().variables;
  for (size_t i = 0; i < variables.size(); ++i)
    initializePart(variables[i], sliceOf(executor.executable().mesh, variables[i], rank),
                   executor.variable(i), seed);
}

std::string printMesh(const Mesh &mesh) {
  return absl::StrJoin(mesh.axes, ", ", [](std::string *text, const MeshAxis &axis) {
    absl::StrAppend(text, axis.name, " = ", axis.size);
  });
}

/// As checkpoints record it: the axes of each dimension, `[d0, t0] []`.
static std::string printPlacement(const Mesh &mesh, const TensorPlacement &placement) {
  std::vector<std::string> dimensions;
  for (const DimensionSplit &split : placement.dimensions) {
    std::vector<std::string> names;
    for (uint32_t axis : split.axes)
      names.push_back(mesh.axes[axis].name);
    dimensions.push_back(absl::StrCat("[", absl::StrJoin(names, ", "), "]"));
  }
  return absl::StrJoin(dimensions, " ");
}

/// The variables of which this rank saves its part, by index.
static std::vector<size_t> ownedVariables(const Executor &executor, int64_t rank) {
  const Mesh &mesh = executor.executable().mesh;
  const std::vector<Variable> &variables = executor.executable().variables;
  std::vector<size_t> owned;
  for (size_t i = 0; i < variables.size(); ++i)
    if (ownsPart(mesh, rank, variables[i].placement, variables[i].pipelineOwner) &&
        sliceOf(mesh, variables[i], rank).elements() != 0)
      owned.push_back(i);
  return owned;
}

/// `placeOf` says where the bytes of a variable are.
static std::vector<checkpoint::TensorView> ownedViews(const Executor &executor, int64_t rank,
                                                      const std::function<const void *(size_t)> &placeOf) {
  std::vector<checkpoint::TensorView> views;
  const Mesh &mesh = executor.executable().mesh;
  for (size_t i : ownedVariables(executor, rank)) {
    const Variable &variable = executor.executable().variables[i];
    const checkpoint::Slice slice = sliceOf(mesh, variable, rank);
    checkpoint::TensorView view{variable.checkpointName, {variable.type.dtype, slice.size}, placeOf(i), {}};
    if (!variable.placement.whole())
      view.part = {variable.placement.globalShape, slice.offset, printPlacement(mesh, variable.placement),
                   variable.type.shape};
    views.push_back(std::move(view));
  }
  return views;
}

std::vector<checkpoint::TensorView> variableViews(const Executor &executor, int64_t rank) {
  return ownedViews(executor, rank, [&](size_t index) { return executor.variable(index).bytes.data(); });
}

std::vector<checkpoint::TensorView> snapshotViews(const Executor &executor, int64_t rank) {
  return ownedViews(executor, rank, [&](size_t index) { return executor.snapshot(index).data(); });
}

void copyToSnapshot(const Executor &executor, int64_t rank, const CopyBytes &copy) {
  for (size_t index : ownedVariables(executor, rank)) {
    const std::span<const std::byte> bytes = executor.variable(index).bytes;
    copy(executor.snapshot(index).data(), bytes.data(), bytes.size());
  }
}

bool hasSnapshot(const Executable &executable) {
  const std::vector<MemoryBase> &bases = executable.memory.bases;
  return std::any_of(bases.begin(), bases.end(),
                     [](const MemoryBase &base) { return base.kind == BaseKind::Snapshot; });
}

absl::Status checkSaved(const std::vector<Executable> &parts, const checkpoint::Checkpoint &checkpoint) {
  std::vector<std::pair<std::string, TensorType>> expected;
  for (const Variable *variable : variablesOf(parts))
    expected.emplace_back(variable->checkpointName, globalType(*variable));
  return checkpoint.checkTensors(expected);
}

absl::StatusOr<int64_t> restoreVariables(Executor &executor, const checkpoint::Checkpoint &checkpoint,
                                         bool weightsOnly, int64_t rank, ThreadPool &threads) {
  const Executable &executable = executor.executable();
  std::vector<checkpoint::SliceRequest> requests;
  for (size_t i = 0; i < executable.variables.size(); ++i) {
    const Variable &variable = executable.variables[i];
    if (weightsOnly && variable.isState)
      continue;
    const checkpoint::TensorRecord *saved = checkpoint.find(variable.checkpointName);
    if (saved && saved->type != globalType(variable))
      return withExitCode(
          absl::FailedPreconditionError(absl::StrCat(
              checkpoint.folder(), ": tensor '", variable.checkpointName, "' is ", saved->type.str(),
              ", the program needs ", globalType(variable).str(), ". Use the model that it was saved with.")),
          ExitCode::Checkpoint);
    requests.push_back({variable.checkpointName, sliceOf(executable.mesh, variable, rank),
                        variable.type.shape, executor.variable(i).bytes});
  }
  return checkpoint.readSlices(requests, threads);
}

ScalarState::ScalarState(const Executor &executor) {
  const std::vector<Variable> &variables = executor.executable().variables;
  size_t bytes = 0;
  for (size_t i = 0; i < variables.size(); ++i) {
    std::span<std::byte> place = executor.variable(i).bytes;
    if (!variables[i].isState || place.size() > kScalarBytes)
      continue;
    places.push_back(place);
    bytes += place.size();
  }
  saved.resize(bytes);
}

void ScalarState::save() {
  std::byte *to = saved.data();
  for (std::span<std::byte> place : places)
    to = std::copy(place.begin(), place.end(), to);
}

void ScalarState::restore() const {
  const std::byte *from = saved.data();
  for (std::span<std::byte> place : places) {
    std::copy(from, from + place.size(), place.begin());
    from += place.size();
  }
}

int64_t parameterCount(const std::vector<Executable> &parts) {
  int64_t count = 0;
  for (const Variable *variable : variablesOf(parts))
    count += variable->trainable ? globalType(*variable).elements() : 0;
  return count;
}

} // namespace weft
