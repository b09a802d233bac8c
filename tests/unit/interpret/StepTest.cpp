// Steps: prepare once, microbatches folded by their combiners in order, update once, writes at the end.
#include "tests/unit/interpret/Program.h"

namespace weft::interpret {
namespace {

const char *kStep = R"(
nn.parameter @w : tensor<f32> constant
nn.step @train microbatches(3) inputs(["x", "scale"])
  prepare { ^bb0(%x: tensor<3x2xf32>, %scale: tensor<f32>):
    %total = nn.reduce sum %x [0, 1] : tensor<3x2xf32> -> tensor<f32>
    nn.yield %total : tensor<f32> }
  microbatch { ^bb0(%x: tensor<2xf32>, %scale: tensor<f32>, %total: tensor<f32>):
    %s = nn.reduce sum %x [0] : tensor<2xf32> -> tensor<f32>
    %y = nn.multiply %s, %scale : tensor<f32>
    nn.carry ["sum", "max", "min"] ["sum", "max", "min"] %y, %y, %y : tensor<f32>, tensor<f32>, tensor<f32> }
  update { ^bb0(%sum: tensor<f32>, %max: tensor<f32>, %min: tensor<f32>, %total: tensor<f32>):
    %w = nn.read @w : tensor<f32>
    %new = nn.add %w, %sum : tensor<f32>
    nn.write @w, %new : tensor<f32>
    %after = nn.read @w : tensor<f32>
    nn.yield ["sum", "max", "min", "total", "w"] %sum, %max, %min, %total, %after
      : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32> }
)";

TEST(Step, FoldsMicrobatchesAndWritesAtItsEnd) {
  Program program(kStep);
  program.variables["w"] = reals({}, {100});
  auto outputs = program.step({reals({3, 2}, {1, 2, 3, 4, -5, -6}), reals({}, {10})});
  ASSERT_TRUE(mlir::succeeded(outputs)) << program.messages;
  ASSERT_EQ(outputs->size(), 5u);
  EXPECT_EQ((*outputs)[0], reals({}, {-10}));
  EXPECT_EQ((*outputs)[1], reals({}, {70}));
  EXPECT_EQ((*outputs)[2], reals({}, {-110}));
  EXPECT_EQ((*outputs)[3], reals({}, {-1}));
  EXPECT_EQ((*outputs)[4], reals({}, {100})); // from before the step
  EXPECT_EQ(program.variables["w"], reals({}, {90}));
  EXPECT_EQ(program.written, std::vector<std::string>{"w"});
}

TEST(Step, SumsInTheDeclaredTypeInAscendingOrder) {
  Program program(kStep);
  program.variables["w"] = reals({}, {0});
  // (2^24 + 1) - 2^24: the 1 is lost in float32, kept in float64.
  std::vector<Tensor> inputs = {reals({3, 2}, {0x1p24, 0, 1, 0, -0x1p24, 0}), reals({}, {1})};
  auto exact = program.step(inputs);
  ASSERT_TRUE(mlir::succeeded(exact)) << program.messages;
  EXPECT_EQ((*exact)[0], reals({}, {1}));
  auto declared = program.step(inputs, Types::Declared);
  ASSERT_TRUE(mlir::succeeded(declared)) << program.messages;
  EXPECT_EQ((*declared)[0], reals({}, {0}));
}

TEST(Step, ThatFailsWritesNothing) {
  std::string text = kStep;
  text.insert(text.find("    nn.yield [\"sum\""), "    %i = nn.constant dense<2> : tensor<i32>\n"
                                                  "    %p = nn.power %i, %i : tensor<i32>\n");
  Program program(text);
  program.variables["w"] = reals({}, {100});
  EXPECT_TRUE(mlir::failed(program.step({reals({3, 2}, {1, 2, 3, 4, 5, 6}), reals({}, {1})})));
  EXPECT_EQ(program.variables["w"], reals({}, {100}));
  EXPECT_TRUE(program.written.empty());
}

TEST(Step, RefusesOtherInputs) {
  Program program(kStep);
  EXPECT_TRUE(mlir::failed(program.step({reals({}, {1})})));
  EXPECT_EQ(program.messages, "'nn.step' op takes 2 inputs, not 1\n");
  program.messages.clear();
  EXPECT_TRUE(mlir::failed(program.step({reals({2}, {1, 2}), reals({}, {1})})));
  EXPECT_EQ(program.messages, "'nn.step' op input 0 must be tensor<3x2xf32>, it is tensor<2xf32>\n");
}

} // namespace
} // namespace weft::interpret
