#include "compiler/Compile.h"

#include "compiler/DiagnosticText.h"
#include "compiler/DrawPlacement.h"
#include "compiler/ExplainPlacement.h"
#include "compiler/Pipeline.h"
#include "compiler/codegen/GenerateKernels.h"
#include "compiler/model/BuildPrograms.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/analysis/PipelineModules.h"
#include "passes/emit/Emit.h"
#include "runtime/executable/CommandLists.h"
#include "runtime/executable/Verify.h"

#include "absl/strings/str_cat.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace weft {
namespace {
/// What the cut left word of.
void readSchedule(ModuleOp module, Compiled &compiled) {
  auto text = module->getAttrOfType<StringAttr>(sched::kScheduleAttribute);
  auto times = module->getAttrOfType<DenseF64ArrayAttr>(sched::kTimesAttribute);
  if (!text || !times || times.size() != 4)
    return;
  compiled.schedule = text.getValue().str();
  compiled.times = {times[0], times[1], times[2], times[3]};
}

int64_t countOps(ModuleOp module) {
  int64_t ops = 0;
  module.walk([&](Operation *) { ++ops; });
  return ops;
}

/// Holds the command lists of some ranks against each other, in their final form.
absl::Status verifyRanks(int64_t count, Compiled &compiled) {
  std::vector<int64_t> ranks = sampleRanks(compiled.parts.front().mesh, count);
  absl::StatusOr<int64_t> calls = verifyCommandLists(compiled.parts, ranks);
  if (!calls.ok())
    return calls.status();
  compiled.verifiedRanks = static_cast<int64_t>(ranks.size());
  compiled.verifiedCalls = *calls;
  return absl::OkStatus();
}

/// Adds what `fuse` says of one module.
void readFusion(ModuleOp module, Compiled &compiled) {
  if (auto rows = module->getAttrOfType<DictionaryAttr>("weft.composites"))
    for (NamedAttribute row : rows) {
      ArrayRef<int64_t> pair = cast<DenseI64ArrayAttr>(row.getValue()).asArrayRef();
      CompositeCount &count = compiled.composites[row.getName().str()];
      count.kernels += pair[0], count.decompositions += pair[1];
    }
  if (auto rows = module->getAttrOfType<DictionaryAttr>("weft.apart"))
    for (NamedAttribute row : rows)
      compiled.apart[row.getName().str()] += cast<IntegerAttr>(row.getValue()).getInt();
  if (auto counts = module->getAttrOfType<DenseI64ArrayAttr>("weft.rematerialized")) {
    compiled.rematerializedLaunches += counts[0];
    compiled.rematerializedBytes = std::max(compiled.rematerializedBytes, counts[1]);
  }
}
} // namespace

/// Room for a copy of the variables, behind all that programs use: who never saves does not touch it.
static void addSnapshots(Compiled &compiled) {
  for (size_t index = 0; index < compiled.parts.size(); ++index) {
    MemoryPlan &plan = compiled.parts[index].memory;
    uint64_t bytes = 0;
    for (const MemoryBase &base : plan.bases)
      bytes += base.kind == BaseKind::Parameters ? base.bytes() : 0;
    if (bytes == 0)
      continue;
    const std::string name = "what is saved while training goes on";
    plan.bases.push_back({"snapshot", BaseKind::Snapshot, 1, bytes});
    plan.rows.push_back({"snapshot", name, bytes});
    compiled.memory[index].rows.push_back({"snapshot", name, static_cast<int64_t>(bytes)});
    compiled.memory[index].peakBytes += static_cast<int64_t>(bytes);
    compiled.memory[index].lowerBound += static_cast<int64_t>(bytes);
  }
}

absl::StatusOr<Compiled> compileJob(const Config &config, const std::string &resolvedConfig,
                                    const CompileOptions &options) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<nn::NnDialect, sched::SchedDialect, func::FuncDialect>();
  DiagnosticText diagnostics(&context);
  OwningOpRef<ModuleOp> module = buildPrograms(&context, config, options.tokenizerIds);
  if (!module || failed(mlir::verify(*module)))
    return diagnostics.error("build: the program is not valid");
  std::string placement, picture;
  PhaseOptions phases{options.printAfter, options.reproducerPath};
  phases.explain = options.explainPlacement || !options.drawn.empty();
  phases.observe = [&](StringRef phase, ModuleOp now) {
    if (phase == "place" && options.explainPlacement)
      placement = explainPlacement(now);
    if (phase == "place" && !options.drawn.empty())
      picture = drawPlacement(now, options.drawn);
    if (options.clock)
      options.clock->finish(phase.str(), countOps(now));
  };
  if (failed(runPhases(*module, config, phases)))
    return diagnostics.error("the program cannot be compiled");
  FailureOr<std::vector<Executable>> parts = emitExecutables(*module);
  if (failed(parts))
    return diagnostics.error("emit: the program cannot be written down");
  Compiled compiled;
  compiled.parts = std::move(*parts);
  compiled.placement = std::move(placement);
  compiled.picture = std::move(picture);
  readSchedule(*module, compiled);
  for (ModuleOp own : pipelineModules(*module)) {
    compiled.memory.push_back(reportMemory(own));
    readFusion(own, compiled);
  }
  if (config.checkpoint.takesSnapshots())
    addSnapshots(compiled);
  const SharedText sharedConfig = resolvedConfig;
  for (Executable &part : compiled.parts) {
    part.config = sharedConfig;
    part.target = options.target;
  }
  if (options.clock)
    options.clock->finish("emit");
  if (config.launch.fusion == FusionKind::Generated) {
    if (absl::Status status = generateKernels(compiled.parts); !status.ok())
      return status;
    if (options.clock)
      options.clock->finish("generate");
  }
  if (absl::Status status = verify(compiled.parts); !status.ok())
    return absl::InternalError(absl::StrCat("emit: ", std::string(status.message())));
  if (absl::Status status = verifyRanks(options.verifiedRanks, compiled); !status.ok())
    return absl::InternalError(absl::StrCat("emit: ", std::string(status.message())));
  if (options.clock)
    options.clock->finish("ranks");
  return compiled;
}

} // namespace weft
