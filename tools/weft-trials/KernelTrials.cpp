#include "kernels/cpu/Cpu.h"
#include "kernels/reference/Bytes.h"
#include "runtime/device/OpenDevice.h"
#include "tools/weft-trials/Cases.h"
#include "tools/weft-trials/CompiledProgram.h"
#include "tools/weft-trials/Diagnostics.h"
#include "tools/weft-trials/ErrorBound.h"
#include "tools/weft-trials/Evaluate.h"
#include "tools/weft-trials/Report.h"

#include "dialects/sched/SchedDialect.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <cstdio>
#include <limits>

using namespace mlir;

namespace weft::trials {
namespace {
constexpr int kThreads[] = {1, 2, 3};

/// What is broken on purpose.
struct Sabotage {
  bool term = false, bits = false;
};

using Bytes = std::vector<std::vector<std::byte>>;

/// The element of a result that is farthest from the exact one, in units of its bound.
struct Worst {
  double ratio = 0.0, got = 0.0, exact = 0.0, bound = 0.0;
  size_t element = 0;

  std::string text() const {
    return absl::StrFormat("element %d is %.9g, exact %.9g, tolerance %.3g", element, got, exact, bound);
  }
};

Worst worstElement(const Tensor &got, const Bounded &exact, Report &report) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Worst worst;
  int64_t unbounded = 0;
  bool real = isFloat(got.dtype);
  for (size_t index = 0; index < exact.error.size(); ++index) {
    double bound = exact.error[index];
    if (bound == infinity || (!real && bound != 0.0)) {
      ++unbounded;
      continue;
    }
    double x = real ? got.reals[index] : static_cast<double>(got.integers[index]);
    double y = real ? exact.value.reals[index] : static_cast<double>(exact.value.integers[index]);
    double ratio = x == y ? 0.0 : std::abs(x - y) / bound;
    if (std::isnan(ratio))
      ratio = infinity;
    if (ratio > worst.ratio)
      worst = {ratio, x, y, bound, index};
  }
  report.elements(static_cast<int64_t>(exact.error.size()));
  report.unbounded(unbounded);
  return worst;
}

class KernelTrial {
public:
  KernelTrial(MLIRContext &context, Sabotage sabotage, Report &report)
      : context(context), sabotage(sabotage), report(report) {}

  absl::Status openDevices(const std::string &instructionSet) {
    for (int threads : kThreads) {
      absl::StatusOr<std::unique_ptr<Device>> device =
          openCpuDevice(instructionSet, std::make_shared<ThreadPool>(threads));
      if (!device.ok())
        return device.status();
      devices.push_back(*std::move(device));
    }
    return absl::OkStatus();
  }

  void run(const Generator &generator, uint64_t seed) {
    Random random(seed);
    Style style;
    style.element = random.choose({DType::F32, DType::F32, DType::BF16, DType::F64});
    style.smooth = false;
    style.large = true;
    style.extreme = random.chance(0.3);
    style.integers = random.chance(0.3);
    CaseBuilder builder(&context, random, style);
    generator(builder);
    FailureOr<Case> item = builder.finish();
    if (failed(item))
      return report.fail("the generator's op is not valid");
    FailureOr<CompiledProgram> program = compileFunction(*item->module, devices.front()->instructionSet());
    if (failed(program))
      return report.fail("cannot be compiled: " + item->text());
    if (program->kernels + program->decompositions > 0)
      report.note(program->kernels > 0 ? "as kernel" : "decomposed");
    if (std::optional<Bytes> results = execute(*item, *program))
      compare(*item, *results);
  }

private:
  /// The results on one thread, which those on more must equal; none after a failure.
  std::optional<Bytes> execute(const Case &item, const CompiledProgram &program) {
    std::vector<Tensor> inputs = item.operands;
    if (sabotage.term)
      loseTerm(inputs);
    size_t results = item.function().getNumResults();
    std::optional<Bytes> first;
    for (size_t i = 0; i < devices.size(); ++i) {
      const std::unique_ptr<Device> &device = devices[i];
      absl::StatusOr<Bytes> bytes = trials::execute(program, *device, inputs, results);
      if (!bytes.ok()) {
        report.fail(absl::StrCat(std::string(bytes.status().message()), ": ", item.text()));
        return std::nullopt;
      }
      if (sabotage.bits && device == devices.back() && !bytes->front().empty())
        bytes->front().front() ^= std::byte{1};
      if (!first)
        first = *bytes;
      report.compare("threads", *bytes == *first ? 0.0 : 1.0, 0.0,
                     absl::StrCat(kThreads[i], " threads give other bits than 1: ", item.text()));
    }
    return first;
  }

