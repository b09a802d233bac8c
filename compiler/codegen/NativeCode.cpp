#include "compiler/codegen/NativeCode.h"

#include "absl/strings/str_cat.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <set>

using namespace mlir;

namespace weft {

void registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

static LogicalResult lowerToLlvmDialect(ModuleOp module) {
  MLIRContext *context = module.getContext();
  {
    RewritePatternSet patterns(context);
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget target(*context);
    target.addIllegalDialect<scf::SCFDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return failure();
  }
  LLVMTypeConverter converter(context);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

static absl::Status internal(llvm::StringRef what) {
  return absl::InternalError(absl::StrCat("generated kernels: ", std::string(what)));
}

/// The target's machine: no product is contracted with a sum, whatever the machine could do.
static absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machineOf(const CodeTarget &target) {
  static const bool isInitialized = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)isInitialized;
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return internal(error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, target.name, "", options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                 llvm::CodeGenOptLevel::Default));
}

/// Links in what the module calls of the library, and leaves nothing visible but the module's own functions.
static absl::Status linkFunctions(llvm::Module &module, const CodeTarget &target) {
  std::set<std::string> exported;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      exported.insert(function.getName().str());
  llvm::MemoryBufferRef bytes(llvm::StringRef(target.functions.data(), target.functions.size()), target.name);
  llvm::Expected<std::unique_ptr<llvm::Module>> library = llvm::parseBitcodeFile(bytes, module.getContext());
  if (!library)
    return internal(llvm::toString(library.takeError()));
  llvm::AttributeSet machine;
  for (llvm::Function &function : **library)
    if (function.getName() == "weft_exp_f32")
      for (const char *name : {"target-cpu", "target-features", "min-legal-vector-width"})
        machine =
            machine.addAttribute(module.getContext(), name, function.getFnAttribute(name).getValueAsString());
  module.setDataLayout((*library)->getDataLayout());
  module.setTargetTriple((*library)->getTargetTriple());
  for (llvm::Function &function : module)
    if (!function.isDeclaration()) {
      llvm::AttrBuilder attributes(module.getContext(), machine);
      function.addFnAttrs(attributes);
      function.addFnAttr("prefer-vector-width", std::to_string(target.lanes * 32));
      function.addFnAttr("no-builtins");
      function.addFnAttr(llvm::Attribute::NoUnwind);
    }
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return internal("the library of functions cannot be linked");
  llvm::internalizeModule(module, [&](const llvm::GlobalValue &value) {
    return value.isDeclaration() || exported.count(value.getName().str()) != 0;
  });
  return absl::OkStatus();
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  llvm::FunctionPassManager ofFunctions;
  ofFunctions.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  ofFunctions.addPass(llvm::EarlyCSEPass());
  ofFunctions.addPass(llvm::InstCombinePass());
  ofFunctions.addPass(llvm::SimplifyCFGPass());
  ofFunctions.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                            /*UseMemorySSA=*/true));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(ofFunctions)));
  passes.run(module, modules);
}

absl::StatusOr<std::string> sharedObjectOf(ModuleOp module, const CodeTarget &target) {
  if (failed(lowerToLlvmDialect(module)))
    return internal("an op has no translation to LLVM");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "kernels");
  if (!code)
    return internal("the module has no translation to LLVM IR");
  if (absl::Status status = linkFunctions(*code, target); !status.ok())
    return status;
  absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> machine = machineOf(target);
  if (!machine.ok())
    return machine.status();
  optimize(*code, **machine);
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(*code, &stream))
    return internal(problems);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager emission;
  if ((*machine)->addPassesToEmitFile(emission, out, nullptr, llvm::CodeGenFileType::ObjectFile))
    return internal("the target writes no object files");
  emission.run(*code);
  return linkSharedObject(llvm::StringRef(object.data(), object.size()));
}

} // namespace weft
