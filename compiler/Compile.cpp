#include "compiler/Compile.h"

#include "compiler/DrawPlacement.h"
#include "compiler/ExplainPlacement.h"
#include "compiler/Pipeline.h"
#include "compiler/model/BuildPrograms.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/emit/Emit.h"
#include "runtime/executable/CommandLists.h"
#include "runtime/executable/Verify.h"

#include "absl/strings/str_cat.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace weft {
namespace {
/// Gathers diagnostics as text: `location: severity: message`, one a line.
class DiagnosticText {
public:
  explicit DiagnosticText(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          llvm::raw_string_ostream stream(text);
          stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
          for (Diagnostic &note : diagnostic.getNotes())
            stream << "  note: " << note << "\n";
          return success();
        }) {}

  absl::Status error(StringRef what) const {
    return absl::InvalidArgumentError(absl::StrCat(what.str(), "\n", text));
  }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

int64_t countOps(ModuleOp module) {
  int64_t ops = 0;
  module.walk([&](Operation *) { ++ops; });
  return ops;
}

/// Holds the command lists of some ranks against each other, in their final form.
absl::Status verifyRanks(int64_t count, Compiled &compiled) {
  std::vector<int64_t> ranks = sampleRanks(compiled.executable.mesh, count);
  absl::StatusOr<int64_t> calls = verifyCommandLists(std::span(&compiled.executable, 1), ranks);
  if (!calls.ok())
    return calls.status();
  compiled.verifiedRanks = static_cast<int64_t>(ranks.size());
  compiled.verifiedCalls = *calls;
  return absl::OkStatus();
}

std::map<std::string, CompositeCount> readComposites(ModuleOp module) {
  std::map<std::string, CompositeCount> counts;
  if (auto rows = module->getAttrOfType<DictionaryAttr>("weft.composites"))
    for (NamedAttribute row : rows) {
      ArrayRef<int64_t> pair = cast<DenseI64ArrayAttr>(row.getValue()).asArrayRef();
      counts[row.getName().str()] = {pair[0], pair[1]};
    }
  return counts;
}
} // namespace

absl::StatusOr<Compiled> compileJob(const Config &config, const std::string &resolvedConfig,
                                    const CompileOptions &options) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<nn::NnDialect, sched::SchedDialect, func::FuncDialect>();
  DiagnosticText diagnostics(&context);
  OwningOpRef<ModuleOp> module = buildPrograms(&context, config);
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
  FailureOr<Executable> executable = emitExecutable(*module);
  if (failed(executable))
    return diagnostics.error("emit: the program cannot be written down");
  Compiled compiled{std::move(*executable), reportMemory(*module), readComposites(*module),
                    std::move(placement), std::move(picture)};
  compiled.executable.config = resolvedConfig;
  compiled.executable.target = options.target;
  if (absl::Status status = verify(compiled.executable); !status.ok())
    return absl::InternalError(absl::StrCat("emit: ", std::string(status.message())));
  if (options.clock)
    options.clock->finish("emit");
  if (absl::Status status = verifyRanks(options.verifiedRanks, compiled); !status.ok())
    return absl::InternalError(absl::StrCat("emit: ", std::string(status.message())));
  if (options.clock)
    options.clock->finish("ranks");
  return compiled;
}

} // namespace weft
