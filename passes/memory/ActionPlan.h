//===- ActionPlan.h - Buffers of one action -----------------------------------===//
#ifndef WEFT_PASSES_MEMORY_ACTIONPLAN_H
#define WEFT_PASSES_MEMORY_ACTIONPLAN_H

#include "dialects/sched/SchedDialect.h"
#include "passes/analysis/KernelCache.h"
#include "passes/analysis/KernelCalls.h"
#include "passes/memory/OffsetAssignment.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <functional>
#include <optional>
#include <string>

namespace weft {

/// What a load, store, read or write names: a place that is known, or a slot of the step's region, whose
/// place follows from its life in all actions. Neither, for a buffer that lives in its action alone.
struct Home {
  sched::PlaceAttr place;
  sched::SlotOp slot;

  explicit operator bool() const { return place || slot; }
};
using HomeLookup = std::function<Home(mlir::Operation *)>;

/// Whether nothing names a slot of the region any more once this action has run.
using EndsHere = std::function<bool(sched::SlotOp)>;

/// How an action uses a slot of the region, in commands of the action.
struct SlotUse {
  std::optional<int64_t> written; ///< from here on it holds what the action stores
  std::optional<int64_t> read;    ///< the last command that needs what it held before
};

class ActionPlan {
public:
  ActionPlan(sched::ActionOp action, KernelCache &kernels, HomeLookup homeOf, EndsHere endsHere);

  /// Which stored values are computed where they are stored, and which results take over an operand's memory.
  /// Adds copies of what was loaded and is stored.
  mlir::LogicalResult run();

  /// Results and workspaces that live in this action alone, in its commands.
  llvm::ArrayRef<Lifetime> pieces() const { return lifetimes; }
  bool isWorkspace(size_t piece) const { return piece >= pieceBuffers.size(); }
  /// The launch, its type and its location, for people.
  std::string describe(size_t piece) const;
  const llvm::MapVector<sched::SlotOp, SlotUse> &slots() const { return slotUses; }
  /// The last of them, which is none of the block's, copies what was not computed where it is stored.
  int64_t commands() const { return end + 1; }

  /// Sets the places of every launch, once the slots have theirs; adds the copies at the end.
  void setPlaces(llvm::ArrayRef<int64_t> offsets, llvm::StringRef base);

private:
  struct Buffer {
    int64_t bytes = 0;
    int64_t begin = 0, end = 0; ///< commands of the action; `end` is the last that reads it
    Home home;
    mlir::Value owner;
    size_t piece = 0; ///< which of `lifetimes`, without a home
  };

  void copyLoadedValues();
  mlir::LogicalResult createBuffers();
  void addBuffer(mlir::Operation *op, mlir::Value result);
  Buffer &bufferOf(mlir::Value value);
  bool mayReplace(const Buffer &old, mlir::Value value);
  void placeStores();
  mlir::LogicalResult checkTransfers();
  mlir::Operation *readerOf(mlir::Value value);
  void reuseOperands();
  bool mayTakeOver(const Buffer &own, const Buffer &old);
  void listPieces();
  void listSlots();
  static sched::PlaceAttr placeOf(Home home);
  sched::PlaceAttr placeOf(const Buffer &buffer, llvm::ArrayRef<int64_t> offsets, mlir::StringAttr base);

  sched::ActionOp action;
  mlir::Block &block;
  KernelCache &kernels;
  HomeLookup homeOf;
  EndsHere endsHere;
  mlir::OpBuilder builder;
  int64_t end = 0;
  llvm::DenseMap<mlir::Operation *, int64_t> commandOf;
  llvm::DenseMap<mlir::Operation *, const Kernel *> kernelOf;
  llvm::SmallVector<Buffer> buffers;
  llvm::DenseMap<mlir::Value, size_t> index;
  /// The buffers that are one place or slot, by its attribute or op.
  llvm::DenseMap<const void *, llvm::SmallVector<size_t>> holders;
  llvm::SmallVector<std::pair<mlir::Operation *, Home>> copies;
  llvm::SmallVector<Lifetime> lifetimes;
  llvm::SmallVector<size_t> pieceBuffers;             ///< by piece, then come the workspaces:
  llvm::SmallVector<sched::LaunchOp> workspaceOwners; ///< by piece behind those
  llvm::MapVector<sched::SlotOp, SlotUse> slotUses;
};

} // namespace weft

#endif // WEFT_PASSES_MEMORY_ACTIONPLAN_H
