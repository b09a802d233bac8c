//===- RingTrials.cpp - Attention around a ring is attention ----------------===//
//
// Random meshes, sizes and masks: the forward and the backward of an attention whose keys are split as its
// queries are. What `partition` writes of it, interpreted on virtual ranks, and the executable, in float32 on
// ranks that are threads, are compared with the attention as a whole in float64; what the ranks send with the
// formula; and the pairs of queries and keys that each rank computes with each other.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpret/Interpreter.h"
#include "compiler/validate/Fingerprint.h"
#include "compiler/validate/Sabotage.h"
#include "compiler/validate/VirtualRanks.h"
#include "passes/fuse/Fuse.h"
#include "passes/partition/Partition.h"
#include "passes/pipeline/Schedule.h"
#include "runtime/executable/Communication.h"
#include "tools/weft-trials/Diagnostics.h"
#include "tools/weft-trials/Report.h"
#include "tools/weft-trials/RingCases.h"
#include "tools/weft-trials/Trials.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <cstdio>

using namespace mlir;

namespace weft::trials {
namespace {

constexpr double kExactBound = 1e-11, kFloat32Bound = 1e-5, kBalanceBound = 0.02;
/// What float32 leaves of terms that cancel: each of some eight steps to a term rounds by half a unit.
constexpr double kTermRounding = 8 * 0x1p-24, kTermRounding64 = 8 * 0x1p-53;

class RingTrial {
public:
  explicit RingTrial(const Options &options)
      : options(options), context(MLIRContext::Threading::DISABLED),
        report("ring", options.sabotage.empty() ? "" : " --sabotage " + options.sabotage) {
    context.loadDialect<nn::NnDialect, sched::SchedDialect, dist::DistDialect, func::FuncDialect>();
  }

  void run(uint64_t seed) {
    RingCase item = drawRingCase(&context, seed);
    report.beginCase(item.kind, seed);
    for (const std::string &feature : item.features)
      report.note(feature);
    DiagnosticText diagnostics(&context);
    if (absl::Status status = compare(item); !status.ok())
      report.fail(absl::StrCat(item.text, ": ", std::string(status.message()), diagnostics.text()));
    report.endCase();
  }

  int close() {
    absl::PrintF(
        "worst tensor in float64: %.2g (bound %g); in float32: %.2g (bound %g); where terms cancel, as a "
        "part of the bound of their rounding\n",
        worstExact, kExactBound, worstFloat32, kFloat32Bound);
    absl::PrintF("work of the busiest rank over the mean, causal: %.4f zigzag (bound %g), %.4f contiguous\n",
                 1 + worstZigzag, 1 + kBalanceBound, 1 + worstContiguous);
    return report.close();
  }

private:
  absl::Status compare(const RingCase &item) {
    ModuleOp global = item.module.get();
    interpret::Interpreter interpreter(interpret::Types::Exact);
    auto main = [](ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); };
    FailureOr<std::vector<Tensor>> whole = interpreter.run(main(global), item.inputs, {});
    if (failed(whole))
      return absl::InternalError("cannot be interpreted: ");
    OwningOpRef<ModuleOp> local = global.clone();
    PassManager manager(&context);
    manager.addPass(createPartition());
    if (failed(verify(global)) || failed(manager.run(*local)))
      return absl::InternalError("cannot be partitioned: ");
    if (const Sabotage *broken = findSabotage(options.sabotage))
      broken->apply(*local); // some cases have nothing to break
    FailureOr<std::vector<Tensor>> around =
        interpret::Interpreter(interpret::Types::Exact).run(main(*local), item.inputs, {});
    if (failed(around))
      return absl::InternalError("cannot be interpreted on ranks: ");
    compareAll("float64", item, *whole, *around, kExactBound, kTermRounding64, worstExact);
    return runOnRanks(item, *local, *whole);
  }

