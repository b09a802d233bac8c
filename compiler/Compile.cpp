#include "compiler/Compile.h"

#include "compiler/DrawPlacement.h"
#include "compiler/ExplainPlacement.h"
#include "compiler/Pipeline.h"
#include "compiler/model/BuildPrograms.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/emit/Emit.h"
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
  std::function<void(StringRef, ModuleOp)> observe;
  if (options.explainPlacement || !options.drawn.empty())
    observe = [&](StringRef phase, ModuleOp placed) {
      if (phase != "place")
        return;
      if (options.explainPlacement)
        placement = explainPlacement(placed);
      if (!options.drawn.empty())
        picture = drawPlacement(placed, options.drawn);
    };
  if (failed(runPhases(*module, config, options.printAfter, options.reproducerPath, "", observe)))
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
  return compiled;
}

} // namespace weft
