//===- Precision.cpp - Phase 2: the recipe, on the global program ----------===//
//
// Types are roundings: the pass walks the microbatch region once, in order, and gives the results of each op
// that computes with the compute type that type. What an op must keep in float32 is a property of the op,
// listed in `keepsFloat32`.
//
//===----------------------------------------------------------------------===//
#include "passes/precision/Precision.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/nn/ValueBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_PRECISION
#include "passes/precision/Passes.h.inc"

namespace {
using namespace weft::nn;

constexpr StringRef kLossScale = "loss_scale";

/// Operands that stay float32 whatever the recipe: rotary tables.
bool keepsFloat32(Operation *op, unsigned operand) { return isa<RopeOp>(op) && operand > 0; }

/// Results that stay float32: statistics, losses, and sums, which are accumulators.
bool keepsFloat32(OpResult result) {
  Operation *op = result.getOwner();
  if (isa<LinearCrossEntropyOp, ReduceOp, SquaredNormOp, CastOp>(op))
    return true;
  return isa<RmsNormOp, LayerNormOp, AttentionOp>(op) && result.getResultNumber() > 0;
}

class RecipeApplier {
public:
  /// `scope` is where symbols are looked up from.
  RecipeApplier(Operation *scope, Type compute) : scope(scope), compute(compute) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      convert(op);
    // What leaves a block keeps its type.
    Operation *terminator = block.getTerminator();
    OpBuilder builder(terminator);
    ValueBuilder b(builder, terminator->getLoc());
    for (OpOperand &operand : terminator->getOpOperands())
      if (isCompute(operand.get()) && narrowedResults.contains(operand.get()))
        operand.set(b.cast(operand.get(), builder.getF32Type()));
  }

private:
  bool isFloat32(Value value) {
    return isa<RankedTensorType>(value.getType()) && tensorType(value).getElementType().isF32();
  }
  bool isCompute(Value value) { return tensorType(value).getElementType() == compute; }

  void convert(Operation &op) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (isa_and_nonnull<ParameterOp>(SymbolTable::lookupNearestSymbolFrom(scope, read.getVariableAttr())) &&
          isFloat32(read.getResult()))
        parameters.insert(read.getResult());
      return;
    }
    bool computes = llvm::any_of(op.getOperands(), [&](Value operand) {
      return isa<RankedTensorType>(operand.getType()) && (isCompute(operand) || parameters.contains(operand));
    });
    if (!computes || isa<CastOp>(op))
      return;
    OpBuilder builder(&op);
    ValueBuilder b(builder, op.getLoc());
    for (OpOperand &operand : op.getOpOperands())
      if (isFloat32(operand.get()) && !keepsFloat32(&op, operand.getOperandNumber()))
        operand.set(narrowed(b, operand.get()));
    for (OpResult result : op.getResults())
      if (isFloat32(result) && !keepsFloat32(result)) {
        result.setType(tensorType(result).clone(compute));
        narrowedResults.insert(result);
      }
  }

  /// The value in the compute type; one cast per value, right after its definition.
  Value narrowed(ValueBuilder &b, Value value) {
    Value &cast = casts[value];
    if (!cast) {
      OpBuilder::InsertionGuard guard(b.builder);
      b.builder.setInsertionPointAfterValue(value);
      cast = b.cast(value, compute);
    }
    return cast;
  }

  Operation *scope;
  Type compute;
  llvm::DenseSet<Value> parameters, narrowedResults;
  llvm::DenseMap<Value, Value> casts;
};

/// Multiplies the carried objective by the state `loss_scale`, and divides it by the step's denominator:
/// cotangents of a sum over thousands of tokens would leave the range of float16 at any useful scale.
LogicalResult scaleObjective(ModuleOp module, StepOp step, double initialScale) {
  auto objective = step->getAttrOfType<StringAttr>("objective");
  if (!objective)
    return step.emitOpError() << "has no 'objective' to scale";
  OpBuilder builder(step);
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  ValueBuilder atModule(builder, step.getLoc());
  atModule.create<StateOp>(kLossScale, scalar, InitializerKind::constant, llvm::APFloat(initialScale),
                           llvm::APFloat(0.0));
  auto carry = cast<CarryOp>(step.getMicrobatch().front().getTerminator());
  builder.setInsertionPoint(carry);
  ValueBuilder b(builder, carry.getLoc());
  for (auto [index, name] : llvm::enumerate(carry.getNames()))
    if (name == objective) {
      Value value = carry.getValues()[index];
      value = b.mul(value, b.castTo(b.read(kLossScale, scalar), value));
      if (auto denominator = step->getAttrOfType<IntegerAttr>("denominator")) {
        Value count = step.getMicrobatch().getArgument(step.getInputNames().size() + denominator.getInt());
        value = b.div(value, b.castTo(b.maximum(count, b.splat(count, 1)), value));
      }
      carry->setOperand(index, value);
    }
  step->removeAttr("denominator");
  step->setAttr(kLossScale, FlatSymbolRefAttr::get(builder.getContext(), kLossScale));
  return success();
}

class PrecisionPass : public impl::PrecisionBase<PrecisionPass> {
public:
  using PrecisionBase::PrecisionBase;

  void runOnOperation() override {
    Type compute;
    if (recipe == "bf16")
      compute = BFloat16Type::get(&getContext());
    else if (recipe == "fp16")
      compute = Float16Type::get(&getContext());
    else if (recipe != "fp32") {
      getOperation().emitError() << "precision: no recipe '" << recipe << "'; there are fp32, bf16 and fp16";
      return signalPassFailure();
    }
    if (!compute)
      return;
    for (auto step : getOperation().getOps<StepOp>()) {
      RecipeApplier(step, compute).run(step.getMicrobatch().front());
      if (recipe == "fp16" && failed(scaleObjective(getOperation(), step, initialLossScale)))
        return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        RecipeApplier(function, compute).run(function.getBody().front());
  }
};
} // namespace
} // namespace weft
