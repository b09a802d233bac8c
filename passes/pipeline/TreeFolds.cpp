#include "passes/pipeline/TreeFolds.h"

#include "dialects/nn/NnDialect.h"
#include "passes/pipeline/StepSlots.h"

using namespace mlir;

namespace weft {

std::string TreeFolds::levelSlot(const Folded &value, int level) {
  return value.slot + "/level_" + std::to_string(level);
}

void TreeFolds::addValue(StringRef slot, Value value) {
  values.push_back({slot.str(), value.getLoc(), value.getType()});
  for (int level = 0; level < levels; ++level)
    program.addSlot(value.getLoc(), levelSlot(values.back(), level), sched::SlotKind::level, value.getType());
}

void TreeFolds::addActions() {
  for (int level = 0; isNeeded() && level <= levels; ++level) {
    Block &block = program.addEmptyAction(program.program.getLoc(), prefix + "fold_" + Twine(level));
    for (const Folded &value : values)
      foldInto(block, value, level);
  }
}

void TreeFolds::foldInto(Block &block, const Folded &value, int level) {
  Value sum = program.load(block, value.location, value.slot, value.type);
  nn::ValueBuilder b(program.builder, value.location);
  for (int below = 0; below < level; ++below) {
    Value earlier = program.load(block, value.location, levelSlot(value, below), value.type);
    sum = b.binary<nn::JoinOp>(earlier, sum);
  }
  if (level == levels)
    return program.store(block, value.location, value.slot, sum);
  program.store(block, value.location, levelSlot(value, level), sum);
  if (microbatchesOfBlock == 1)
    return; // the next microbatch stores, and adds to nothing
  program.builder.setInsertionPointToEnd(&block);
  program.store(block, value.location, value.slot, neutralElement(b, "tree", nn::tensorType(sum)));
}

void TreeFolds::addRunAfter(int64_t microbatch) {
  if (!isNeeded() || (microbatch + 1) % microbatchesOfBlock != 0)
    return;
  auto blocks = static_cast<uint64_t>((microbatch + 1) / microbatchesOfBlock);
  program.addRun(prefix + "fold_" + Twine(llvm::countr_zero(blocks)));
}

} // namespace weft