  static void loseTerm(std::vector<Tensor> &inputs) {
    for (Tensor &input : inputs)
      if (!input.reals.empty()) {
        input.reals.back() = input.reals.back() == 0.0 ? 1.0 : 0.0;
        return;
      }
  }

  void compare(const Case &item, const Bytes &results) {
    OwningOpRef<ModuleOp> module = item.module.get().clone();
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    decomposeAll(function.getBody().front());
    FailureOr<std::vector<Bounded>> exact = boundErrors(function, item.operands);
    if (failed(exact))
      return report.fail("cannot be evaluated: " + item.text());
    for (auto [index, bytes] : llvm::enumerate(results)) {
      absl::StatusOr<Tensor> got = reference::fromBytes((*exact)[index].value.type(), bytes);
      if (!got.ok())
        return report.fail(std::string(got.status().message()));
      Worst worst = worstElement(*got, (*exact)[index], report);
      report.compare("result", worst.ratio, 1.0,
                     absl::StrCat("result ", index, ": ", worst.text(), "; ", item.text()));
    }
  }

  MLIRContext &context;
  Sabotage sabotage;
  Report &report;
  std::vector<std::unique_ptr<Device>> devices;
};
} // namespace

int runKernelTrials(const Options &options) {
  Sabotage sabotage{options.sabotage == "term", options.sabotage == "bits"};
  if (!options.sabotage.empty() && !sabotage.term && !sabotage.bits) {
    std::fprintf(stderr, "kernels: --sabotage takes term or bits, not %s\n", options.sabotage.c_str());
    return 2;
  }
  std::vector<cpu::InstructionSet> sets = cpu::supportedInstructionSets();
  std::string set = options.instructionSet;
  if (set.empty() && !sets.empty())
    set = std::string(cpu::name(sets.back()));
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<nn::NnDialect, sched::SchedDialect, func::FuncDialect>();
  FailureOr<Selection> selection = selectOps(context, options, groupGenerators());
  if (failed(selection))
    return 2;
  Report report("kernels", options.only.empty() ? "" : absl::StrCat(" --only ", options.only));
  KernelTrial trial(context, sabotage, report);
  if (absl::Status status = trial.openDevices(set); !status.ok()) {
    std::fprintf(stderr, "kernels: %s\n", std::string(status.message()).c_str());
    return 2;
  }
  std::printf("instruction set %s; threads 1, 2, 3 give the same bits\n%s\n", set.c_str(), kErrorFormula);
  Deadline deadline(options.minutes);
  for (int64_t index = 0; index < options.count && !deadline.passed(); ++index) {
    uint64_t seed = options.seed + static_cast<uint64_t>(index);
    const std::string &op = selection->opOf(seed);
    report.beginCase(op, seed);
    DiagnosticText diagnostics(&context);
    trial.run(selection->generators.at(op), seed);
    if (!diagnostics.text().empty())
      report.fail(diagnostics.text());
    report.endCase();
  }
  return report.close();
}

int listInstructionSets() {
  for (cpu::InstructionSet set : cpu::supportedInstructionSets())
    std::printf("%s\n", std::string(cpu::name(set)).c_str());
  return 0;
}

} // namespace weft::trials