  void compareAll(const std::string &kind, const RingCase &item, const std::vector<Tensor> &whole,
                  const std::vector<Tensor> &around, double bound, double termRounding, double &worst) {
    double squares = 0;
    for (const Tensor &tensor : whole)
      squares += normOf(tensor) * normOf(tensor);
    double all = std::sqrt(squares);
    for (auto [name, cancelling, wanted, got] :
         llvm::zip_equal(item.resultNames, item.cancelling, whole, around)) {
      double error = tensorError(got, wanted, all), norm = std::max(normOf(wanted), 1e-6 * all);
      double tolerance = bound + termRounding * cancelling / norm;
      report.compare(kind, error, tolerance, absl::StrCat(name, " of ", item.text));
      worst = std::isnan(error) ? error : std::max(worst, error * bound / tolerance);
    }
  }

  absl::Status runOnRanks(const RingCase &item, ModuleOp local, const std::vector<Tensor> &whole) {
    auto function = local.lookupSymbol<func::FuncOp>("main");
    checkBalance(item,
                 interpret::Ranks::of(function).split(item.inputs[item.positionsInput],
                                                      function.getArgument(item.positionsInput).getType()));
    PassManager manager(&context);
    manager.addPass(createSchedule());
    manager.addPass(createFuse());
    if (failed(manager.run(local)))
      return absl::InternalError("cannot be compiled: ");
    absl::StatusOr<std::vector<Executable>> parts = partsOf(local);
    if (!parts.ok())
      return parts.status();
    interpret::Variables none;
    absl::StatusOr<std::vector<std::vector<Tensor>>> ran =
        runOnVirtualRanks(*parts, *local.getOps<sched::ProgramOp>().begin(), {item.inputs}, none);
    if (!ran.ok())
      return absl::InternalError(absl::StrCat("on virtual ranks: ", std::string(ran.status().message())));
    compareAll("float32", item, whole, ran->front(), kFloat32Bound, kTermRounding, worstFloat32);
    int64_t sent = trafficOf(parts->front(), parts->front().programs.front()).bytes();
    report.compare(
        "bytes", std::abs(static_cast<double>(sent - item.bytesSent())), 0,
        absl::StrCat(item.text, ": a rank sends ", sent, " bytes, by the formula ", item.bytesSent()));
    return absl::OkStatus();
  }

  /// Where all keys up to a query count, zigzag gives each rank as many pairs as any other.
  void checkBalance(const RingCase &item, const interpret::MeshValue &positions) {
    if (!item.isPlainlyCausal)
      return;
    double most = 0, all = 0;
    for (const interpret::Shared &mine : positions) {
      double pairs = 0;
      for (int64_t position : mine->integers)
        pairs += static_cast<double>(position + 1);
      most = std::max(most, pairs), all += pairs;
    }
    double imbalance = most * static_cast<double>(positions.size()) / all - 1;
    double &worst = item.isZigzag ? worstZigzag : worstContiguous;
    worst = std::max(worst, imbalance);
    if (item.isZigzag)
      report.compare("balance", imbalance, kBalanceBound, item.text);
  }

  const Options &options;
  MLIRContext context;
  Report report;
  double worstExact = 0, worstFloat32 = 0, worstZigzag = 0, worstContiguous = 0;
};

} // namespace

int runRingTrials(const Options &options) {
  const Sabotage *broken = findSabotage(options.sabotage);
  if (!options.sabotage.empty() && !(broken && broken->phase == "partition")) {
    std::fprintf(stderr, "ring: --sabotage takes one of weft-run --sabotage that breaks partition, not %s\n",
                 options.sabotage.c_str());
    return 2;
  }
  RingTrial trial(options);
  Deadline deadline(options.minutes);
  std::printf(
      "attention around a ring against attention as a whole: on interpreted ranks to %g, the executable on "
      "virtual ranks to %g in float32, bytes to the byte\n",
      kExactBound, kFloat32Bound);
  for (int64_t index = 0; index < options.count && !deadline.passed(); ++index)
    trial.run(options.seed + static_cast<uint64_t>(index));
  return trial.close();
}

} // namespace weft::trials
