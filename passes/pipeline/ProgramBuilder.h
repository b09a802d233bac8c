//===- ProgramBuilder.h - Writing a sched.program ------------------------------===//
//
// Slots first, then actions, then the order in which they run.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_PROGRAMBUILDER_H
#define WEFT_PASSES_PIPELINE_PROGRAMBUILDER_H

#include "dialects/nn/ValueBuilder.h"
#include "dialects/sched/SchedDialect.h"

#include <optional>

namespace weft {

class ProgramBuilder {
public:
  /// At the builder's place.
  ProgramBuilder(mlir::OpBuilder at, mlir::Location location, llvm::StringRef name, int64_t microbatches)
      : builder(at) {
    program = sched::ProgramOp::create(builder, location, name, microbatches);
    builder.createBlock(&program.getBody());
  }

  /// Behind the slots that there are.
  void addSlot(mlir::Location location, const llvm::Twine &name, sched::SlotKind kind, mlir::Type type,
               bool perMicrobatch = false) {
    builder.setInsertionPointToStart(&program.getBody().front());
    if (lastSlot)
      builder.setInsertionPointAfter(lastSlot);
    lastSlot =
        sched::SlotOp::create(builder, location, builder.getStringAttr(name),
                              sched::SlotKindAttr::get(builder.getContext(), kind), mlir::TypeAttr::get(type),
                              perMicrobatch ? builder.getUnitAttr() : mlir::UnitAttr(), sched::PlaceAttr());
  }

  /// Moves the ops of `region`'s block into a new action and returns its block; arguments stay for the caller
  /// to replace, and the terminator to remove.
  sched::ActionOp addAction(llvm::StringRef name, mlir::Region &region, bool perMicrobatch) {
    sched::ActionOp action = createAction(region.getLoc(), name, perMicrobatch);
    action.getBody().takeBody(region);
    return action;
  }

  /// A new action; its block is empty.
  mlir::Block &addEmptyAction(mlir::Location location, const llvm::Twine &name, bool perMicrobatch = false) {
    sched::ActionOp action = createAction(location, name, perMicrobatch);
    mlir::OpBuilder::InsertionGuard guard(builder);
    return *builder.createBlock(&action.getBody());
  }

  /// At the end of `block`.
  mlir::Value load(mlir::Block &block, mlir::Location location, const llvm::Twine &slot, mlir::Type type) {
    builder.setInsertionPointToEnd(&block);
    return sched::LoadOp::create(builder, location, type, builder.getStringAttr(slot), mlir::IntegerAttr());
  }

  /// Replaces the block's argument `index` by a load of a slot.
  void loadArgument(mlir::Block &block, unsigned index, const llvm::Twine &slot) {
    mlir::BlockArgument argument = block.getArgument(index);
    builder.setInsertionPointToStart(&block);
    argument.replaceAllUsesWith(sched::LoadOp::create(builder, argument.getLoc(), argument.getType(),
                                                      builder.getStringAttr(slot), mlir::IntegerAttr()));
  }

  void store(mlir::Block &block, mlir::Location location, const llvm::Twine &slot, mlir::Value value) {
    builder.setInsertionPointToEnd(&block);
    sched::StoreOp::create(builder, location, builder.getStringAttr(slot), value);
  }

  void addRun(const llvm::Twine &action, std::optional<int64_t> microbatch = std::nullopt) {
    builder.setInsertionPointToEnd(&program.getBody().front());
    sched::RunOp::create(builder, program.getLoc(), builder.getStringAttr(action),
                         microbatch ? builder.getI64IntegerAttr(*microbatch) : mlir::IntegerAttr());
  }

  sched::ActionOp createAction(mlir::Location location, const llvm::Twine &name, bool perMicrobatch) {
    builder.setInsertionPointToEnd(&program.getBody().front());
    return sched::ActionOp::create(builder, location, builder.getStringAttr(name),
                                   perMicrobatch ? builder.getUnitAttr() : mlir::UnitAttr());
  }

  mlir::OpBuilder builder;
  sched::ProgramOp program;

private:
  sched::SlotOp lastSlot;
};

} // namespace weft

#endif // WEFT_PASSES_PIPELINE_PROGRAMBUILDER_H
