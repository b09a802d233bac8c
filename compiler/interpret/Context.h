//===- Context.h - What lives for one run of a program ----------------------===//
#ifndef WEFT_COMPILER_INTERPRET_CONTEXT_H
#define WEFT_COMPILER_INTERPRET_CONTEXT_H

#include "compiler/interpret/Interpreter.h"

#include "llvm/ADT/MapVector.h"

namespace weft::interpret {

/// The values of one slot: one, or one per microbatch.
struct Slot {
  mlir::Type type;
  llvm::SmallVector<MeshValue> values;
};

/// A value that a step writes, and the type under which it does.
struct Write {
  MeshValue value;
  mlir::Type type;
};

struct Interpreter::Context {
  const Variables &variables;
  Ranks ranks;
  llvm::MapVector<llvm::StringRef, Write> writes = {}; ///< in program order
  llvm::StringMap<Slot> slots = {};                    ///< of a scheduled program
  llvm::StringMap<MeshValue> stores = {};              ///< of the running action: slots get them when it ends
  int64_t microbatch = 0;                              ///< of the running action
  int callDepth = 0;
};

/// The `index`-th of the tensors that are stacked along the first dimension.
absl::StatusOr<Tensor> partOfStack(const Tensor &stack, int64_t index);

} // namespace weft::interpret

#endif // WEFT_COMPILER_INTERPRET_CONTEXT_H
