//===- ModelParityTest.cpp - Whole models against Hugging Face transformers -===//
//
// For each run file of configs/, goldens/NAME.safetensors holds the inputs of one step, all parameters in the
// checkpoint's shapes, and what transformers computed from them in float64 (goldens.py says how). The step is
// interpreted exactly and must agree to 1e-9; then it is compiled and executed in float32 and must agree to
// 1e-5: loss, the gradient of every parameter, logits. SGD without momentum keeps each gradient in its first
// moment.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compile.h"
#include "compiler/Pipeline.h"
#include "compiler/interpret/Interpreter.h"
#include "compiler/model/BuildPrograms.h"
#include "kernels/cpu/Cpu.h"
#include "kernels/reference/Bytes.h"
#include "runtime/comm/LocalCommunicator.h"
#include "runtime/config/ConfigLoader.h"
#include "runtime/config/ModelFamilies.h"
#include "runtime/device/OpenDevice.h"
#include "runtime/exec/Executor.h"
#include "runtime/train/Generator.h"
#include "tools/weft-run/TensorFiles.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace weft {
namespace {

using reference::Tensor;
using Tensors = std::map<std::string, Tensor>;

constexpr double kExact = 1e-9, kFloat32 = 1e-5;
constexpr double kSmallestEffect = 1e-3; // of a feature on the logits
constexpr const char *kExpected = "expected/", *kGradient = "gradient/";
constexpr const char *kLogitsWithout = "logits_without/"; // a feature
constexpr const char *kFirstMoment = "optimizer.first_moment.";

std::string pathOf(const std::string &folder, const std::string &file) {
  return std::string(WEFT_PARITY_FOLDER) + "/" + folder + "/" + file;
}

std::vector<std::string> configNames() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(pathOf("configs", "")))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> familyNames() {
  std::vector<std::string> names;
  for (const FamilyTraits &family : modelFamilies())
    names.push_back(family.name);
  return names;
}

double norm(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return std::sqrt(sum);
}

class ModelParity : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    absl::StatusOr<LoadedConfig> run = loadConfig(pathOf("configs", GetParam() + ".yaml"));
    ASSERT_TRUE(run.ok()) << run.status();
    loaded = *std::move(run);
    auto files = run::readTensors({pathOf("goldens", GetParam() + ".safetensors")});
    ASSERT_TRUE(files.ok()) << files.status();
    for (auto &[name, tensor] : *files) {
      if (absl::StartsWith(name, kExpected))
        expected[std::string(absl::StripPrefix(name, kExpected))] = std::move(tensor.value);
      else
        given.emplace(name, std::move(tensor));
    }
  }

  /// The golden's value of an input or variable, as a value of its type in the program.
  Tensor value(const std::string &name, const TensorType &type) const {
    auto found = given.find(name);
    if (found == given.end()) {
      ADD_FAILURE() << "the golden has no " << name;
      return *reference::makeZeros(type);
    }
    run::FileTensor tensor = found->second;
    if (tensor.value.elements() == type.elements()) // weft's parameters are row-major reshapes, nothing else
      tensor.value.shape = type.shape;
    absl::StatusOr<Tensor> converted = run::convertTo(tensor, type, name);
    EXPECT_TRUE(converted.ok()) << converted.status();
    return *converted;
  }

  /// Holds loss and gradients against the golden; the error of a tensor is relative to its norm, or to 1e-6
  /// of the norm of all gradients where that is larger.
  void compare(const Tensors &computed, double tolerance) const {
    double squares = 0;
    for (const auto &[name, tensor] : expected)
      if (absl::StartsWith(name, kGradient))
        squares += std::pow(norm(tensor.reals), 2);
    size_t gradients = 0;
    for (const auto &[name, tensor] : computed) {
      auto golden = expected.find(name);
      ASSERT_NE(golden, expected.end()) << name;
      ASSERT_EQ(golden->second.reals.size(), tensor.reals.size()) << name;
      std::vector<double> difference = tensor.reals;
      for (size_t index = 0; index < difference.size(); ++index)
        difference[index] -= golden->second.reals[index];
      double size = std::max(norm(golden->second.reals), 1e-6 * std::sqrt(squares));
      EXPECT_LE(norm(difference) / size, tolerance) << name;
      gradients += absl::StartsWith(name, kGradient);
    }
    EXPECT_TRUE(computed.count("loss"));
    EXPECT_EQ(gradients, std::count_if(expected.begin(), expected.end(), [](const auto &entry) {
                return absl::StartsWith(entry.first, kGradient);
              }));
  }

  LoadedConfig loaded;
  std::map<std::string, run::FileTensor> given;
  Tensors expected;
};

