//===- CachedLogitsTest.cpp - Generation with a cache is generation without -----===//
//
// For each model of tests/parity: the logits that `decode` gives from the caches are those that `prefill`,
// which computes the whole text, gives at the same position. In float64 to rounding, executed in float32 to
// 1e-5 of their norm, in bfloat16 at most twice as far from float64 as without a cache. And greedily
// generated tokens are the same, beyond the end of the window as well.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compile.h"
#include "compiler/Pipeline.h"
#include "compiler/interpret/Interpreter.h"
#include "compiler/model/BuildPrograms.h"
#include "kernels/cpu/Cpu.h"
#include "kernels/reference/Bytes.h"
#include "runtime/config/ConfigLoader.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/train/TextWindow.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace weft {
namespace {

using Logits = std::vector<double>;

constexpr int64_t kPrompt = 5;
constexpr double kExact = 1e-12, kFloat32 = 1e-5;

std::vector<std::string> configNames() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(WEFT_MODEL_CONFIGS))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

double norm(const Logits &values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return std::sqrt(sum);
}

double distance(Logits a, const Logits &b) {
  for (size_t i = 0; i < a.size(); ++i)
    a[i] -= b.at(i);
  return norm(a);
}

class CachedLogits : public ::testing::TestWithParam<std::string> {
protected:
  /// Weights so large that attention is far from an average.
  LoadedConfig load(const std::string &recipe) {
    absl::StatusOr<LoadedConfig> run =
        loadConfig(std::string(WEFT_MODEL_CONFIGS) + "/" + GetParam() + ".yaml",
                   {"model.initializer_range=0.25", "precision.recipe=" + recipe});
    EXPECT_TRUE(run.ok()) << run.status();
    return *std::move(run);
  }

  void SetUp() override {
    LoadedConfig loaded = load("fp32");
    length = loaded.config.data.sequenceLength;
    for (int64_t i = 0; i < length; ++i)
      text.push_back(static_cast<int32_t>((i * i * 7 + 3) % loaded.config.model.vocabSize));
    context.loadDialect<nn::NnDialect, mlir::func::FuncDialect>();
    module = buildPrograms(&context, loaded.config);
    ASSERT_TRUE(module);
    auto initial = interpret::initialVariables(*module, 3);
    ASSERT_TRUE(mlir::succeeded(initial));
    variables = *initial;
  }

  Logits interpret(const char *program, std::span<const int32_t> tokens, int64_t position) {
    auto function = module->lookupSymbol<mlir::func::FuncOp>(program);
    auto ids = reference::makeIntegers(DType::I32, {1, static_cast<int64_t>(tokens.size())},
                                       {tokens.begin(), tokens.end()});
    auto at = reference::makeIntegers(DType::I64, {}, {position});
    interpret::Interpreter interpreter(interpret::Types::Exact);
    auto results = interpreter.run(function, {*ids, *at}, variables);
    if (mlir::failed(results)) {
      ADD_FAILURE() << program;
      return {};
    }
    return results->front().reals;
  }

  /// Positions that are compared: each costs a whole text in float64.
  std::vector<int64_t> compared() const { return {kPrompt - 1, kPrompt, (kPrompt + length) / 2, length - 1}; }

  /// What `prefill` gives of the whole text.
  Logits exactly(int64_t position) { return interpret("prefill", text, position); }

  int64_t length = 0;
  std::vector<int32_t> text;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  interpret::Variables variables;
};

TEST_P(CachedLogits, AreThoseOfTheWholeTextInFloat64) {
  std::vector<int32_t> prompt(text.begin(), text.begin() + kPrompt);
  prompt.resize(text.size());
  std::vector<Logits> found = {interpret("prefill", prompt, kPrompt - 1)};
  for (int64_t position = kPrompt; position < length; ++position)
    found.push_back(interpret("decode", {&text[static_cast<size_t>(position)], 1}, position));
  for (int64_t position : compared()) {
    const Logits wanted = exactly(position);
    EXPECT_LE(distance(found[static_cast<size_t>(position - kPrompt + 1)], wanted), kExact * norm(wanted))
        << position;
  }
}

/// The programs compiled, with the weights of the test.
struct Job {
  std::unique_ptr<Device> device;
  std::unique_ptr<Executor> executor;
};

