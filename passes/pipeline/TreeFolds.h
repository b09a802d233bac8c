//===- TreeFolds.h - The canonical sum over a rank's microbatches ---------------===//
//
// A binary counter, said as actions: a microbatch leaves its values in their slots, and behind it runs the
// action that its number asks for. `fold_0` keeps them as the first of a pair; `fold_2`, behind the fourth of
// four, joins them with what waits in levels 0 and 1, and keeps the sum in level 2; the last one leaves the
// whole sum where update reads it. So a value has a buffer more than its leaves can be halved, and no phase
// behind this one knows of trees. What cannot be halved, an odd number of microbatches, is one block that
// adds up in the slot, and blocks are then the leaves of the counter.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_TREEFOLDS_H
#define WEFT_PASSES_PIPELINE_TREEFOLDS_H

#include "passes/pipeline/ProgramBuilder.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"

namespace weft {

class TreeFolds {
public:
  /// `prefix`: of the names of its actions, where a program has several counters.
  TreeFolds(ProgramBuilder &program, int64_t microbatches, llvm::StringRef prefix = "")
      : program(program), prefix(prefix), levels(llvm::countr_zero(static_cast<uint64_t>(microbatches))),
        microbatchesOfBlock(blockSizeOf(microbatches)) {}

  /// Microbatches whose values add up in the slot before the counter takes them.
  static int64_t blockSizeOf(int64_t microbatches) {
    return microbatches >> llvm::countr_zero(static_cast<uint64_t>(microbatches));
  }

  /// A value that is folded by tree; adds the slots of its levels.
  void addValue(llvm::StringRef slot, mlir::Value value);
  /// The actions of the counter, fold_0 to fold_levels; none where nothing is folded by tree.
  void addActions();
  /// Runs the one that a microbatch asks for, if it ends a block.
  void addRunAfter(int64_t microbatch);

private:
  struct Folded {
    std::string slot;
    mlir::Location location;
    mlir::Type type;
  };

  static std::string levelSlot(const Folded &value, int level);
  bool isNeeded() const { return levels > 0 && !values.empty(); }
  /// Joins the slot with the levels below `level`, and keeps the sum there.
  void foldInto(mlir::Block &block, const Folded &value, int level);

  ProgramBuilder &program;
  std::string prefix;
  int levels; ///< how often the microbatches can be halved
  int64_t microbatchesOfBlock;
  llvm::SmallVector<Folded> values;
};

} // namespace weft

#endif // WEFT_PASSES_PIPELINE_TREEFOLDS_H
