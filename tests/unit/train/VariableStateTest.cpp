#include "runtime/train/VariableState.h"
#include "runtime/support/InitialValues.h"
#include "tests/unit/device/TestKernels.h"
#include "tests/unit/executable/SampleExecutable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace weft {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class VariableState : public ::testing::Test {
protected:
  std::unique_ptr<Device> device = testing::createTestDevice(2);

  /// The first values of the sample's one variable, w: four float32.
  std::vector<float> firstValues(Initializer initializer) {
    Executable executable = testing::sampleExecutable();
    executable.variables[0].initializer = std::move(initializer);
    absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::create(std::move(executable), *device);
    EXPECT_EQ(executor.status(), absl::OkStatus());
    initializeVariables(**executor, 7);
    std::span<float> values = (*executor)->variable(0).as<float>();
    return {values.begin(), values.end()};
  }
};

TEST_F(VariableState, ConstantsAreWhatTheySay) {
  EXPECT_THAT(firstValues({InitializerKind::Zeros, {}}), Each(0.0f));
  EXPECT_THAT(firstValues({InitializerKind::Ones, {}}), Each(1.0f));
  EXPECT_THAT(firstValues({InitializerKind::Constant, {2.5}}), Each(2.5f));
}

TEST_F(VariableState, RandomValuesAreFunctionsOfSeedNameAndIndex) {
  const InitialValues random(7, testing::sampleExecutable().variables[0].name);
  std::vector<float> expected;
  for (int i = 0; i < 4; ++i)
    expected.push_back(static_cast<float>(1.0 + 0.5 * random.normal(i)));
  EXPECT_EQ(firstValues({InitializerKind::Normal, {1.0, 0.5}}), expected);
  for (int i = 0; i < 4; ++i)
    expected[i] = static_cast<float>(-3.0 + 5.0 * random.uniform(i));
  EXPECT_EQ(firstValues({InitializerKind::Uniform, {-3.0, 2.0}}), expected);
}

TEST_F(VariableState, TruncatedValuesStayInside) {
  for (float value : firstValues({InitializerKind::TruncatedNormal, {0.0, 1.0, -0.1, 0.2}})) {
    EXPECT_GE(value, -0.1f);
    EXPECT_LE(value, 0.2f);
  }
}

TEST_F(VariableState, ViewsGiveTheExecutorsMemoryUnderCheckpointNames) {
  absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::create(testing::sampleExecutable(), *device);
  ASSERT_EQ(executor.status(), absl::OkStatus());
  std::vector<checkpoint::TensorView> views = variableViews(**executor);
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].name, (*executor)->executable().variables[0].checkpointName);
  EXPECT_EQ(views[0].data, (*executor)->variable(0).bytes.data());
}

} // namespace
} // namespace weft
