//===- Memory.cpp - Phase 12: every value gets a place -------------------------===//
#include "passes/memory/Memory.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/memory/InFlight.h"
#include "passes/memory/OffsetAssignment.h"
#include "passes/memory/StepRegion.h"
#include "passes/memory/VerifyPlaces.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_MEMORY
#include "passes/memory/Passes.h.inc"

namespace {
class ModulePlanner {
public:
  explicit ModulePlanner(ModuleOp module) : module(module), symbols(module), builder(module.getContext()) {}

  LogicalResult run() {
    for (auto base : module.getOps<sched::BaseOp>())
      return base.emitOpError()
             << "stands in a program before the memory phase: every byte has its place already";
    placeVariables();
    placeConstants();
    for (auto program : module.getOps<sched::ProgramOp>()) {
      placeInputs(program);
      if (failed(placeInFlight(program)) || failed(placeRegion(program)))
        return failure();
    }
    addBases();
    return success();
  }

private:
  sched::PlaceAttr place(StringRef base, int64_t offset) {
    return sched::PlaceAttr::get(builder.getContext(), builder.getStringAttr(base), offset);
  }
  /// Takes the next `type`-sized piece at `end`.
  sched::PlaceAttr append(StringRef base, int64_t &end, Type type) {
    sched::PlaceAttr taken = place(base, end);
    end += alignPlace(nn::byteSize(cast<RankedTensorType>(type)));
    return taken;
  }

  void placeVariables() {
    for (Operation &op : *module.getBody())
      if (isa<nn::ParameterOp, nn::StateOp>(op)) {
        Type type = op.getAttrOfType<TypeAttr>("type").getValue();
        op.setAttr(kPlaceAttribute, append("parameters", parameterBytes, type));
      }
    // Caches come first in `step`: programs that name none have values of their own there.
    for (auto cache : module.getOps<nn::CacheOp>())
      cache->setAttr(kPlaceAttribute, append("step", cacheBytes, cache.getType()));
    stepBytes = cacheBytes;
  }

