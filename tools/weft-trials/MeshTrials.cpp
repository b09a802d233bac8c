//===- MeshTrials.cpp - Every mesh trains as one device does ----------------===//
//
// Each case trains five steps of a small model three times: the global program, interpreted in float64 (one
// device); the local program, interpreted on virtual ranks; the compiled executable, in float32 on ranks that
// are threads. Outputs, gradients and updates are compared by the norms of the invariants: 1e-9 and 1e-5;
// where five steps amplify rounding beyond that on one device too, at most twice as much on the mesh. Of a
// pipeline what the cut made is interpreted too, and the same mesh without it must end in the same bits.
//
//===----------------------------------------------------------------------===//
#include "compiler/Pipeline.h"
#include "compiler/model/BuildPrograms.h"
#include "compiler/validate/Sabotage.h"
#include "compiler/validate/VirtualRanks.h"
#include "dialects/sched/SchedDialect.h"
#include "tools/weft-trials/Coverage.h"
#include "tools/weft-trials/Diagnostics.h"
#include "tools/weft-trials/MeshCases.h"
#include "tools/weft-trials/Report.h"
#include "tools/weft-trials/Trajectory.h"
#include "tools/weft-trials/Trials.h"

#include "kernels/cpu/Cpu.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdio>

using namespace mlir;

namespace weft::trials {
namespace {

constexpr int64_t kSteps = 5;
constexpr double kExactBound = 1e-9, kFloat32Bound = 1e-5;
/// From so many cases on, coverage is asked for.
constexpr int64_t kManyCases = 600, kLeastCases = 10, kLeastPairs = 2;

/// A case at the levels that are compared.
struct Levels {
  OwningOpRef<ModuleOp> global, local, scheduled, planned;
};

FailureOr<Levels> compileCase(MLIRContext &context, const Config &config, const AttentionVariant &attention) {
  Levels levels;
  OwningOpRef<ModuleOp> module = buildPrograms(&context, config);
  if (!module)
    return failure();
  varyAttention(*module, attention);
  PhaseOptions phases;
  phases.observe = [&](StringRef phase, ModuleOp after) {
    if (phase == "update")
      levels.global = after.clone();
    if (phase == "partition")
      levels.local = after.clone();
    if (phase == "schedule")
      levels.scheduled = after.clone();
  };
  if (failed(runPhases(*module, config, phases)))
    return failure();
  levels.planned = std::move(module);
  return std::move(levels);
}

struct Worst {
  Difference exact, float32;
  std::string exactCase, float32Case;
};

void keepWorst(const Difference &difference, const std::string &text, Difference &worst, std::string &where) {
  if (difference.error > worst.error)
    worst = difference, where = text;
}

class MeshTrial {
public:
  explicit MeshTrial(const Options &options)
      : options(options), context(MLIRContext::Threading::DISABLED),
        report(options.pipeline ? "mesh-pipelines" : "mesh",
               options.sabotage.empty() ? "" : " --sabotage " + options.sabotage) {
    context.loadDialect<nn::NnDialect, sched::SchedDialect, dist::DistDialect, func::FuncDialect>();
  }

  void run(uint64_t seed) {
    MeshCase item = drawMeshCase(seed, options.pipeline);
    report.beginCase(item.model, seed);
    DiagnosticText diagnostics(&context);
    if (absl::Status status = compare(item, seed); !status.ok())
      report.fail(absl::StrCat(item.text, ": ", std::string(status.message()), diagnostics.text()));
    report.endCase();
    std::set<std::string> features = item.features;
    features.insert(absl::StrCat("model ", seed % kMeshModels)); // they exclude each other
    coverage.add(features);
  }

  int close() {
    std::printf("%s", coverage.table().c_str());
    absl::PrintF("worst tensor in float64: %.2g, %s (%s)\n", worst.exact.error, worst.exact.name,
                 worst.exactCase);
    absl::PrintF("worst tensor in float32: %.2g, %s (%s)\n", worst.float32.error, worst.float32.name,
                 worst.float32Case);
    absl::PrintF("cases held against twice what float32 does to one device: %d\n", roundedCases);
    if (options.count >= kManyCases && !options.minutes)
      if (std::string gaps = coverage.gaps(kLeastCases, kLeastPairs, "schedule"); !gaps.empty()) {
        report.beginCase("coverage", options.seed);
        report.fail(gaps);
        report.endCase();
      }
    return report.close();
  }

private:
  absl::Status compare(const MeshCase &item, uint64_t seed) {
    FailureOr<Levels> levels = compileCase(context, item.config, item.attention);
    if (failed(levels))
      return absl::InternalError("cannot be compiled: ");
    if (const Sabotage *broken = findSabotage(options.sabotage))
      broken->apply(broken->phase == "schedule" ? *levels->scheduled
                                                : *levels->local); // if there is what breaks
    FailureOr<Start> start = drawStart(*levels->global, kSteps, seed);
    if (failed(start))
      return absl::InternalError("has no start: ");
    FailureOr<Trajectory> one = interpretSteps(*levels->global, *start);
    if (failed(one))
      return absl::InternalError("the global program cannot be run: ");
    if (absl::Status status = compareExact("local program", *levels->local, *start, *one, item.text);
        !status.ok())
      return status;
    const bool isPipeline = item.config.parallel.pipeline.size > 1;
    if (isPipeline)
      if (absl::Status status = compareExact("stages", *levels->scheduled, *start, *one, item.text);
          !status.ok())
        return status;
    absl::StatusOr<Trajectory> ran = executeSteps(*levels->planned, *start, options.sabotage == "element");
    if (!ran.ok())
      return absl::InternalError(absl::StrCat("on virtual ranks: ", std::string(ran.status().message())));
    Difference float32 = worstDifference(*one, *ran);
    double bound = kFloat32Bound;
    if (float32.error > bound) {
      absl::StatusOr<double> rounding = errorOfOneDevice(item, *start, *one);
      if (!rounding.ok())
        return rounding.status();
      bound = std::max(bound, 2 * *rounding);
      roundedCases += 1;
    }
    report.compare("float32", float32.error, bound, absl::StrCat(float32.name, " of ", item.text));
    keepWorst(float32, item.text, worst.float32, worst.float32Case);
    return isPipeline ? compareWithoutPipeline(item, *start, *ran) : absl::OkStatus();
  }

