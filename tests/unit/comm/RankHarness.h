//===- RankHarness.h - Kernels and bodies on every rank of a mesh ---------===//
//
// Runs a body, or one kernel call, on threads that are the ranks of a local group, and has tensors of doubles
// for what tests say about values: their parts by partOf() of runtime/executable, which the kernels' own
// arithmetic does not use.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_COMM_RANKHARNESS_H
#define WEFT_TESTS_UNIT_COMM_RANKHARNESS_H

#include "kernels/collective/Collective.h"
#include "kernels/common/ThreadPool.h"
#include "kernels/reference/Bytes.h"
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/comm/MeshContext.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <thread>

namespace weft::testing {

/// A mesh with axes a0, a1, ... of these sizes.
inline Mesh meshOf(const std::vector<uint32_t> &sizes) {
  Mesh mesh;
  for (uint32_t size : sizes)
    mesh.axes.push_back({"a" + std::to_string(mesh.axes.size()), size});
  return mesh;
}

/// Calls body(communicator) on a thread for each rank; a rank leaves when its body returns.
inline void onEachRank(int ranks, const std::function<void(Communicator &)> &body) {
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Communicator>> communicators = *createLocalGroup(ranks);
  for (std::unique_ptr<Communicator> &communicator : communicators)
    threads.emplace_back([&body, own = std::move(communicator)] { body(*own); });
  for (std::thread &thread : threads)
    thread.join();
}

/// The same with the context of the rank in a mesh.
inline void onEachRank(const Mesh &mesh,
                       const std::function<void(Communicator &, const RankContext &)> &body) {
  onEachRank(static_cast<int>(mesh.ranks()), [&](Communicator &communicator) {
    body(communicator, **createRankContext(mesh, communicator));
  });
}

using Bytes = std::vector<std::byte>;

/// A tensor of any type as doubles (exact for all values that tests use).
struct Values {
  std::vector<int64_t> shape;
  std::vector<double> all;
  bool operator==(const Values &) const = default;
};

inline Bytes encode(const Values &values, DType type) {
  if (isFloat(type))
    return *reference::toBytes(*reference::makeReals(type, values.shape, values.all));
  std::vector<int64_t> integers(values.all.begin(), values.all.end());
  return *reference::toBytes(*reference::makeIntegers(type, values.shape, integers));
}
inline Values decode(const Bytes &bytes, const TensorType &type) {
  reference::Tensor tensor = *reference::fromBytes(type, bytes);
  if (isFloat(type.dtype))
    return {type.shape, tensor.reals};
  return {type.shape, {tensor.integers.begin(), tensor.integers.end()}};
}

/// Whole numbers that every element type holds.
inline Values randomValues(std::vector<int64_t> shape, DType type, uint64_t seed) {
  std::mt19937_64 random(seed);
  Values values{std::move(shape), {}};
  values.all.resize(static_cast<size_t>(TensorType{type, values.shape}.elements()));
  for (double &value : values.all)
    value = type == DType::I1 ? static_cast<double>(random() % 2) : static_cast<double>(random() % 17) - 8;
  return values;
}

/// A rank's part of a dimension; what lies behind its valid rows is `tail`.
inline Values part(const Values &whole, size_t dimension, const Extent &extent, double tail) {
  Values result{whole.shape, {}};
  result.shape[dimension] = extent.size;
  int64_t outer = 1, inner = 1, rows = whole.shape[dimension];
  for (size_t i = 0; i < dimension; ++i)
    outer *= whole.shape[i];
  for (size_t i = dimension + 1; i < whole.shape.size(); ++i)
    inner *= whole.shape[i];
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t row = 0; row < extent.size; ++row)
      for (int64_t k = 0; k < inner; ++k)
        result.all.push_back(row < extent.valid
                                 ? whole.all[static_cast<size_t>((i * rows + extent.start + row) * inner + k)]
                                 : tail);
  return result;
}

/// The results of a call on every rank, each with its own operand (none for a call without one). With
/// `inPlace`, the result is computed in the operand's memory. The kernels have two threads.
inline std::vector<Bytes> runCall(const Mesh &mesh, const KernelCall &call,
                                  const std::vector<Bytes> &operands, bool inPlace = false) {
  std::vector<Bytes> results(static_cast<size_t>(mesh.ranks()));
  onEachRank(mesh, [&](Communicator &communicator, const RankContext &context) {
    auto kernel = createRankKernel(call, &context);
    ASSERT_EQ(kernel.status(), absl::OkStatus());
    EXPECT_EQ((*kernel)->workspaceBytes(), 0);
    size_t rank = static_cast<size_t>(communicator.rank());
    Bytes operand = operands.empty() ? Bytes() : operands[rank];
    Bytes &result = results[rank];
    result.assign(static_cast<size_t>(call.results[0].bytes()), std::byte{0x5A});
    if (inPlace) {
      ASSERT_TRUE((*kernel)->mayAlias(0, 0));
      result = operand;
    }
    const void *from[] = {inPlace ? result.data() : operand.data()};
    void *to[] = {result.data()};
    ThreadPool threads(2);
    (*kernel)->run({std::span(from, call.operands.size()), to, nullptr}, threads);
    EXPECT_EQ(context.status(), absl::OkStatus());
    if (!inPlace && !operands.empty()) {
      EXPECT_EQ(operand, operands[rank]) << "the operand was written to";
    }
  });
  return results;
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_COMM_RANKHARNESS_H
