#include "compiler/codegen/GenerateKernels.h"

#include "compiler/codegen/EmitKernel.h"
#include "compiler/codegen/NativeCode.h"
#include "kernels/common/GeneratedKernel.h"
#include "runtime/executable/ObjectTarget.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "llvm/Support/xxhash.h"

#include <map>

using namespace mlir;

namespace weft {
namespace {
/// Rows that are shorter than a vector would mostly be masks: blocks of many rows serve them better.
bool paysOff(const ElementwiseProgram &program, const KernelWalk &walk, int lanes) {
  if (program.hasReductions())
    return program.shape.back() >= kReductionLanes;
  return !program.instructions.empty() && (walk.isLine() || walk.sizes.back() >= lanes);
}
} // namespace

absl::StatusOr<GeneratedKernels> generateKernels(const std::vector<KernelCall *> &calls,
                                                 std::string_view target) {
  const CodeTarget *machine = findCodeTarget(target);
  if (!machine)
    return absl::InvalidArgumentError(absl::StrCat("generated kernels: no target '", std::string(target),
                                                   "': x86-64-v3 and x86-64-v4 are"));
  DialectRegistry registry;
  registerCodegenDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  std::map<std::string, std::string> symbols; // by structure
  for (KernelCall *call : calls) {
    if (call->name != "elementwise")
      continue;
    absl::StatusOr<ElementwiseProgram> program = parseElementwise(*call);
    if (!program.ok())
      return program.status();
    const KernelWalk walk = walkOf(*program);
    if (!paysOff(*program, walk, machine->lanes))
      continue;
    const std::string structure = structureOf(*program, walk);
    std::string &symbol = symbols[structure];
    if (symbol.empty()) {
      symbol = absl::StrFormat("weft_elementwise_%016x", llvm::xxh3_64bits(structure));
      emitKernel(*module, symbol, *program, walk, machine->lanes);
    }
    call->setText(kSymbolAttribute, symbol);
  }
  GeneratedKernels generated;
  generated.functions = static_cast<int64_t>(symbols.size());
  if (symbols.empty())
    return generated;
  absl::StatusOr<std::string> object = sharedObjectOf(*module, *machine);
  if (!object.ok())
    return object.status();
  generated.object = *std::move(object);
  return generated;
}

absl::Status generateKernels(std::vector<Executable> &parts) {
  std::vector<KernelCall *> calls;
  for (Executable &part : parts)
    for (KernelEntry &kernel : part.kernels)
      calls.push_back(&kernel.call);
  const std::string target(objectTarget(parts.front().target.instructionSet));
  absl::StatusOr<GeneratedKernels> generated = generateKernels(calls, target);
  if (!generated.ok())
    return generated.status();
  if (generated->functions == 0)
    return absl::OkStatus();
  const SharedText bytes = std::move(generated->object);
  for (Executable &part : parts)
    part.object = {target, bytes};
  return absl::OkStatus();
}

} // namespace weft
