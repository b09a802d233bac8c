//===- RankHarness.h - Kernels and bodies on every rank of a mesh ---------===//
//
// Runs a body, or one kernel call, on every rank: on threads that are the ranks of a local group, or on the
// backend that the test program installed, whose processes all run the same tests. And has tensors of doubles
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

/// Ranks that are not threads of this process.
class RankBackend {
public:
  virtual ~RankBackend() = default;
  virtual int64_t mostRanks() const = 0;
  /// Calls body where one of the ranks is here.
  virtual void run(int ranks, const std::function<void(Communicator &)> &body) = 0;
  /// texts[r] of the process that is rank r becomes that of all.
  virtual void collect(std::vector<std::string> &texts) = 0;
};

/// What runs the ranks; null for threads.
inline RankBackend *&rankBackend() {
  static RankBackend *backend = nullptr;
  return backend;
}

/// Whether there can be so many ranks.
inline bool canHave(int64_t ranks) { return rankBackend() == nullptr || ranks <= rankBackend()->mostRanks(); }

/// Calls body(communicator) on each rank; a rank leaves when its body returns.
inline void onEachRank(int ranks, const std::function<void(Communicator &)> &body) {
  if (rankBackend() != nullptr)
    return rankBackend()->run(ranks, body);
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

/// What each rank wrote into its place becomes known to all.
inline void collect(std::vector<std::string> &texts) {
  if (rankBackend() != nullptr)
    rankBackend()->collect(texts);
}
inline void collect(std::vector<Bytes> &all) {
  std::vector<std::string> texts;
  for (const Bytes &bytes : all)
    texts.emplace_back(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  collect(texts);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    auto bytes = std::as_bytes(std::span(texts[rank]));
    all[rank].assign(bytes.begin(), bytes.end());
  }
}

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

inline constexpr int64_t kGuard = 64; ///< bytes behind a workspace that nobody may touch

/// The results of a call on every rank, each with its own operand (none for a call without one). With
/// `inPlace`, the result is computed in the operand's memory. The kernels have two threads, and collectives
/// the workspace that the memory plan gives them.
inline std::vector<Bytes> runCall(const Mesh &mesh, KernelCall call, const std::vector<Bytes> &operands,
                                  bool inPlace = false) {
  if (call.name.substr(0, 5) != "rank_") {
    const std::vector<int64_t> axes = *call.integers("axes");
    call.setInteger("staged", mesh.sizeOf(std::vector<uint32_t>(axes.begin(), axes.end())));
  }
  const int64_t planned = (*createRankKernel(call, nullptr))->workspaceBytes();
  std::vector<Bytes> results(static_cast<size_t>(mesh.ranks()));
  onEachRank(mesh, [&](Communicator &communicator, const RankContext &context) {
    auto kernel = createRankKernel(call, &context);
    ASSERT_EQ(kernel.status(), absl::OkStatus());
    EXPECT_EQ((*kernel)->workspaceBytes(), planned);
    Bytes workspace(static_cast<size_t>(planned) + kGuard, std::byte{0x3C});
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
    (*kernel)->run({std::span(from, call.operands.size()), to, workspace.data()}, threads);
    EXPECT_EQ(std::count(workspace.end() - kGuard, workspace.end(), std::byte{0x3C}), kGuard)
        << "more than the workspace was written to";
    EXPECT_EQ(context.status(), absl::OkStatus());
    if (!inPlace && !operands.empty()) {
      EXPECT_EQ(operand, operands[rank]) << "the operand was written to";
    }
  });
  collect(results);
  return results;
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_COMM_RANKHARNESS_H