class InterpretedModel : public ModelParity {
protected:
  void SetUp() override {
    ModelParity::SetUp();
    context.loadDialect<nn::NnDialect, mlir::func::FuncDialect>();
    module = buildPrograms(&context, loaded.config);
    ASSERT_TRUE(module);
    ASSERT_TRUE(mlir::succeeded(runPhases(*module, loaded.config, {.stopAfter = "update"})));
    auto initial = interpret::initialVariables(*module, loaded.config.train.seed);
    ASSERT_TRUE(mlir::succeeded(initial));
    variables = *initial;
    for (auto parameter : module->getOps<nn::ParameterOp>()) {
      std::string name = parameter.getSymName().str();
      variables[name] = value(name, variables.at(name).type());
    }
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  interpret::Variables variables;
};

TEST_P(InterpretedModel, HasTheLossAndGradientsOfTransformers) {
  auto step = module->lookupSymbol<nn::StepOp>("step");
  std::vector<Tensor> inputs;
  for (auto [name, argument] :
       llvm::zip(step.getInputNames().getAsValueRange<mlir::StringAttr>(), step.getPrepare().getArguments()))
    inputs.push_back(value(name.str(), *interpret::tensorTypeOf(argument.getType())));
  interpret::Interpreter interpreter(interpret::Types::Exact);
  auto outputs = interpreter.run(step, inputs, variables);
  ASSERT_TRUE(mlir::succeeded(outputs));
  Tensors computed;
  auto yield = mlir::cast<nn::YieldOp>(step.getUpdate().front().getTerminator());
  for (auto [name, output] : llvm::zip(yield.getNames()->getAsValueRange<mlir::StringAttr>(), *outputs))
    if (name == "loss")
      computed["loss"] = output;
  for (const auto &[name, tensor] : variables)
    if (absl::StartsWith(name, kFirstMoment))
      computed[kGradient + std::string(absl::StripPrefix(name, kFirstMoment))] = tensor;
  compare(computed, kExact);
}

TEST_P(InterpretedModel, HasTheLogitsOfTransformersWhichTheFeatureChanges) {
  auto prefill = module->lookupSymbol<mlir::func::FuncOp>("prefill");
  int64_t length = loaded.config.data.sequenceLength;
  const std::vector<int64_t> &stream = given.at("tokens").value.integers;
  Tensor tokens =
      *reference::makeIntegers(DType::I32, {1, length}, {stream.begin(), stream.begin() + length});
  Tensor position = *reference::makeIntegers(DType::I64, {}, {length - 1});
  interpret::Interpreter interpreter(interpret::Types::Exact);
  auto results = interpreter.run(prefill, {tokens, position}, variables);
  ASSERT_TRUE(mlir::succeeded(results));
  const std::vector<double> &logits = results->front().reals, &golden = expected.at("logits").reals;
  ASSERT_EQ(logits.size(), golden.size());
  for (size_t index = 0; index < logits.size(); ++index)
    EXPECT_NEAR(logits[index], golden[index], kExact * norm(golden)) << index;
  size_t features = 0;
  for (const auto &[name, without] : expected) {
    if (!absl::StartsWith(name, kLogitsWithout))
      continue;
    double effect = 0;
    for (size_t index = 0; index < logits.size(); ++index)
      effect = std::max(effect, std::fabs(logits[index] - without.reals[index]));
    EXPECT_GT(effect, kSmallestEffect) << name;
    ++features;
  }
  EXPECT_EQ(features > 0, GetParam() != "base");
}

class ExecutedModel : public ModelParity {
protected:
  void SetUp() override {
    ModelParity::SetUp();
    cpu::InstructionSet set = cpu::supportedInstructionSets().back();
    ASSERT_EQ(cpu::useInstructionSet(set), absl::OkStatus());
    absl::StatusOr<Compiled> job =
        compileJob(loaded.config, loaded.resolvedYaml(), {{std::string(cpu::name(set))}, "", ""});
    ASSERT_TRUE(job.ok()) << job.status();
    compiled = *std::move(job);
    auto opened =
        openCpuDevice(compiled.parts.front().target.instructionSet, std::make_shared<ThreadPool>(2));
    ASSERT_TRUE(opened.ok()) << opened.status();
    device = *std::move(opened);
    auto created = Executor::create(compiled.parts.front(), *device);
    ASSERT_TRUE(created.ok()) << created.status();
    executor = *std::move(created);
    for (const Variable &variable : compiled.parts.front().variables)
      fill(*executor->variable(variable.name),
           variable.isState ? *reference::makeZeros(variable.type) : value(variable.name, variable.type));
  }

