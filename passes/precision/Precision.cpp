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

#include <cmath>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_PRECISION
#include "passes/precision/Passes.h.inc"

namespace {
using namespace weft::nn;

constexpr StringRef kLossScale = "loss_scale", kScaledObjective = "scaled_objective";

/// Operands that stay float32 whatever the recipe: rotary tables.
bool keepsFloat32(Operation *op, unsigned operand) { return isa<RopeOp>(op) && operand > 0; }

/// Results that stay float32: statistics, losses, and sums, which are accumulators.
bool keepsFloat32(OpResult result) {
  Operation *op = result.getOwner();
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() == Reduction::sum;
  if (isa<LinearCrossEntropyOp, SquaredNormOp, CastOp>(op))
    return true;
  return isa<RmsNormOp, LayerNormOp, AttentionOp>(op) && result.getResultNumber() > 0;
}

class RecipeApplier {
public:
  RecipeApplier(const SymbolTable &symbols, Type compute) : symbols(symbols), compute(compute) {}

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
      Operation *variable = symbols.lookup(read.getVariable());
      if (isa_and_nonnull<ParameterOp>(variable) && isFloat32(read.getResult()))
        parameters.insert(read.getResult());
      if (auto cache = dyn_cast_or_null<CacheOp>(variable); cache && isFloat32(read.getResult())) {
        read.getResult().setType(narrowed(cache));
        narrowedResults.insert(read.getResult());
      }
      return;
    }
    if (auto write = dyn_cast<WriteOp>(op))
      return convertWrite(write);
    bool computes = llvm::any_of(op.getOperands(), [&](Value operand) {
      return isa<RankedTensorType>(operand.getType()) && (isCompute(operand) || parameters.contains(operand));
    });
    if (!computes || isa<CastOp>(op))
      return;
    OpBuilder builder(&op);
    ValueBuilder b(builder, op.getLoc());
    for (OpOperand &operand : op.getOpOperands())
      if (keepsFloat32(&op, operand.getOperandNumber()))
        operand.set(isCompute(operand.get()) ? b.cast(operand.get(), b.builder.getF32Type()) : operand.get());
      else if (isFloat32(operand.get()))
        operand.set(narrowed(b, operand.get()));
    for (OpResult result : op.getResults())
      if (isFloat32(result) && !keepsFloat32(result)) {
        result.setType(tensorType(result).clone(compute));
        narrowedResults.insert(result);
      }
  }

  /// A float32 cache holds what is computed, in its type.
  RankedTensorType narrowed(CacheOp cache) {
    auto type = cast<RankedTensorType>(cache.getType());
    if (type.getElementType().isF32())
      cache.setTypeAttr(TypeAttr::get(type = type.clone(compute)));
    return type;
  }

  void convertWrite(WriteOp write) {
    auto cache = dyn_cast_or_null<CacheOp>(symbols.lookup(write.getVariable()));
    if (!cache || narrowed(cache).getElementType() != compute || !isFloat32(write.getValue()))
      return;
    OpBuilder builder(write);
    ValueBuilder b(builder, write.getLoc());
    write.getValueMutable().assign(narrowed(b, write.getValue()));
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

  const SymbolTable &symbols;
  Type compute;
  llvm::DenseSet<Value> parameters, narrowedResults;
  llvm::DenseMap<Value, Value> casts;
};

/// The update's argument that holds the value which the step's `denominator` names; null without one.
FailureOr<Value> findDenominator(StepOp step) {
  auto index = step->getAttrOfType<IntegerAttr>("denominator");
  if (!index)
    return Value();
  Block &block = step.getMicrobatch().front();
  int64_t prepared = block.getNumArguments() - step.getInputNames().size();
  if (index.getInt() < 0 || index.getInt() >= prepared)
    return step.emitOpError() << "has denominator " << index.getInt() << ", but prepare yields " << prepared
                              << " values";
  return Value(block.getArgument(step.getInputNames().size() + index.getInt()));
}

/// Carries the objective a second time, multiplied by the state `loss_scale` and divided by the step's
/// denominator (cotangents of a sum over thousands of tokens would leave the range of float16 at any useful
/// scale), and makes that the objective. The one that the program carries stays what it is.
LogicalResult scaleObjective(ModuleOp module, StepOp step, double initialScale) {
  auto objective = step->getAttrOfType<StringAttr>("objective");
  auto carry = cast<CarryOp>(step.getMicrobatch().front().getTerminator());
  auto found = llvm::find(carry.getNames(), objective);
  if (!objective || found == carry.getNames().end())
    return step.emitOpError() << "has no carried 'objective' to scale";
  FailureOr<Value> denominator = findDenominator(step);
  if (failed(denominator))
    return failure();
  OpBuilder builder(step);
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  if (!module.lookupSymbol(kLossScale))
    StateOp::create(builder, step.getLoc(), kLossScale, scalar, InitializerKind::constant,
                    llvm::APFloat(initialScale), llvm::APFloat(0.0));
  builder.setInsertionPoint(carry);
  ValueBuilder b(builder, carry.getLoc());
  Value value = carry.getValues()[found - carry.getNames().begin()];
  value = b.mul(value, b.castTo(b.read(kLossScale, scalar), value));
  if (*denominator)
    value = b.div(value, b.castTo(b.maximum(*denominator, b.splat(*denominator, 1)), value));
  SmallVector<Attribute> names(carry.getNames().getValue()), combiners(carry.getCombiners().getValue());
  SmallVector<Value> values(carry.getValues());
  step.getUpdate().insertArgument(values.size(), value.getType(), carry.getLoc());
  names.push_back(builder.getStringAttr(kScaledObjective));
  combiners.push_back(builder.getStringAttr("sum"));
  values.push_back(value);
  b.create<CarryOp>(builder.getArrayAttr(names), builder.getArrayAttr(combiners), values);
  carry.erase();
  step->removeAttr("denominator");
  step->setAttr("objective", builder.getStringAttr(kScaledObjective));
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
    if (!(initialLossScale > 0.0) || !std::isfinite(initialLossScale)) {
      getOperation().emitError() << "precision: the initial loss scale is " << initialLossScale
                                 << "; it must be a finite number above 0";
      return signalPassFailure();
    }
    SymbolTable symbols(getOperation());
    for (auto step : getOperation().getOps<StepOp>()) {
      RecipeApplier(symbols, compute).run(step.getMicrobatch().front());
      if (recipe == "fp16" && failed(scaleObjective(getOperation(), step, initialLossScale)))
        return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        RecipeApplier(symbols, compute).run(function.getBody().front());
  }
};
} // namespace
} // namespace weft
