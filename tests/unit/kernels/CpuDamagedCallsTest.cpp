//===- CpuDamagedCallsTest.cpp - Calls that come from a broken file -------===//
//
// Valid calls of many kernels are damaged at random: sizes, types, attributes. Each is refused with
// InvalidArgument, or it is another valid call and runs within its buffers (which the sanitizers watch).
//
//===----------------------------------------------------------------------===//
#include "kernels/common/ElementwiseOps.h"
#include "kernels/common/ThreadPool.h"
#include "tests/unit/kernels/TestSupport.h"

#include <algorithm>

namespace weft::testing {
namespace {

KernelCall make(std::string name, std::vector<TensorType> operands, std::vector<TensorType> results) {
  KernelCall call;
  call.name = std::move(name);
  call.operands = std::move(operands);
  call.results = std::move(results);
  return call;
}

std::vector<KernelCall> validCalls() {
  const TensorType x{DType::F32, {3, 4}}, row{DType::F32, {4}}, column{DType::F32, {3}},
      index{DType::I32, {3}};
  std::vector<KernelCall> calls;
  auto add = [&](KernelCall call) -> KernelCall & { return calls.emplace_back(std::move(call)); };
  KernelCall &program = add(make("elementwise", {x, row}, {x}));
  program.setIntegers("shape", {3, 4});
  program.setIntegers("operand_strides", {4, 1, 0, 1});
  program.setIntegers("program", {static_cast<int64_t>(ElementwiseOp::Multiply), 5, 0, 1, -1,
                                  static_cast<int64_t>(ElementwiseOp::Exp), 5, 2, -1, -1});
  program.setIntegers("outputs", {3});
  add(make("einsum", {x, {DType::F32, {5, 4}}}, {{DType::F32, {3, 5}}})).setText("equation", "ab,cb->ac");
  KernelCall &reduce = add(make("reduce", {x}, {row}));
  reduce.setText("kind", "sum");
  reduce.setIntegers("dimensions", {0});
  add(make("cumulative_sum", {x}, {x})).setInteger("dimension", 1);
  add(make("top_k", {x}, {{DType::F32, {3, 2}}, {DType::I32, {3, 2}}})).setInteger("k", 2);
  add(make("transpose", {x}, {{DType::F32, {4, 3}}})).setIntegers("permutation", {1, 0});
  add(make("broadcast", {row}, {x})).setIntegers("dimensions", {1});
  add(make("slice", {x, {DType::I64, {}}, {DType::I64, {}}}, {{DType::F32, {2, 2}}}))
      .setIntegers("offsets", {0, 1});
  add(make("update_slice", {x, {DType::F32, {2, 2}}, {DType::I64, {}}, {DType::I64, {}}}, {x}))
      .setIntegers("offsets", {0, 1});
  add(make("concatenate", {x, x}, {{DType::F32, {6, 4}}})).setInteger("dimension", 0);
  KernelCall &pad = add(make("pad", {x}, {{DType::F32, {4, 6}}}));
  pad.setIntegers("low", {1, 0});
  pad.setIntegers("high", {0, 2});
  pad.setNumber("value", 0);
  add(make("gather", {x, index}, {x}));
  add(make("scatter_add", {index, x}, {{DType::F32, {5, 4}}}));
  add(make("iota", {}, {x})).setInteger("dimension", 1);
  KernelCall &random = add(make("random_uniform", {{DType::I64, {}}, {DType::I64, {3}}}, {x}));
  random.setInteger("seed", 1);
  random.setInteger("op_id", 2);
  add(make("copy", {x}, {x}));
  add(make("rms_norm", {x, row}, {x, column})).setNumber("epsilon", 1e-5);
  add(make("rms_norm_backward", {x, x, row, column}, {x, row})).setNumber("epsilon", 1e-5);
  add(make("layer_norm", {x, row, row}, {x, column, column})).setNumber("epsilon", 1e-5);
  add(make("layer_norm_backward", {x, x, row, column, column}, {x, row, row})).setNumber("epsilon", 1e-5);
  const TensorType heads{DType::F32, {2, 3, 2, 4}}, table{DType::F32, {3, 2}};
  add(make("rope", {heads, table, table}, {heads}));
  add(make("squared_norm", {x}, {{DType::F64, {}}}));
  add(make("squared_norm", {x}, {{DType::F64, {3}}})).setInteger("rows", 0);
  return calls;
}

class Damage {
public:
  explicit Damage(uint64_t seed) : engine(seed) {}

