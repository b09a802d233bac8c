#include "tests/fuzz/ir/ExerciseIr.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"
#include "dialects/sched/SchedDialect.h"
#include "kernels/cpu/Cpu.h"
#include "passes/differentiate/Differentiate.h"
#include "passes/emit/Emit.h"
#include "passes/fuse/Fuse.h"
#include "passes/memory/Memory.h"
#include "passes/partition/Partition.h"
#include "passes/pipeline/Schedule.h"
#include "passes/place/Place.h"
#include "passes/precision/Precision.h"
#include "passes/update/Update.h"
#include "runtime/executable/Verify.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace weft::testing {
namespace {
void askInterfaces(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto sharded = dyn_cast<nn::ShardingRuleOpInterface>(op))
      sharded.shardingRule();
    if (auto costed = dyn_cast<nn::CostOpInterface>(op))
      costed.flops(), costed.bytes();
  });
}

LogicalResult runPass(ModuleOp module, std::unique_ptr<Pass> pass) {
  PassManager manager(module.getContext());
  manager.addPass(std::move(pass));
  return manager.run(module);
}

/// A text has no module op of its own (upstream's parser corrupts its heap when the body of one does not
/// parse), so the mesh is that of the first parameter that says where it is used.
void adoptMesh(ModuleOp module) {
  for (auto parameter : module.getOps<nn::ParameterOp>())
    if (auto use = parameter->getAttrOfType<dist::PlacementAttr>(dist::kUseAttribute))
      return module->setAttr(dist::kMeshAttribute, use.getMesh());
}

LogicalResult lower(ModuleOp module) {
  adoptMesh(module);
  for (auto create :
       {+[] { return std::unique_ptr<Pass>(createPrecision()); },
        +[] { return std::unique_ptr<Pass>(createDifferentiate()); },
        +[] { return std::unique_ptr<Pass>(createUpdate()); }, +[] { return createCanonicalizerPass(); },
        +[] { return createCSEPass(); }, +[] { return std::unique_ptr<Pass>(createSeedPlacements()); },
        +[] { return std::unique_ptr<Pass>(createPlace()); },
        +[] { return std::unique_ptr<Pass>(createPartition()); },
        +[] { return std::unique_ptr<Pass>(createSchedule()); },
        +[] { return std::unique_ptr<Pass>(createFuse()); },
        +[] { return std::unique_ptr<Pass>(createMemory()); }})
    if (failed(runPass(module, create())))
      return failure();
  return success();
}

/// A context of our dialects that says nothing.
struct SilentContext {
  SilentContext()
      : context(MLIRContext::Threading::DISABLED), silent(&context, [](Diagnostic &) { return success(); }) {
    context.loadDialect<nn::NnDialect, sched::SchedDialect, func::FuncDialect>();
  }

  /// Not verified yet.
  OwningOpRef<ModuleOp> parse(std::string_view text) {
    return parseSourceString<ModuleOp>(llvm::StringRef(text.data(), text.size()),
                                       ParserConfig(&context, /*verifyAfterParse=*/false));
  }

  MLIRContext context;
  ScopedDiagnosticHandler silent;
};

/// Whether the parser takes the text, found out in a child: upstream's parser writes to freed memory when it
/// cleans up after a text that it refuses (LLVM 22.1, below parseAsmSourceFile), and this process must live.
bool parses(std::string_view text) {
  pid_t child = fork();
  if (child == 0) {
    SilentContext inside;
    _exit(inside.parse(text) ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child)
    return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
} // namespace

Reached exerciseIr(std::string_view text) {
  [[maybe_unused]] static const absl::Status chosen = cpu::useInstructionSet(cpu::InstructionSet::AVX2);
  if (!parses(text))
    return Reached::Nothing;
  SilentContext inside;
  OwningOpRef<ModuleOp> module = inside.parse(text);
  if (!module || failed(mlir::verify(*module)))
    return Reached::Nothing;
  askInterfaces(*module);
  if (failed(lower(*module)))
    return Reached::Parsed;
  FailureOr<std::vector<Executable>> parts = emitExecutables(*module);
  if (failed(parts))
    return Reached::Lowered;
  for (Executable &part : *parts)
    part.target = {"avx2"};
  return weft::verify(*parts).ok() ? Reached::Emitted : Reached::Lowered;
}

} // namespace weft::testing