  /// One level of the compiler in float64.
  absl::Status compareExact(const std::string &what, ModuleOp level, const Start &start,
                            const Trajectory &reference, const std::string &text) {
    FailureOr<Trajectory> now = interpretSteps(level, start);
    if (failed(now))
      return absl::InternalError(absl::StrCat("the ", what, " cannot be run: "));
    Difference exact = worstDifference(reference, *now);
    report.compare("float64", exact.error, kExactBound,
                   absl::StrCat(exact.name, " of the ", what, " of ", text));
    keepWorst(exact, text, worst.exact, worst.exactCase);
    return absl::OkStatus();
  }

  /// A pipeline says who computes what, and when: the same ranks of one stage alone get the same bits.
  absl::Status compareWithoutPipeline(const MeshCase &item, const Start &start, const Trajectory &piped) {
    Config config = item.config;
    config.parallel.pipeline = {};
    FailureOr<Levels> levels = compileCase(context, config, item.attention);
    if (failed(levels))
      return absl::InternalError("cannot be compiled without its pipeline: ");
    absl::StatusOr<Trajectory> ran = executeSteps(*levels->planned, start, options.sabotage == "element");
    if (!ran.ok())
      return ran.status();
    const std::string name = firstOtherBits(*ran, piped);
    report.compare("bits", name.empty() ? 0 : 1, 0,
                   absl::StrCat(name, " differs from that of the mesh without its pipeline, ", item.text));
    return absl::OkStatus();
  }

  /// What float32 alone, without a mesh, does to these steps.
  absl::StatusOr<double> errorOfOneDevice(const MeshCase &item, const Start &start,
                                          const Trajectory &reference) {
    Config config = item.config;
    config.train.microBatch *= config.parallel.dataRanks();
    config.parallel = ParallelConfig();
    config.parallel.dataShard = 1;
    FailureOr<Levels> levels = compileCase(context, config, item.attention);
    if (failed(levels))
      return absl::InternalError("cannot be compiled for one device: ");
    absl::StatusOr<Trajectory> ran = executeSteps(*levels->planned, start, false);
    if (!ran.ok())
      return ran.status();
    return worstDifference(reference, *ran).error;
  }

  const Options &options;
  MLIRContext context;
  Report report;
  Coverage coverage;
  Worst worst;
  int64_t roundedCases = 0; ///< whose float32 rounding is more than the bound on one device too
};

bool isSabotage(const std::string &name) {
  const Sabotage *broken = findSabotage(name);
  return name.empty() || name == "element" ||
         (broken && (broken->phase == "partition" || broken->phase == "schedule"));
}

} // namespace

int runMeshTrials(const Options &options) {
  if (!isSabotage(options.sabotage)) {
    std::fprintf(stderr,
                 "mesh: --sabotage takes element, or one of weft-run --sabotage that breaks partition or "
                 "schedule, not %s\n",
                 options.sabotage.c_str());
    return 2;
  }
  std::vector<cpu::InstructionSet> sets = cpu::supportedInstructionSets();
  if (sets.empty() || !cpu::useInstructionSet(sets.back()).ok()) {
    std::fprintf(stderr, "mesh: this machine has no instruction set that the CPU kernels know\n");
    return 1;
  }
  MeshTrial trial(options);
  Deadline deadline(options.minutes);
  std::printf("%d steps against the interpreted global program: the local program to %g in float64, the "
              "executable on "
              "virtual ranks to %g in float32\n",
              static_cast<int>(kSteps), kExactBound, kFloat32Bound);
  for (int64_t index = 0; index < options.count && !deadline.passed(); ++index)
    trial.run(options.seed + static_cast<uint64_t>(index));
  return trial.close();
}

} // namespace weft::trials