class ExecutedCachedLogits : public CachedLogits {
protected:
  Job compile(const std::string &recipe) {
    Job job;
    cpu::InstructionSet set = cpu::supportedInstructionSets().back();
    EXPECT_EQ(cpu::useInstructionSet(set), absl::OkStatus());
    LoadedConfig loaded = load(recipe);
    auto programs = compileJob(loaded.config, loaded.resolvedYaml(), {{std::string(cpu::name(set))}, "", ""});
    EXPECT_TRUE(programs.ok()) << programs.status();
    job.device = *openCpuDevice(std::string(cpu::name(set)), std::make_shared<ThreadPool>(2));
    auto executor = Executor::create(programs->parts.front(), *job.device);
    EXPECT_TRUE(executor.ok()) << executor.status();
    job.executor = *std::move(executor);
    for (const Variable &variable : programs->parts.front().variables)
      if (variable.trainable) {
        std::vector<std::byte> bytes = *reference::toBytes(variables.at(variable.name));
        std::copy(bytes.begin(), bytes.end(), job.executor->variable(variable.name)->bytes.begin());
      }
    return job;
  }

  static Logits logits(TextWindow &window, std::span<const int32_t> ids) {
    absl::StatusOr<std::span<const float>> values = window.logitsBehind(ids);
    EXPECT_TRUE(values.ok()) << values.status();
    return {values->begin(), values->end()};
  }

  /// Of the first `count` tokens, by `prefill` alone.
  Logits withoutCache(Executor &executor, std::span<const int32_t> ids) {
    TextWindow window = *TextWindow::bind(executor, 0, length);
    return logits(window, ids);
  }

  /// The largest distance from float64, relative to the norm: with the cache, and without.
  std::pair<double, double> errors(Executor &executor) {
    TextWindow window = *TextWindow::bind(executor, 0, length);
    std::pair<double, double> worst;
    std::vector<Logits> cached;
    for (int64_t count = kPrompt; count <= length; ++count)
      cached.push_back(logits(window, std::span(text).first(static_cast<size_t>(count))));
    for (int64_t position : compared()) {
      const int64_t count = position + 1;
      const Logits wanted = exactly(position);
      worst.first = std::max(worst.first,
                             distance(cached[static_cast<size_t>(count - kPrompt)], wanted) / norm(wanted));
      worst.second = std::max(
          worst.second,
          distance(withoutCache(executor, std::span(text).first(static_cast<size_t>(count))), wanted) /
              norm(wanted));
    }
    return worst;
  }
};

TEST_P(ExecutedCachedLogits, AreThoseOfFloat64InFloat32) {
  Job job = compile("fp32");
  auto [cached, whole] = errors(*job.executor);
  EXPECT_LE(cached, kFloat32);
  EXPECT_LE(whole, kFloat32);
}

TEST_P(ExecutedCachedLogits, AreAsExactAsThoseOfTheWholeTextInBfloat16) {
  Job job = compile("bf16");
  auto [cached, whole] = errors(*job.executor);
  EXPECT_GT(whole, kFloat32); // it is bfloat16
  EXPECT_LE(cached, 2 * whole);
}

TEST_P(ExecutedCachedLogits, GiveTheSameTokensGreedilyAndGoOnBeyondTheWindow) {
  Job job = compile("fp32");
  auto likeliest = [](const Logits &values) {
    return static_cast<int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
  };
  std::vector<int32_t> cached(text.begin(), text.begin() + kPrompt), whole = cached;
  TextWindow window = *TextWindow::bind(*job.executor, 0, length);
  while (static_cast<int64_t>(cached.size()) < 3 * length)
    cached.push_back(likeliest(logits(window, cached)));
  // The window begins with the text, and anew with its last half each time that it is full.
  size_t begin = 0;
  while (whole.size() < cached.size()) {
    if (whole.size() - begin > static_cast<size_t>(length))
      begin = whole.size() - static_cast<size_t>(length / 2);
    whole.push_back(likeliest(withoutCache(*job.executor, std::span(whole).subspan(begin))));
  }
  EXPECT_EQ(cached, whole);
}

std::string nameOf(const ::testing::TestParamInfo<std::string> &info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Models, CachedLogits, ::testing::ValuesIn(configNames()), nameOf);
INSTANTIATE_TEST_SUITE_P(Models, ExecutedCachedLogits, ::testing::ValuesIn(configNames()), nameOf);

} // namespace
} // namespace weft