  void apply(KernelCall &call) {
    switch (below(6)) {
    case 0:
    case 1:
      return damageType(call);
    case 2:
    case 3:
      return damageAttribute(call);
    case 4: { // one size everywhere, so that the call may stay valid
      int64_t from = 3 + static_cast<int64_t>(below(2)), to = static_cast<int64_t>(below(7));
      for (auto *types : {&call.operands, &call.results})
        for (TensorType &type : *types)
          std::replace(type.shape.begin(), type.shape.end(), from, to);
      return;
    }
    default: { // one element type everywhere
      auto to = static_cast<DType>(below(7));
      for (auto *types : {&call.operands, &call.results})
        for (TensorType &type : *types)
          if (type.dtype == DType::F32)
            type.dtype = to;
    }
    }
  }

private:
  size_t below(size_t bound) { return engine() % bound; }
  int64_t number() {
    const int64_t choices[] = {-1, 0, 1, 2, 3, 4, 5, 15, 33, 34, int64_t{1} << 40, INT64_MAX, INT64_MIN};
    return choices[below(13)];
  }
  void damageType(KernelCall &call) {
    auto &types = call.operands.empty() || below(3) == 0 ? call.results : call.operands;
    if (types.empty())
      return;
    if (below(6) == 0)
      return types.pop_back();
    TensorType &type = types[below(types.size())];
    if (below(2) == 0)
      type.dtype = static_cast<DType>(below(7));
    else if (!type.shape.empty() && below(4) != 0)
      type.shape[below(type.shape.size())] = number();
    else
      type.shape.push_back(number());
  }
  void damageAttribute(KernelCall &call) {
    if (call.attributes.empty())
      return;
    auto found = call.attributes.begin();
    std::advance(found, below(call.attributes.size()));
    Attribute &attribute = found->second;
    if (below(8) == 0)
      call.attributes.erase(found);
    else if (!attribute.integers.empty() && below(4) != 0)
      attribute.integers[below(attribute.integers.size())] = number();
    else if (!attribute.integers.empty())
      attribute.integers.push_back(number());
    else if (!attribute.text.empty())
      attribute.text[below(attribute.text.size())] = "abc,->1"[below(7)];
    else
      attribute.numbers = {static_cast<double>(number())};
  }
  std::mt19937_64 engine;
};

int64_t totalBytes(const KernelCall &call) {
  int64_t bytes = 0;
  for (const auto *types : {&call.operands, &call.results})
    for (const TensorType &type : *types)
      bytes += type.bytes() / 8;
  return bytes;
}

TEST(CpuDamagedCalls, AreRefusedOrRunWithinTheirBuffers) {
  const std::vector<KernelCall> calls = validCalls();
  ThreadPool pool(2);
  int accepted = 0, refused = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    KernelCall call = calls[seed % calls.size()];
    Damage damage(seed);
    for (uint64_t round = 0; round < seed % 3; ++round)
      damage.apply(call);
    auto kernel = cpu::createKernel(call);
    if (!kernel.ok()) {
      ASSERT_EQ(kernel.status().code(), absl::StatusCode::kInvalidArgument) << kernel.status();
      ++refused;
      continue;
    }
    if (totalBytes(call) > 1 << 20)
      continue;
    ++accepted;
    std::vector<Tensor> tensors;
    for (const TensorType &type : call.operands)
      tensors.push_back(randomTensor(type.dtype, type.shape, seed, -3, 6));
    for (const TensorType &type : call.results)
      tensors.emplace_back(type);
    Tensor workspace(DType::I1, {(*kernel)->workspaceBytes()});
    std::vector<const void *> operands;
    std::vector<void *> results;
    for (size_t i = 0; i < tensors.size(); ++i)
      if (i < call.operands.size())
        operands.push_back(tensors[i].data());
      else
        results.push_back(tensors[i].data());
    (*kernel)->run({operands, results, workspace.data()}, pool);
  }
  EXPECT_GT(accepted, 2000);
  EXPECT_GT(refused, 1000);
}

} // namespace
} // namespace weft::testing
