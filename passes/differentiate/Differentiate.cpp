//===- Differentiate.cpp - Phase 3: joint forward and backward -------------===//
//
// Reverse mode over one block. A value is active if it depends on a source and a seed depends on it; ops are
// visited in reverse and asked for the cotangents of their active operands. Contributions to one value are
// added in the order in which they arise, which is a function of the program alone.
//
//===----------------------------------------------------------------------===//
#include "passes/differentiate/Differentiate.h"

#include "dialects/nn/NnDialect.h"
#include "dialects/nn/ValueBuilder.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/differentiate/Passes.h.inc"

namespace {
using namespace weft::nn;

bool isFloat(Value value) { return isa<FloatType>(tensorType(value).getElementType()); }

class BackwardBuilder {
public:
  BackwardBuilder(Block &block, OpBuilder &builder, ValueRange sources)
      : block(block), builder(builder), sources(sources), isSource(sources.begin(), sources.end()) {}

  FailureOr<SmallVector<Value>> run(ArrayRef<std::pair<Value, Value>> seeds) {
    // The forward ops are collected before any backward op is added.
    for (Operation &op : block)
      if (!op.hasTrait<OpTrait::IsTerminator>())
        forward.push_back(&op);
    markActive();
    for (auto [value, cotangent] : seeds)
      contribute(value, cotangent);
    for (Operation *op : llvm::reverse(forward))
      if (failed(visit(op)))
        return failure();
    SmallVector<Value> result;
    for (Value source : sources)
      result.push_back(cotangents.lookup(source));
    return result;
  }

private:
  /// Values that depend on a source through float values.
  void markActive() {
    active.insert_range(sources);
    for (Operation *op : forward) {
      if (isa<StopGradientOp>(op) ||
          llvm::none_of(op->getOperands(), [&](Value v) { return active.contains(v); }))
        continue;
      for (Value result : op->getResults())
        if (isFloat(result))
          active.insert(result);
    }
  }

  /// A cotangent has its value's type, but for parameters: those, and casts of them, have the source's.
  RankedTensorType cotangentType(Value value) {
    Value root = value;
    while (auto cast = root.getDefiningOp<CastOp>())
      root = cast.getOperand();
    return isSource.contains(root) && isFloat(root) ? tensorType(root) : tensorType(value);
  }

  void contribute(Value value, Value cotangent) {
    Value &total = cotangents[value];
    if (!total) {
      total = cotangent;
      return;
    }
    ValueBuilder b(builder, value.getLoc());
    total = b.add(total, cotangent);
  }

  static SmallVector<size_t> countUses(ArrayRef<Value> values) {
    SmallVector<size_t> counts;
    for (Value value : values)
      counts.push_back(value ? std::distance(value.use_begin(), value.use_end()) : 0);
    return counts;
  }

  LogicalResult visit(Operation *op) {
    SmallVector<Value> resultCotangents;
    bool reached = false;
    for (Value result : op->getResults()) {
      resultCotangents.push_back(cotangents.lookup(result));
      reached |= static_cast<bool>(resultCotangents.back());
    }
    bool wanted = llvm::any_of(op->getOperands(), [&](Value operand) { return active.contains(operand); });
    if (!reached || !wanted || isa<StopGradientOp>(op))
      return success();
    auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable)
      return op->emitOpError() << "has no derivative and lies between a parameter and the objective; "
                                  "nn.stop_gradient in front of it says that none is wanted";
    auto needs = [&](Value value) { return active.contains(value); };
    auto typeOf = [&](Value value) { return cotangentType(value); };
    VjpContext context(builder, op, needs, typeOf);
    SmallVector<Value> operandCotangents(op->getNumOperands());
    SmallVector<size_t> usesBefore = countUses(resultCotangents);
    differentiable.buildVjp(context, resultCotangents, operandCotangents);
    // A residual (a log-sum-exp, a reciprocal deviation) has no derivative of its own: a cotangent that the
    // op did not look at would be lost in silence.
    SmallVector<size_t> usesAfter = countUses(resultCotangents);
    for (size_t index = 0; op->getNumResults() > 1 && index < usesAfter.size(); ++index)
      if (resultCotangents[index] && usesAfter[index] == usesBefore[index])
        return op->emitOpError()
               << "has no derivative through its result " << index
               << ", and the objective depends on it; nn.stop_gradient behind it says that none "
                  "is wanted";
    for (auto [operand, cotangent] : llvm::zip_equal(op->getOperands(), operandCotangents))
      if (cotangent && active.contains(operand))
        contribute(operand, cotangent);
    return success();
  }