  /// Copies the part of this number.
  static void fill(const HostTensor &target, const Tensor &source, int64_t part = 0) {
    std::vector<std::byte> bytes = *reference::toBytes(source);
    ASSERT_LE((part + 1) * target.bytes.size(), bytes.size());
    std::copy_n(bytes.begin() + part * target.bytes.size(), target.bytes.size(), target.bytes.begin());
  }

  Compiled compiled;
  std::unique_ptr<Device> device;
  std::unique_ptr<Executor> executor;
};

TEST_P(ExecutedModel, HasTheLossAndGradientsOfTransformersInFloat32) {
  ProgramHandle step = *executor->program("step");
  const Program &program = compiled.parts.front().programs[step.index];
  for (const ProgramInput &input : program.inputs)
    for (uint32_t part = 0; part < (input.perMicrobatch ? program.microbatches : 1); ++part)
      fill(*executor->input(step, input.name, part), given.at(input.name).value, part);
  ASSERT_EQ(executor->run(step), absl::OkStatus());

  Tensors computed;
  auto collect = [&](const std::string &name, const HostTensor &tensor) {
    computed[name] = *reference::fromBytes(*tensor.type, tensor.bytes);
  };
  collect("loss", *executor->output(step, "loss"));
  for (const Variable &variable : compiled.parts.front().variables)
    if (absl::StartsWith(variable.name, kFirstMoment))
      collect(kGradient + std::string(absl::StripPrefix(variable.name, kFirstMoment)),
              *executor->variable(variable.name));
  compare(computed, kFloat32);
}

TEST_P(ExecutedModel, HasTheLogitsOfTransformersInFloat32) {
  ProgramHandle prefill = *executor->program("prefill");
  fill(*executor->input(prefill, "tokens"), given.at("tokens").value);
  fill(*executor->input(prefill, "position"),
       *reference::makeIntegers(DType::I64, {}, {loaded.config.data.sequenceLength - 1}));
  ASSERT_EQ(executor->run(prefill), absl::OkStatus());
  HostTensor output = *executor->output(prefill, "logits");
  std::vector<double> difference = reference::fromBytes(*output.type, output.bytes)->reals;
  const std::vector<double> &golden = expected.at("logits").reals;
  ASSERT_EQ(difference.size(), golden.size());
  for (size_t index = 0; index < golden.size(); ++index)
    difference[index] -= golden[index];
  EXPECT_LE(norm(difference), kFloat32 * norm(golden));
}

/// Of the configs named after a family, whose sequences are long enough for a text.
class WritingModel : public ExecutedModel {};

/// 64 tokens, each the likeliest after those before it.
TEST_P(WritingModel, WritesTheTextOfTransformers) {
  auto golden = expected.find("greedy");
  ASSERT_NE(golden, expected.end());
  auto asText = [](const std::vector<int64_t> &bytes) { return std::string(bytes.begin(), bytes.end()); };
  GenerateConfig options;
  options.prompt = asText(given.at("prompt").value.integers);
  options.maxTokens = static_cast<int64_t>(golden->second.integers.size());
  options.temperature = 0;
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = createTokenizer(TokenizerConfig());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  std::string text;
  auto alone = createLocalGroup(1);
  ASSERT_TRUE(alone.ok()) << alone.status();
  absl::StatusOr<TextWindow> window = TextWindow::bind(*executor, 0, loaded.config.data.sequenceLength);
  ASSERT_TRUE(window.ok()) << window.status();
  TextListener listener;
  listener.text = [&](std::string_view part) { text += part; };
  absl::StatusOr<GeneratedText> generated =
      generateText(*window, *alone->front(), **tokenizer, options, listener);
  ASSERT_TRUE(generated.ok()) << generated.status();
  EXPECT_EQ(text, asText(golden->second.integers));
}

std::string nameOf(const ::testing::TestParamInfo<std::string> &info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Models, InterpretedModel, ::testing::ValuesIn(configNames()), nameOf);
INSTANTIATE_TEST_SUITE_P(Models, ExecutedModel, ::testing::ValuesIn(configNames()), nameOf);
INSTANTIATE_TEST_SUITE_P(Families, WritingModel, ::testing::ValuesIn(familyNames()), nameOf);

} // namespace
} // namespace weft
