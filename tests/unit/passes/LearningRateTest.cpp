//===- LearningRateTest.cpp - Schedules against their formulas ------------------===//
//
// The schedule is built as ops, as `update` builds it, and run by the reference for each number of steps
// done.
//
//===----------------------------------------------------------------------===//
#include "passes/update/LearningRate.h"
#include "compiler/interpret/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

#include <cmath>
#include <functional>
#include <numbers>

namespace weft {
namespace {

/// Runs a schedule; casts are identities, so the result is exact to float64.
class Schedule {
public:
  explicit Schedule(const LearningRateSchedule &schedule) {
    context.loadDialect<nn::NnDialect, mlir::func::FuncDialect>();
    mlir::OpBuilder builder(&context);
    mlir::Location location = builder.getUnknownLoc();
    module = mlir::ModuleOp::create(builder, location);
    builder.setInsertionPointToEnd(module->getBody());
    auto count = mlir::RankedTensorType::get({}, builder.getI64Type());
    auto rate = mlir::RankedTensorType::get({}, builder.getF32Type());
    function =
        mlir::func::FuncOp::create(builder, location, "rate", builder.getFunctionType({count}, {rate}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    nn::ValueBuilder b(builder, location);
    mlir::Value result = buildLearningRate(b, schedule, function.getArgument(0));
    mlir::func::ReturnOp::create(builder, location, result);
  }

  /// The learning rate of step t = 1, 2, ...
  double at(int64_t t) {
    interpret::Variables variables;
    interpret::Interpreter interpreter(interpret::Types::Exact);
    auto results = interpreter.run(function, {reference::Tensor{DType::I64, {}, {}, {t - 1}}}, variables);
    EXPECT_TRUE(mlir::succeeded(results));
    return results->front().reals.front();
  }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
};

void expectRates(const LearningRateSchedule &schedule, const std::function<double(double)> &share) {
  Schedule built(schedule);
  for (int64_t t = 1; t <= schedule.steps + 5; ++t) {
    double wanted = schedule.peak * share(static_cast<double>(t));
    EXPECT_NEAR(built.at(t), wanted, 1e-14) << "step " << t;
  }
}

constexpr double kPeak = 0.01, kFloor = 0.1;

double clamp(double x) { return std::min(std::max(x, 0.0), 1.0); }

TEST(LearningRate, ConstantRisesThenStays) {
  expectRates({LearningRateKind::Constant, kPeak, 0.0, 20, 4, 0},
              [](double t) { return std::min(t / 4, 1.0); });
}

TEST(LearningRate, LinearFallsToItsFloor) {
  expectRates({LearningRateKind::Linear, kPeak, kFloor, 20, 4, 0},
              [](double t) { return t <= 4 ? t / 4 : kFloor + (1 - kFloor) * (1 - clamp((t - 4) / 16)); });
}

TEST(LearningRate, CosineFallsAlongHalfAWave) {
  expectRates({LearningRateKind::Cosine, kPeak, kFloor, 20, 4, 0}, [](double t) {
    return t <= 4 ? t / 4
                  : kFloor + (1 - kFloor) * (1 + std::cos(std::numbers::pi * clamp((t - 4) / 16))) / 2;
  });
}

TEST(LearningRate, WsdStaysThenFallsOverTheLastSteps) {
  expectRates({LearningRateKind::Wsd, kPeak, kFloor, 20, 4, 5},
              [](double t) { return t <= 4 ? t / 4 : kFloor + (1 - kFloor) * (1 - clamp((t - 15) / 5)); });
}

TEST(LearningRate, InverseSqrtFallsWithTheSquareRootOfTheStep) {
  expectRates({LearningRateKind::InverseSqrt, kPeak, 0.5, 40, 4, 0},
              [](double t) { return t <= 4 ? t / 4 : std::max(std::sqrt(4 / t), 0.5); });
}

TEST(LearningRate, WithoutWarmupTheFirstStepHasThePeak) {
  expectRates({LearningRateKind::InverseSqrt, kPeak, 0.0, 10, 0, 0},
              [](double t) { return std::sqrt(1 / t); });
  EXPECT_DOUBLE_EQ(Schedule({LearningRateKind::Constant, kPeak, 0.0, 10, 0, 0}).at(1), kPeak);
}

TEST(LearningRate, TheLastStepHasTheFloorAndSoHaveLaterOnes) {
  for (LearningRateKind kind : {LearningRateKind::Linear, LearningRateKind::Cosine, LearningRateKind::Wsd}) {
    Schedule schedule({kind, kPeak, kFloor, 20, 4, 5});
    EXPECT_NEAR(schedule.at(20), kPeak * kFloor, 1e-15);
    EXPECT_NEAR(schedule.at(1000), kPeak * kFloor, 1e-15);
  }
}

TEST(LearningRate, AWarmupAsLongAsTheRunDividesByNothing) {
  for (LearningRateKind kind : {LearningRateKind::Linear, LearningRateKind::Cosine, LearningRateKind::Wsd})
    EXPECT_NEAR(Schedule({kind, kPeak, kFloor, 4, 4, 0}).at(4), kPeak, 1e-15);
}

TEST(LearningRate, KindsAreReadByTheirNames) {
  EXPECT_EQ(parseLearningRateKind("inverse_sqrt"), LearningRateKind::InverseSqrt);
  EXPECT_EQ(parseLearningRateKind("Cosine"), std::nullopt);
}

} // namespace
} // namespace weft
