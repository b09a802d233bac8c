#include "compiler/interpret/Variables.h"

#include "kernels/reference/Rounding.h"
#include "runtime/support/InitialValues.h"
#include "tests/unit/interpret/Program.h"

namespace weft::interpret {
namespace {

TEST(Variables, StartAsTheirInitializerSaysRoundedToTheirType) {
  Program program("nn.parameter @a : tensor<2xf32> constant {mean = 1.5}\n"
                  "nn.parameter @b : tensor<3xbf16> normal {mean = 1.0, deviation = 0.02}\n"
                  "nn.parameter @c : tensor<3xf32> uniform {mean = 1.0, deviation = 0.5}\n"
                  "nn.state @d : tensor<i64> constant\nnn.state @e : tensor<i1> constant {mean = 1.0}");
  mlir::FailureOr<Variables> variables = initialVariables(*program.module, 7);
  ASSERT_TRUE(mlir::succeeded(variables)) << program.messages;
  EXPECT_EQ(variables->size(), 5u);
  EXPECT_EQ(variables->at("a"), reals({2}, {1.5, 1.5}));
  EXPECT_EQ(variables->at("d"), integers({}, {0}, DType::I64));
  EXPECT_EQ(variables->at("e"), integers({}, {1}, DType::I1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(variables->at("b").reals[i],
              reference::roundToType(1.0 + 0.02 * InitialValues(7, "b").normal(i), DType::BF16));
    EXPECT_EQ(variables->at("c").reals[i],
              reference::roundToType(1.0 + 0.5 * (2 * InitialValues(7, "c").uniform(i) - 1), DType::F32));
  }
}

TEST(Variables, RefuseTensorsTooLargeForTheReference) {
  Program program("nn.parameter @a : tensor<65536x65536xf32> constant");
  EXPECT_TRUE(mlir::failed(initialVariables(*program.module, 0)));
  EXPECT_EQ(program.messages,
            "'nn.parameter' op tensor: tensor<65536x65536xf64> has more than 2^31 elements: too "
            "large for the reference\n");
}

} // namespace
} // namespace weft::interpret
