//===- NativeCode.h - From functions on vectors to a shared object ---------===//
//
// The dialects of EmitKernel.h to LLVM IR, the functions of VectorFunctions.cpp inlined, to machine code, to
// an ELF shared object: all in this process, nothing read but what the compiler holds. The same module gives
// the same bytes.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_CODEGEN_NATIVECODE_H
#define WEFT_COMPILER_CODEGEN_NATIVECODE_H

#include "absl/status/statusor.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace weft {

/// What code is generated for.
struct CodeTarget {
  const char *name;           ///< as clang's -march
  int lanes;                  ///< float32 elements of a vector
  std::string_view functions; ///< bitcode of VectorFunctions.cpp for this target
};
/// `x86-64-v3` and `x86-64-v4`; null for any other name.
const CodeTarget *findCodeTarget(std::string_view name);

/// The dialects that lowering makes use of.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Takes `module` apart. Every function with a body is exported.
absl::StatusOr<std::string> sharedObjectOf(mlir::ModuleOp module, const CodeTarget &target);

/// Links one relocatable ELF object into a shared one.
absl::StatusOr<std::string> linkSharedObject(llvm::StringRef object);

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_NATIVECODE_H