  bool namesCache(sched::ProgramOp program) {
    return program
        .walk([&](Operation *op) {
          auto variable = op->getAttrOfType<FlatSymbolRefAttr>("variable");
          return variable && isa_and_nonnull<nn::CacheOp>(symbols.lookup(variable.getValue()))
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Equal constants share a place.
  void placeConstants() {
    llvm::DenseMap<mlir::Attribute, sched::PlaceAttr> known;
    module.walk([&](sched::ConstantOp constant) {
      sched::PlaceAttr &taken = known[constant.getValue()];
      if (!taken)
        taken = append("constants", constantBytes, constant.getType());
      constant.setPlaceAttr(taken);
    });
  }

  /// Each input has a base with a slot per microbatch.
  void placeInputs(sched::ProgramOp program) {
    slots.clear();
    for (auto slot : program.getBody().front().getOps<sched::SlotOp>()) {
      if (slot.getKind() == sched::SlotKind::input) {
        std::string base = (program.getName() + "/" + slot.getName()).str();
        int64_t bytes = 0;
        slot.setPlaceAttr(append(base, bytes, slot.getType()));
        int64_t count = slot.getPerMicrobatch() ? static_cast<int64_t>(program.getMicrobatches()) : 1;
        inputBases.push_back({base, count, bytes});
      }
      slots[slot.getName()] = slot;
    }
  }

  /// All programs share the region: the one that needs most says how large it is.
  LogicalResult placeInFlight(sched::ProgramOp program) {
    FailureOr<InFlightPlan> planned = planInFlight(program);
    if (failed(planned))
      return failure();
    for (InFlightBlock &block : planned->blocks)
      inFlightBlocks.push_back(std::move(block));
    if (planned->bytes > inFlight.bytes)
      inFlight = *std::move(planned);
    return success();
  }

  /// Everything else lies in `step`, behind the caches if the program names any.
  LogicalResult placeRegion(sched::ProgramOp program) {
    const HomeLookup homeOf = [&](Operation *op) { return Home{placeOf(op), {}}; };
    const int64_t start = namesCache(program) ? cacheBytes : 0;
    const FailureOr<int64_t> bytes = planStepRegion(program, kernels, homeOf, "step", start);
    if (failed(bytes))
      return failure();
    stepBytes = std::max(stepBytes, *bytes);
    return success();
  }

  /// What a load or store of an input or of what is in flight names, or a read or write of a variable.
  sched::PlaceAttr placeOf(Operation *op) {
    if (auto load = dyn_cast<sched::LoadOp>(op)) {
      sched::SlotOp slot = slots.lookup(load.getSlot());
      int64_t stride = alignPlace(nn::byteSize(cast<RankedTensorType>(slot.getType())));
      return place(slot.getPlace()->getBase(),
                   slot.getPlace()->getOffset() +
                       static_cast<int64_t>(load.getMicrobatch().value_or(0)) * stride);
    }
    if (auto store = dyn_cast<sched::StoreOp>(op))
      return *slots.lookup(store.getSlot()).getPlace();
    StringRef name = op->getAttrOfType<FlatSymbolRefAttr>("variable").getValue();
    return symbols.lookup(name)->getAttrOfType<sched::PlaceAttr>(kPlaceAttribute);
  }

  void addBases() {
    builder.setInsertionPointToStart(module.getBody());
    auto add = [&](StringRef name, sched::BaseKind kind, int64_t count, int64_t bytes) {
      if (bytes > 0)
        addBase(name, kind, count, bytes, {}, {});
    };
    add("constants", sched::BaseKind::constants, 1, constantBytes);
    add("parameters", sched::BaseKind::parameters, 1, parameterBytes);
    for (const InputBase &input : inputBases)
      add(input.name, sched::BaseKind::inputs, input.count, input.bytes);
    add("step", sched::BaseKind::step, 1, stepBytes);
    addInFlight();
  }

  sched::BaseOp addBase(StringRef name, sched::BaseKind kind, int64_t count, int64_t bytes, StringAttr within,
                        DenseI64ArrayAttr offsets) {
    return sched::BaseOp::create(builder, module.getLoc(), builder.getStringAttr(name),
                                 sched::BaseKindAttr::get(builder.getContext(), kind),
                                 builder.getI64IntegerAttr(count), builder.getI64IntegerAttr(bytes), within,
                                 offsets);
  }

  /// The region, which says what it holds at its peak, and the bases that share it.
  void addInFlight() {
    if (inFlightBlocks.empty())
      return;
    StringAttr name = builder.getStringAttr("in_flight");
    sched::BaseOp region = addBase(name, sched::BaseKind::slots, 1, inFlight.bytes, {}, {});
    SmallVector<mlir::Attribute> rows;
    for (const auto &[what, bytes] : inFlight.peak)
      rows.push_back(peakRow(builder, "activations", what, bytes));
    region->setAttr(kPeakAttribute, builder.getArrayAttr(rows));
    region->setAttr(kLowerBoundAttribute, builder.getI64IntegerAttr(inFlight.lowerBound));
    for (const InFlightBlock &block : inFlightBlocks)
      addBase(block.base, sched::BaseKind::slots, static_cast<int64_t>(block.offsets.size()), block.bytes,
              name, builder.getDenseI64ArrayAttr(block.offsets));
  }

  struct InputBase {
    std::string name;
    int64_t count, bytes;
  };

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  KernelCache kernels;
  llvm::StringMap<sched::SlotOp> slots;
  SmallVector<InputBase> inputBases;
  SmallVector<InFlightBlock> inFlightBlocks; ///< of all programs
  InFlightPlan inFlight;                     ///< of the program that needs most; its blocks are above
  int64_t parameterBytes = 0, cacheBytes = 0, constantBytes = 0, stepBytes = 0;
};

class MemoryPass : public impl::MemoryBase<MemoryPass> {
public:
  void runOnOperation() override {
    if (failed(ModulePlanner(getOperation()).run()) || failed(verifyPlaces(getOperation())))
      signalPassFailure();
  }
};
} // namespace

DictionaryAttr peakRow(Builder &builder, StringRef category, StringRef what, int64_t bytes) {
  return builder.getDictionaryAttr({builder.getNamedAttr("category", builder.getStringAttr(category)),
                                    builder.getNamedAttr("what", builder.getStringAttr(what)),
                                    builder.getNamedAttr("bytes", builder.getI64IntegerAttr(bytes))});
}
} // namespace weft
