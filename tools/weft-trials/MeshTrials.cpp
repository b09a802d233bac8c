//===- MeshTrials.cpp - Every mesh trains as one device does ----------------===//
//
// Each case trains five steps of a small model three times: the global program, interpreted in float64 (one
// device); the local program, of a pipeline those of its ranks, interpreted on virtual ranks; the compiled
// executable, in float32 on ranks that are threads. Outputs, gradients and updates are compared by the norms
// of the invariants: 1e-9 and 1e-5; where five steps amplify rounding beyond that on one device too, at most
// twice as much on the mesh. How much they amplify is the worst of a few runs on one device whose parameters
// begin within a rounding of each other: a single run may be lucky. A pipeline has the bits of the same mesh
// without one.
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
#include "tools/weft-trials/PackedSamples.h"
#include "tools/weft-trials/Random.h"
#include "tools/weft-trials/Report.h"
#include "tools/weft-trials/Trajectory.h"
#include "tools/weft-trials/Trials.h"

#include "kernels/cpu/Cpu.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <cstdio>

using namespace mlir;

namespace weft::trials {
namespace {

constexpr int64_t kSteps = 5;
constexpr double kExactBound = 1e-9, kFloat32Bound = 1e-5;
constexpr int kRoundings = 5; ///< runs on one device
/// From so many cases on, coverage is asked for.
constexpr int64_t kManyCases = 600, kLeastCases = 10, kLeastPairs = 2;

/// A case at the levels that are compared.
struct Levels {
  OwningOpRef<ModuleOp> global, local, planned;
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
    // A pipeline's local programs are those of its ranks, side by side.
    if (phase == (config.parallel.pipeline.size > 1 ? "schedule" : "partition"))
      levels.local = after.clone();
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
        report("mesh", options.sabotage.empty() ? "" : " --sabotage " + options.sabotage) {
    context.loadDialect<nn::NnDialect, sched::SchedDialect, dist::DistDialect, func::FuncDialect>();
  }

  void run(uint64_t seed) {
    MeshCase item = drawMeshCase(seed);
    report.beginCase(item.model, seed);
    DiagnosticText diagnostics(&context);
    if (absl::Status status = compare(item, seed); !status.ok())
      report.fail(absl::StrCat(item.text, ": ", std::string(status.message()), diagnostics.text()));
    report.endCase();
    schedules[item.config.parallel.pipeline.size > 1 ? item.config.parallel.pipeline.schedule
                                                     : "no pipeline"] += 1;
    std::set<std::string> features = item.features;
    features.insert(absl::StrCat("model ", seed % kMeshModels)); // they exclude each other
    coverage.add(features);
  }

  int close() {
    std::printf("%s", coverage.table().c_str());
    std::printf("schedules: %s\n", absl::StrJoin(schedules, ", ", absl::PairFormatter(" ")).c_str());
    absl::PrintF("worst tensor in float64: %.2g, %s (%s)\n", worst.exact.error, worst.exact.name,
                 worst.exactCase);
    absl::PrintF("worst tensor in float32: %.2g, %s (%s)\n", worst.float32.error, worst.float32.name,
                 worst.float32Case);
    absl::PrintF("cases held against twice what float32 does to one device: %d\n", roundedCases);
    if (options.count >= kManyCases && !options.minutes)
      if (std::string gaps = coverage.gaps(kLeastCases, kLeastPairs); !gaps.empty()) {
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
      broken->apply(*levels->local); // some cases have nothing to break
    FailureOr<Start> start = drawStart(*levels->global, kSteps, seed);
    if (failed(start))
      return absl::InternalError("has no start: ");
    drawDocuments(*start, seed);
    FailureOr<Trajectory> one = interpretSteps(*levels->global, *start);
    if (failed(one))
      return absl::InternalError("the global program cannot be run: ");
    FailureOr<Trajectory> local = interpretSteps(*levels->local, *start);
    if (failed(local))
      return absl::InternalError("the local program cannot be run: ");
    Difference exact = worstDifference(*one, *local);
    report.compare("float64", exact.error, kExactBound, absl::StrCat(exact.name, " of ", item.text));
    keepWorst(exact, item.text, worst.exact, worst.exactCase);
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
    return item.config.parallel.pipeline.size > 1 ? compareBits(item, *start, *ran) : absl::OkStatus();
  }

  /// The same mesh without the pipeline, to the last bit.
  absl::Status compareBits(const MeshCase &item, const Start &start, const Trajectory &pipeline) {
    Config config = item.config;
    config.parallel.pipeline = PipelineConfig();
    FailureOr<Levels> levels = compileCase(context, config, item.attention);
    if (failed(levels))
      return absl::InternalError("cannot be compiled without the pipeline: ");
    absl::StatusOr<Trajectory> ran = executeSteps(*levels->planned, start, false);
    if (!ran.ok())
      return ran.status();
    const Difference bits = worstDifference(*ran, pipeline);
    report.compare("bits", bits.error == 0 ? 0 : 1, 0.5,
                   absl::StrCat(bits.name, " without the pipeline of ", item.text));
    return absl::OkStatus();
  }

  /// What float32 alone, without a mesh, does to these steps, which start from `start` up to a rounding.
  absl::StatusOr<double> errorOfOneDevice(const MeshCase &item, const Start &start,
                                          const Trajectory &reference) {
    Config config = item.config;
    config.train.microBatch *= config.parallel.dataRanks();
    config.parallel = ParallelConfig();
    config.parallel.dataShard = 1;
    FailureOr<Levels> levels = compileCase(context, config, item.attention);
    if (failed(levels))
      return absl::InternalError("cannot be compiled for one device: ");
    double error = 0;
    for (int rounding = 0; rounding < kRoundings; ++rounding) {
      Start nudged = start;
      if (rounding > 0)
        nudge(nudged.variables, static_cast<uint64_t>(rounding));
      absl::StatusOr<Trajectory> ran = executeSteps(*levels->planned, nudged, false);
      if (!ran.ok())
        return ran.status();
      error = std::max(error, worstDifference(reference, *ran).error);
    }
    return error;
  }

  /// Moves each value to its float32 neighbor above or below, or leaves it.
  static void nudge(interpret::Variables &variables, uint64_t seed) {
    Random random(seed);
    for (auto &[name, tensor] : variables)
      for (double &value : tensor.reals)
        value *= 1 + 0x1p-23 * static_cast<double>(random.integer(-1, 1));
  }

  const Options &options;
  MLIRContext context;
  Report report;
  Coverage coverage;
  Worst worst;
  std::map<std::string, int64_t> schedules; ///< cases of each
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
  absl::StatusOr<cpu::InstructionSet> set = cpu::useBestInstructionSet();
  if (!set.ok()) {
    std::fprintf(stderr, "mesh: %s\n", std::string(set.status().message()).c_str());
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