  Block &block;
  OpBuilder &builder;
  ValueRange sources;
  llvm::DenseSet<Value> isSource;
  SmallVector<Operation *> forward;
  llvm::DenseSet<Value> active;
  llvm::DenseMap<Value, Value> cotangents;
};
} // namespace

FailureOr<SmallVector<Value>> buildBackward(Block &block, OpBuilder &builder, ValueRange sources,
                                            ArrayRef<std::pair<Value, Value>> seeds) {
  return BackwardBuilder(block, builder, sources).run(seeds);
}

namespace {
class DifferentiatePass : public impl::DifferentiateBase<DifferentiatePass> {
public:
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    for (auto step : getOperation().getOps<StepOp>())
      if (step->hasAttr("objective") && failed(differentiate(step)))
        return signalPassFailure();
  }

private:
  LogicalResult differentiate(StepOp step) {
    SymbolTable symbols(getOperation());
    auto isParameter = [&](ReadOp read) {
      return isa_and_nonnull<ParameterOp>(symbols.lookup(read.getVariable()));
    };
    Block &block = step.getMicrobatch().front();
    auto carry = cast<CarryOp>(block.getTerminator());
    auto name = step->getAttrOfType<StringAttr>("objective");
    auto found = llvm::find(carry.getNames(), name);
    if (!name || found == carry.getNames().end())
      return step.emitOpError() << "names the objective " << step->getAttr("objective")
                                << ", which microbatch does not carry";
    Value objective = carry.getValues()[found - carry.getNames().begin()];
    if (tensorType(objective).getRank() != 0 || !isFloat(objective))
      return step.emitOpError() << "expects a scalar float objective, got " << objective.getType();

    for (auto read : step.getPrepare().front().getOps<ReadOp>())
      if (isParameter(read))
        return read.emitOpError()
               << "reads a parameter in prepare, where no gradient would reach it; read it "
                  "in microbatch";
    SmallVector<ReadOp> reads;
    SmallVector<Value> sources;
    for (auto read : block.getOps<ReadOp>())
      if (isParameter(read)) {
        reads.push_back(read);
        sources.push_back(read.getResult());
      }
    OpBuilder builder(carry);
    ValueBuilder b(builder, carry.getLoc());
    FailureOr<SmallVector<Value>> gradients =
        buildBackward(block, builder, sources, {{objective, b.splat(objective, 1.0)}});
    if (failed(gradients))
      return failure();
    carryGradients(step, carry, reads, *gradients);
    return success();
  }

  /// Carries each use's gradient by sum and hands it to update, after the values that were carried before.
  void carryGradients(StepOp step, CarryOp carry, ArrayRef<ReadOp> reads, ArrayRef<Value> gradients) {
    OpBuilder builder(carry);
    SmallVector<Attribute> names(carry.getNames().getValue()), combiners(carry.getCombiners().getValue());
    SmallVector<Value> values(carry.getValues());
    llvm::StringMap<unsigned> uses;
    for (auto [readOp, computed] : llvm::zip_equal(reads, gradients)) {
      ReadOp read = readOp;
      Value gradient = computed;
      unsigned use = uses[read.getVariable()]++;
      if (!gradient)
        gradient = ValueBuilder(builder, read.getLoc()).splat(read.getResult(), 0.0);
      step.getUpdate().insertArgument(values.size(), gradient.getType(), read.getLoc());
      names.push_back(builder.getStringAttr("gradient/" + read.getVariable() + "/" + std::to_string(use)));
      combiners.push_back(builder.getStringAttr("sum"));
      values.push_back(gradient);
    }
    CarryOp::create(builder, carry.getLoc(), builder.getArrayAttr(names), builder.getArrayAttr(combiners),
                    values);
    carry.erase();
  }
};
} // namespace
} // namespace weft
