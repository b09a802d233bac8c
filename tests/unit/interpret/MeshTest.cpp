// Programs in the local view: each rank has its part, ranks compute in lockstep, and what goes in and comes
// out is whole.
#include "tests/unit/interpret/Program.h"

#include <cmath>

namespace weft::interpret {
namespace {

/// Types on a mesh of two by two ranks, short enough to read.
std::string onMesh(const std::string &body) {
  return "#mesh = #dist.mesh<d0 = 2, t0 = 2 : data = [d0], tensor = [t0]>\n" + body;
}

TEST(Mesh, AFunctionTakesAndReturnsWholeTensors) {
  Program program(onMesh(R"(
func.func @main(%x: tensor<2x2xf32, #dist.local<#mesh, 3x4, [d0], [t0]>>) -> tensor<2x2xf32, #dist.local<#mesh, 3x4, [d0], [t0]>> {
  %y = nn.add %x, %x : tensor<2x2xf32, #dist.local<#mesh, 3x4, [d0], [t0]>>
  return %y : tensor<2x2xf32, #dist.local<#mesh, 3x4, [d0], [t0]>>
})"));
  auto results = program.call({reals({3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})});
  ASSERT_TRUE(mlir::succeeded(results)) << program.messages;
  EXPECT_EQ((*results)[0], reals({3, 4}, {2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24}));
}

TEST(Mesh, AContractionOfASplitDimensionIsPendingUntilItIsReduced) {
  const char *text = R"(
func.func @main(%x: tensor<3x2xf32, #dist.local<#mesh, 3x4, [], [t0]>>, %w: tensor<2x2xf32, #dist.local<#mesh, 4x2, [t0], []>>)
    -> tensor<3x2xf32, #dist.local<#mesh, 3x2, [], []>> {
  %y = nn.einsum "mk,kn->mn" (%x, %w) : (tensor<3x2xf32, #dist.local<#mesh, 3x4, [], [t0]>>, tensor<2x2xf32, #dist.local<#mesh, 4x2, [t0], []>>)
    -> tensor<3x2xf32, #dist.local<#mesh, 3x2, [], [], sum [t0]>>
  %t = dist.all_reduce.start sum %y over ["t0"] : tensor<3x2xf32, #dist.local<#mesh, 3x2, [], [], sum [t0]>>
    -> !dist.token<tensor<3x2xf32, #dist.local<#mesh, 3x2, [], []>>>
  %z = dist.wait %t : !dist.token<tensor<3x2xf32, #dist.local<#mesh, 3x2, [], []>>>
  return %z : tensor<3x2xf32, #dist.local<#mesh, 3x2, [], []>>
})";
  Program program(onMesh(text));
  auto results = program.call(
      {reals({3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), reals({4, 2}, {1, 0, 0, 1, 1, 0, 0, 1})});
  ASSERT_TRUE(mlir::succeeded(results)) << program.messages;
  EXPECT_EQ((*results)[0], reals({3, 2}, {4, 6, 12, 14, 20, 22}));
}

TEST(Mesh, PaddingIsPoisonUntilItIsMasked) {
  auto sumOver = [](const std::string &mask, const std::string &summed) {
    return onMesh("func.func @main(%x: tensor<2xf32, #dist.local<#mesh, 3, [t0]>>)"
                  " -> tensor<f32, #dist.local<#mesh, , sum [t0]>> {\n" +
                  mask + "  %s = nn.reduce sum " + summed +
                  " [0] : tensor<2xf32, #dist.local<#mesh, 3, [t0]>>"
                  " -> tensor<f32, #dist.local<#mesh, , sum [t0]>>\n"
                  "  return %s : tensor<f32, #dist.local<#mesh, , sum [t0]>>\n}");
  };
  Program unmasked(sumOver("", "%x"));
  auto results = unmasked.call({reals({3}, {1, 2, 4})});
  ASSERT_TRUE(mlir::succeeded(results)) << unmasked.messages;
  EXPECT_TRUE(std::isnan((*results)[0].reals[0]));

  Program masked(
      sumOver("  %m = dist.mask %x dim 0 value 0.0 : tensor<2xf32, #dist.local<#mesh, 3, [t0]>>\n", "%m"));
  results = masked.call({reals({3}, {1, 2, 4})});
  ASSERT_TRUE(mlir::succeeded(results)) << masked.messages;
  EXPECT_EQ((*results)[0], reals({}, {7}));
}

TEST(Mesh, IndicesReachWhatARankHas) {
  // Five rows over t0 are 3 and 2: row 3 is the first of the second part.
  Program program(onMesh(R"(
func.func @main(%table: tensor<3x1xf32, #dist.local<#mesh, 5x1, [t0], []>>, %rows: tensor<3xi32, #dist.local<#mesh, 3, []>>)
    -> tensor<3x1xf32, #dist.local<#mesh, 3x1, [], [], sum [t0]>> {
  %y = nn.gather %table, %rows : (tensor<3x1xf32, #dist.local<#mesh, 5x1, [t0], []>>, tensor<3xi32, #dist.local<#mesh, 3, []>>)
    -> tensor<3x1xf32, #dist.local<#mesh, 3x1, [], [], sum [t0]>>
  return %y : tensor<3x1xf32, #dist.local<#mesh, 3x1, [], [], sum [t0]>>
})"));
  auto results = program.call({reals({5, 1}, {10, 11, 12, 13, 14}), integers({3}, {3, 0, 4})});
  ASSERT_TRUE(mlir::succeeded(results)) << program.messages;
  EXPECT_EQ((*results)[0], reals({3, 1}, {13, 10, 14}));
}

TEST(Mesh, ReplicasThatDifferAreRefused) {
  // Each rank keeps its half, and says that it is all of a tensor that everybody has.
  Program program(onMesh(R"(
func.func @main(%x: tensor<4xf32, #dist.local<#mesh, 4, []>>) -> tensor<2xf32, #dist.local<#mesh, 4, [t0]>> {
  %y = dist.slice %x over ["t0"] dim 0 : tensor<4xf32, #dist.local<#mesh, 4, []>> -> tensor<2xf32, #dist.local<#mesh, 4, [t0]>>
  return %y : tensor<2xf32, #dist.local<#mesh, 4, [t0]>>
})"));
  auto main = program.module->lookupSymbol<mlir::func::FuncOp>("main");
  auto mesh = dist::placementOf(main.getResultTypes()[0]).mesh;
  mlir::Type claimed =
      dist::localType({2}, mlir::Float32Type::get(&program.context), dist::replicated(mesh, 1));
  main.setType(mlir::FunctionType::get(&program.context, main.getArgumentTypes(), {claimed}));
  EXPECT_TRUE(mlir::failed(program.call({reals({4}, {1, 2, 3, 4})})));
  EXPECT_EQ(program.messages,
            "'func.func' op result 0: ranks 0 and 1 hold the same part ([]) with different values at "
            "element 0\n");
}

TEST(Mesh, ValuesAreSplitAsTheirTypesSay) {
  Program program(onMesh(R"(
func.func @main(%zigzag: tensor<4xi32, #dist.local<#mesh, 8, zigzag [t0]>>, %nested: tensor<2xi32, #dist.local<#mesh, 5, [d0, t0]>>,
                %sum: tensor<8xi32, #dist.local<#mesh, 8, [], sum [t0]>>, %max: tensor<8xi32, #dist.local<#mesh, 8, [], max [d0]>>) {
  return
})"));
  auto main = program.module->lookupSymbol<mlir::func::FuncOp>("main");
  Ranks ranks = Ranks::of(main);
  ASSERT_EQ(ranks.count(), 4);
  Tensor eight = integers({8}, {10, 11, 12, 13, 14, 15, 16, 17}), five = integers({5}, {10, 11, 12, 13, 14});

  MeshValue zigzag = ranks.split(eight, main.getArgumentTypes()[0]);
  EXPECT_EQ(*zigzag[0], integers({4}, {10, 11, 16, 17}));
  EXPECT_EQ(*zigzag[1], integers({4}, {12, 13, 14, 15}));
  EXPECT_EQ(zigzag[0], zigzag[2]); // ranks that differ on d0 alone hold, and share, the same

  // 5 over d0 is 3 and 2; those over t0 are 2 and 1, 2 and none: each level has its own padding.
  int64_t padding = lowestInteger(DType::I32);
  MeshValue nested = ranks.split(five, main.getArgumentTypes()[1]);
  EXPECT_EQ(*nested[0], integers({2}, {10, 11}));
  EXPECT_EQ(*nested[1], integers({2}, {12, padding}));
  EXPECT_EQ(*nested[2], integers({2}, {13, 14}));
  EXPECT_EQ(*nested[3], integers({2}, {padding, padding}));

  // What is pending is nowhere whole, and is all there when the reduction is taken.
  for (unsigned index : {2u, 3u}) {
    MeshValue pending = ranks.split(eight, main.getArgumentTypes()[index]);
    for (const Shared &part : pending)
      EXPECT_NE(*part, eight);
    absl::StatusOr<Tensor> whole = ranks.assemble(pending, main.getArgumentTypes()[index]);
    ASSERT_TRUE(whole.ok()) << whole.status();
    EXPECT_EQ(*whole, eight);
  }
}

TEST(Mesh, InTheGlobalViewPlacementsSayNothing) {
  Program program(onMesh(R"(
func.func @main(%x: tensor<4xf32, #dist.at<#mesh, [t0]>>) -> tensor<f32, #dist.at<#mesh>> {
  %s = nn.reduce sum %x [0] : tensor<4xf32, #dist.at<#mesh, [t0]>> -> tensor<f32, #dist.at<#mesh, sum [t0]>>
  %y = dist.reshard %s : tensor<f32, #dist.at<#mesh, sum [t0]>> -> tensor<f32, #dist.at<#mesh>>
  return %y : tensor<f32, #dist.at<#mesh>>
})"));
  auto results = program.call({reals({4}, {1, 2, 3, 4})});
  ASSERT_TRUE(mlir::succeeded(results)) << program.messages;
  EXPECT_EQ((*results)[0], reals({}, {10}));
}

} // namespace
} // namespace weft::interpret
