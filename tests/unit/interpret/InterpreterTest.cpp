// Functions: each primitive reaches its reference function, composites mean their decomposition, types round
// or not.
#include "tests/unit/interpret/Program.h"

#include <cmath>

namespace weft::interpret {
namespace {

/// Runs `body`, which defines %y, as a function of `arguments` (their declarations).
void expectValue(const std::string &arguments, const std::string &body, const std::string &type,
                 std::vector<Tensor> inputs, const Tensor &expected, Types types = Types::Exact) {
  Program program("func.func @main(" + arguments + ") -> " + type + " {\n" + body + "\nreturn %y : " + type +
                  "\n}");
  ASSERT_TRUE(program.module);
  mlir::FailureOr<std::vector<Tensor>> results = program.call(std::move(inputs), types);
  ASSERT_TRUE(mlir::succeeded(results)) << program.messages;
  ASSERT_EQ(results->size(), 1u);
  EXPECT_EQ(results->front(), expected) << body;
}

TEST(Interpreter, EvaluatesElementwisePrimitivesByName) {
  Tensor x = reals({2}, {4, -9});
  expectValue("%x: tensor<2xf32>", "%y = nn.negate %x : tensor<2xf32>", "tensor<2xf32>", {x},
              reals({2}, {-4, 9}));
  expectValue("%x: tensor<2xf32>", "%y = nn.add %x, %x : tensor<2xf32>", "tensor<2xf32>", {x},
              reals({2}, {8, -18}));
  expectValue("%x: tensor<2xf32>", "%y = nn.is_finite %x : tensor<2xf32> -> tensor<2xi1>", "tensor<2xi1>",
              {x}, integers({2}, {1, 1}, DType::I1));
  expectValue("%x: tensor<2xi1>", "%y = nn.not %x : tensor<2xi1>", "tensor<2xi1>",
              {integers({2}, {1, 0}, DType::I1)}, integers({2}, {0, 1}, DType::I1));
  expectValue("%x: tensor<2xf32>",
              "%m = nn.compare lt %x, %x : tensor<2xf32> -> tensor<2xi1>\n"
              "%z = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
              "%y = nn.select %m, %x, %z : tensor<2xi1>, tensor<2xf32>",
              "tensor<2xf32>", {x}, reals({2}, {1, 2}));
}

TEST(Interpreter, EvaluatesShapePrimitives) {
  Tensor x = reals({2, 3}, {1, 2, 3, 4, 5, 6});
  const char *argument = "%x: tensor<2x3xf32>";
  expectValue(argument, "%y = nn.reshape %x : tensor<2x3xf32> -> tensor<6xf32>", "tensor<6xf32>", {x},
              reals({6}, {1, 2, 3, 4, 5, 6}));
  expectValue(argument, "%y = nn.transpose %x [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>", "tensor<3x2xf32>",
              {x}, reals({3, 2}, {1, 4, 2, 5, 3, 6}));
  expectValue(argument, "%y = nn.slice %x [0, 1] : tensor<2x3xf32> -> tensor<2x1xf32>", "tensor<2x1xf32>",
              {x}, reals({2, 1}, {2, 5}));
  expectValue(
      argument,
      "%i = nn.constant dense<1> : tensor<i64>\n%j = nn.constant dense<7> : tensor<i64>\n"
      "%y = nn.slice %x [0, 0] (%i, %j : tensor<i64>, tensor<i64>) : tensor<2x3xf32> -> tensor<1x2xf32>",
      "tensor<1x2xf32>", {x}, reals({1, 2}, {5, 6}));
  expectValue(argument, "%y = nn.pad %x [0, 1] [1, 0] 9.0 : tensor<2x3xf32> -> tensor<3x4xf32>",
              "tensor<3x4xf32>", {x}, reals({3, 4}, {9, 1, 2, 3, 9, 4, 5, 6, 9, 9, 9, 9}));
  expectValue(argument,
              "%y = nn.concatenate 0 (%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>",
              "tensor<4x3xf32>", {x}, reals({4, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}));
  expectValue("%x: tensor<2xf32>", "%y = nn.broadcast %x [1] : tensor<2xf32> -> tensor<2x2xf32>",
              "tensor<2x2xf32>", {reals({2}, {1, 2})}, reals({2, 2}, {1, 2, 1, 2}));
}

TEST(Interpreter, EvaluatesContractionsAndReductions) {
  Tensor x = reals({2, 2}, {1, 2, 3, 4});
  const char *argument = "%x: tensor<2x2xf32>";
  expectValue(argument,
              "%y = nn.einsum \"ij,jk->ik\" (%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf64>",
              "tensor<2x2xf64>", {x}, reals({2, 2}, {7, 10, 15, 22}, DType::F64));
  expectValue(argument, "%y = nn.reduce max %x [1] : tensor<2x2xf32> -> tensor<2xf32>", "tensor<2xf32>", {x},
              reals({2}, {2, 4}));
  expectValue(argument, "%y = nn.reduce sum %x [0, 1] : tensor<2x2xf32> -> tensor<f64>", "tensor<f64>", {x},
              reals({}, {10}, DType::F64));
  expectValue(argument, "%y = nn.cumulative_sum %x 0 : tensor<2x2xf32>", "tensor<2x2xf32>", {x},
              reals({2, 2}, {1, 2, 4, 6}));
  expectValue("%x: tensor<2xi32>", "%y = nn.reduce sum %x [0] : tensor<2xi32> -> tensor<i64>", "tensor<i64>",
              {integers({2}, {2147483647, 1})}, integers({}, {2147483648}, DType::I64));
}

TEST(Interpreter, EvaluatesTopK) {
  Program program("func.func @main(%x: tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi32>) {\n"
                  "%v, %i = nn.top_k %x : tensor<3xf32> -> tensor<2xf32>, tensor<2xi32>\n"
                  "return %v, %i : tensor<2xf32>, tensor<2xi32>\n}");
  mlir::FailureOr<std::vector<Tensor>> results = program.call({reals({3}, {1, 3, 2})});
  ASSERT_TRUE(mlir::succeeded(results)) << program.messages;
  EXPECT_EQ((*results)[0], reals({2}, {3, 2}));
  EXPECT_EQ((*results)[1], integers({2}, {1, 2}));
}

TEST(Interpreter, EvaluatesIndexingAndGenerators) {
  expectValue("%t: tensor<2x1xf32>, %i: tensor<3xi32>",
              "%y = nn.gather %t, %i : (tensor<2x1xf32>, tensor<3xi32>) -> tensor<3x1xf32>",
              "tensor<3x1xf32>", {reals({2, 1}, {5, 6}), integers({3}, {1, 0, 2})}, reals({3, 1}, {6, 5, 0}));
  expectValue("%u: tensor<3xbf16>, %i: tensor<3xi32>",
              "%y = nn.scatter_add %i, %u : (tensor<3xi32>, tensor<3xbf16>) -> tensor<2xf32>",
              "tensor<2xf32>", {reals({3}, {1, 2, 4}, DType::BF16), integers({3}, {1, 0, 1})},
              reals({2}, {2, 5}));
  expectValue("", "%y = nn.iota 0 : tensor<3xi32>", "tensor<3xi32>", {}, integers({3}, {0, 1, 2}));
  expectValue("", "%y = nn.constant dense<[true, false]> : tensor<2xi1>", "tensor<2xi1>", {},
              integers({2}, {1, 0}, DType::I1));
  expectValue("", "%y = nn.constant dense<-3> : tensor<2xi64>", "tensor<2xi64>", {},
              integers({2}, {-3, -3}, DType::I64));
}

TEST(Interpreter, DrawsTheNumbersOfTheReference) {
  Program program(
      "func.func @main(%s: tensor<i64>, %n: tensor<2xi64>) -> tensor<2x3xf32> {\n"
      "%y = nn.random_uniform %s, %n {seed = 1 : i64, op_id = 42 : i64} : tensor<i64>, tensor<2xi64> -> "
      "tensor<2x3xf32>\nreturn %y : tensor<2x3xf32>\n}");
  auto both = program.call({integers({}, {5}, DType::I64), integers({2}, {8, 9}, DType::I64)});
  auto swapped = program.call({integers({}, {5}, DType::I64), integers({2}, {9, 8}, DType::I64)});
  ASSERT_TRUE(mlir::succeeded(both) && mlir::succeeded(swapped)) << program.messages;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ((*both)[0].reals[i], (*swapped)[0].reals[3 + i]);
    EXPECT_NE((*both)[0].reals[i], (*swapped)[0].reals[i]);
  }
}

TEST(Interpreter, ExactTypesNeverRoundAndDeclaredTypesRoundOncePerOp) {
  const char *argument = "%x: tensor<2xf32>";
  const char *body = "%b = nn.cast %x : tensor<2xf32> -> tensor<2xbf16>\n"
                     "%s = nn.add %b, %b : tensor<2xbf16>\n"
                     "%y = nn.cast %s : tensor<2xbf16> -> tensor<2xf32>";
  Tensor x = reals({2}, {1 + 0x1p-8, 0x1p-200}); // between two bf16; below every float32
  expectValue(argument, body, "tensor<2xf32>", {x}, reals({2}, {2 + 0x1p-7, 0x1p-199}));
  expectValue(argument, body, "tensor<2xf32>", {x}, reals({2}, {2, 0}), Types::Declared);
}

TEST(Interpreter, GivesCompositesTheMeaningOfTheirDecomposition) {
  Tensor x = reals({1, 2}, {3, 4}), w = reals({2}, {1, 10});
  Program program(
      "func.func @main(%x: tensor<1x2xf32>, %w: tensor<2xf32>) -> (tensor<1x2xf32>, tensor<1xf32>) {\n"
      "%y, %r = nn.rms_norm %x, %w {epsilon = 0.5} : (tensor<1x2xf32>, tensor<2xf32>) -> (tensor<1x2xf32>, "
      "tensor<1xf32>)\nreturn %y, %r : tensor<1x2xf32>, tensor<1xf32>\n}");
  for (int again = 0; again < 2; ++again) {
    auto results = program.call({x, w});
    ASSERT_TRUE(mlir::succeeded(results)) << program.messages;
    double rstd = 1 / std::sqrt(12.5 + 0.5);
    EXPECT_NEAR((*results)[1].reals[0], rstd, 1e-15);
    EXPECT_NEAR((*results)[0].reals[0], 3 * rstd, 1e-15);
    EXPECT_NEAR((*results)[0].reals[1], 40 * rstd, 1e-14);
  }
}

TEST(Interpreter, EvaluatesACompositeWhoseOperandsAreOneValue) {
  Program program("func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n"
                  "%y = nn.glu relu %x, %x : tensor<1xf32>\nreturn %y : tensor<1xf32>\n}");
  auto results = program.call({reals({1}, {3})});
  ASSERT_TRUE(mlir::succeeded(results)) << program.messages;
  EXPECT_EQ((*results)[0], reals({1}, {9}));
}

TEST(Interpreter, LeavesTheProgramAsItWas) {
  Program program("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                  "%y = nn.softmax %x : tensor<2xf32>\nreturn %y : tensor<2xf32>\n}");
  auto print = [&] {
    std::string text;
    llvm::raw_string_ostream stream(text);
    program.module->print(stream);
    return text;
  };
  std::string before = print();
  auto results = program.call({reals({2}, {1, 1})});
  ASSERT_TRUE(mlir::succeeded(results)) << program.messages;
  EXPECT_EQ((*results)[0], reals({2}, {0.5, 0.5}));
  EXPECT_EQ(print(), before);
}

TEST(Interpreter, PassesBoundariesStopsOfGradientsAndCalls) {
  Program program(
      "func.func private @twice(%x: tensor<f32>) -> tensor<f32> {\n"
      "%y = nn.add %x, %x : tensor<f32>\nreturn %y : tensor<f32>\n}\n"
      "func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {\n"
      "%b = nn.boundary 3 %x : tensor<f32>\n%s = nn.stop_gradient %b : tensor<f32>\n"
      "%y = call @twice(%s) : (tensor<f32>) -> tensor<f32>\nreturn %y, %x : tensor<f32>, tensor<f32>\n}");
  auto results = program.call({reals({}, {3})});
  ASSERT_TRUE(mlir::succeeded(results)) << program.messages;
  EXPECT_EQ((*results)[0], reals({}, {6}));
  EXPECT_EQ((*results)[1], reals({}, {3}));
}

TEST(Interpreter, ReadsVariables) {
  Program program(
      "nn.parameter @w : tensor<1xf32> constant\n"
      "func.func @main() -> tensor<1xf32> {\n%y = nn.read @w : tensor<1xf32>\nreturn %y : tensor<1xf32>\n}");
  EXPECT_TRUE(mlir::failed(program.call()));
  EXPECT_EQ(program.messages, "'nn.read' op reads @w, which has no value\n");
  program.messages.clear();
  program.variables["w"] = reals({2}, {1, 2});
  EXPECT_TRUE(mlir::failed(program.call()));
  EXPECT_EQ(program.messages, "'nn.read' op @w must be tensor<1xf32>, it is tensor<2xf32>\n");
  program.variables["w"] = reals({1}, {1 + 0x1p-30});
  EXPECT_EQ((*program.call())[0], reals({1}, {1 + 0x1p-30}));
  EXPECT_EQ((*program.call({}, Types::Declared))[0], reals({1}, {1}));
}

void expectRefused(const std::string &text, std::vector<Tensor> arguments, const std::string &message) {
  Program program(text);
  ASSERT_TRUE(program.module);
  EXPECT_TRUE(mlir::failed(program.call(std::move(arguments))));
  EXPECT_EQ(program.messages, message + "\n");
}

TEST(Interpreter, RefusesOtherArguments) {
  std::string identity =
      "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\nreturn %x : tensor<2xf32>\n}";
  expectRefused(identity, {}, "'func.func' op takes 1 arguments, not 0");
  expectRefused(identity, {reals({3}, {1, 2, 3})},
                "'func.func' op argument 0 must be tensor<2xf32>, it is tensor<3xf32>");
  expectRefused("func.func @main(%x: index) {\nreturn\n}", {reals({}, {1})},
                "'func.func' op argument 0 has a type that cannot be evaluated: 'index'");
}

TEST(Interpreter, RefusesFunctionsThatItCannotRun) {
  expectRefused("func.func private @main()", {}, "'func.func' op has no body to run");
  expectRefused("func.func private @other()\nfunc.func @main() {\ncall @other() : () -> ()\nreturn\n}", {},
                "'func.call' op calls @other, which has no body of one block");
  expectRefused("func.func @main() {\ncall @main() : () -> ()\nreturn\n}", {},
                "'func.call' op is nested more than 100 calls deep");
  expectRefused(
      "func.func private @f()\nfunc.func @main() {\n%f = func.constant @f : () -> ()\nreturn\n}", {},
      "'func.constant' op is neither a primitive nor a composite: the interpreter cannot evaluate it");
}

TEST(Interpreter, ReportsWhatTheReferenceRefusesAtTheOp) {
  expectRefused("func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {\n"
                "%y = nn.power %x, %x : tensor<2xi32>\nreturn %y : tensor<2xi32>\n}",
                {integers({2}, {1, 2})},
                "'nn.power' op power: operands must be of a float type, they are tensor<2xi32>");
}

} // namespace
} // namespace weft::interpret
