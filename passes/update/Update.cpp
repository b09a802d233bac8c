//===- Update.cpp - Phase 4: norm, clipping, optimizer, schedule ------------===//
//
// Writes the update region from the gradients that microbatch carries. Everything that a step decides (is the
// norm finite, the clipping coefficient, the learning rate, bias corrections) is a scalar op of the program,
// so that every rank and every mesh decides the same.
//
//===----------------------------------------------------------------------===//
#include "passes/update/Update.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/ValueBuilder.h"
#include "passes/update/LearningRate.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

#include <fnmatch.h>
#include <optional>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_UPDATE
#include "passes/update/Passes.h.inc"

namespace {
using namespace weft::nn;

constexpr StringRef kStepCounter = "optimizer.step";
constexpr StringRef kGoodSteps = "loss_scale.good_steps";

struct GroupOptions {
  std::string pattern; ///< as of fnmatch
  double lrScale;
  std::optional<double> weightDecay; ///< none: the common rules
};

bool matches(const std::string &pattern, StringRef name) {
  return fnmatch(pattern.c_str(), name.str().c_str(), 0) == 0;
}

/// A parameter and the sum over its uses of the gradient, not yet normalized.
struct Gradient {
  ParameterOp parameter;
  Value sum;
};

/// The scalars that every parameter's update shares.
struct Shared {
  Value finite;       ///< i1: the step counts
  Value scale;        ///< f32: what gradients are multiplied by: clipping / (denominator x loss scale)
  Value learningRate; ///< f32
  Value correction1, correction2; ///< f32: 1 - beta^t
};

struct UpdateOptionsParsed {
  UpdateOptions raw;
  SmallVector<std::string> noDecay;
  SmallVector<GroupOptions> groups;
  LearningRateSchedule schedule;
  bool isCanonical = false;
};

class UpdateBuilder {
public:
  UpdateBuilder(ModuleOp module, StepOp step, const UpdateOptionsParsed &options)
      : module(module), symbols(module), step(step), options(options), block(step.getUpdate().front()),
        yield(cast<YieldOp>(block.getTerminator())), builder(yield), b(builder, step.getLoc()),
        f32(builder.getF32Type()), f64(builder.getF64Type()) {}

  LogicalResult run() {
    if (options.isCanonical)
      carryLeaves();
    if (failed(collectGradients()))
      return failure();
    Value denominator = findDenominator();
    if (!denominator)
      return failure();
    Shared shared = buildShared(denominator);
    for (const Gradient &gradient : gradients) {
      b.location = locationOf(gradient);
      buildParameterUpdate(gradient, shared);
    }
    b.location = step.getLoc();
    addOutputs(shared);
    return success();
  }

private:
  /// What is computed for one parameter is named after it: in dumps, profiles and messages.
  Location locationOf(Gradient gradient) {
    return NameLoc::get(gradient.parameter.getSymNameAttr(), step.getLoc());
  }

  /// Float sums over microbatches become canonical.
  void carryLeaves() {
    auto carry = cast<CarryOp>(step.getMicrobatch().front().getTerminator());
    OpBuilder atCarry(carry);
    SmallVector<Attribute> combiners(carry.getCombiners().getValue());
    for (auto [operand, combiner] : llvm::zip_equal(carry->getOpOperands(), combiners)) {
      Value value = operand.get();
      if (cast<StringAttr>(combiner).getValue() != "sum" ||
          !isa<FloatType>(tensorType(value).getElementType()))
        continue;
      operand.set(LeafOp::create(atCarry, value.getLoc(), value.getType(), value));
      combiner = builder.getStringAttr("tree");
    }
    carry.setCombinersAttr(builder.getArrayAttr(combiners));
  }

  /// Adds the uses of each parameter in order; gradients are listed in the order of the symbols.
  LogicalResult collectGradients() {
    auto carry = cast<CarryOp>(step.getMicrobatch().front().getTerminator());
    llvm::StringMap<Value> sums;
    for (auto [index, attribute] : llvm::enumerate(carry.getNames())) {
      StringRef name = cast<StringAttr>(attribute).getValue();
      if (!name.consume_front("gradient/"))
        continue;
      Value &sum = sums[name.rsplit('/').first];
      sum = sum ? b.add(sum, block.getArgument(index)) : block.getArgument(index);
    }
    if (sums.empty())
      return step.emitOpError() << "carries no gradients; differentiate comes before update";
    for (auto parameter : module.getOps<ParameterOp>())
      if (Value sum = sums.lookup(parameter.getSymName()))
        gradients.push_back({parameter, sum});
    return success();
  }

  /// The argument of update that holds the value the step's `denominator` names; 1 when there is no such
  /// attribute.
  Value findDenominator() {
    auto index = step->getAttrOfType<IntegerAttr>("denominator");
    if (!index)
      return b.scalar(f64, 1.0);
    auto carry = cast<CarryOp>(step.getMicrobatch().front().getTerminator());
    auto prepare = cast<YieldOp>(step.getPrepare().front().getTerminator());
    if (index.getInt() < 0 || index.getInt() >= static_cast<int64_t>(prepare.getValues().size())) {
      step.emitOpError() << "has denominator " << index.getInt() << ", but prepare yields "
                         << prepare.getValues().size() << " values";
      return {};
    }
    Value count = b.cast(block.getArgument(carry.getValues().size() + index.getInt()), f64);
    return b.maximum(count, b.splat(count, 1.0));
  }

  Value sumOfSquares() {
    Value squares;
    for (const Gradient &gradient : gradients) {
      b.location = locationOf(gradient);
      Value square = b.create<SquaredNormOp>(b.type({}, f64), gradient.sum, IntegerAttr());
      squares = squares ? b.add(squares, square) : square;
    }
    return squares;
  }

  /// The same from rows, each summed where it is whole: one vector of all rows of all parameters, and its
  /// sum. The order of these additions is a function of shapes alone.
  Value sumOfRows() {
    SmallVector<Value> rows;
    for (const Gradient &gradient : gradients) {
      b.location = locationOf(gradient);
      RankedTensorType type = tensorType(gradient.sum);
      if (type.getRank() == 0) {
        Value square = b.create<SquaredNormOp>(b.type({}, f64), gradient.sum, IntegerAttr());
        rows.push_back(b.reshape(square, {1}));
        continue;
      }
      IntegerAttr dimension = builder.getI64IntegerAttr(rowDimension(type.getShape()));
      ParameterOp parameter = gradient.parameter;
      parameter->setAttr(kRowDimension, dimension);
      rows.push_back(b.create<SquaredNormOp>(b.type({type.getDimSize(dimension.getInt())}, f64), gradient.sum,
                                             dimension));
    }
    b.location = step.getLoc();
    return b.sumAll(b.concatenate(rows, 0));
  }

  /// The first dimension that every number of data ranks divides with which the leaves can be shared; without
  /// one, that which most of these divide.
  int64_t rowDimension(ArrayRef<int64_t> shape) {
    auto mesh = module->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute);
    int64_t leaves =
        static_cast<int64_t>(step.getMicrobatches()) * (mesh ? mesh.sizeOf(mesh.axesOf("data")) : 1);
    int mostHalvings = llvm::countr_zero(static_cast<uint64_t>(leaves));
    auto halvings = [&](int64_t size) {
      return std::min(llvm::countr_zero(static_cast<uint64_t>(size)), mostHalvings);
    };
    auto less = [&](int64_t left, int64_t right) { return halvings(left) < halvings(right); };
    return std::max_element(shape.begin(), shape.end(), less) - shape.begin();
  }

  Shared buildShared(Value denominator) {
    Value squares = options.isCanonical ? sumOfRows() : sumOfSquares();
    b.location = step.getLoc();
    auto lossScale = step->getAttrOfType<FlatSymbolRefAttr>("loss_scale");
    Value divisor = denominator;
    if (lossScale)
      divisor = b.mul(divisor, b.cast(b.read(lossScale.getValue(), b.type({}, f32)), f64));
    norm = b.div(b.sqrt(squares), divisor);
    Shared shared;
    shared.finite = b.isFinite(norm);
    Value scale = b.div(b.splat(divisor, 1.0), divisor);
    if (options.raw.clipGradNorm >
        0.0) { // torch.nn.utils.clip_grad_norm_: max_norm / (norm + 1e-6), at most 1
      Value clip = b.div(b.splat(norm, options.raw.clipGradNorm), b.addScalar(norm, 1e-6));
      scale = b.mul(scale, b.minimum(clip, b.splat(clip, 1.0)));
    }
    shared.scale = b.cast(scale, f32);
    Value done = advanceCounter(shared.finite);
    shared.learningRate = buildLearningRate(b, options.schedule, done);
    Value t = b.addScalar(b.cast(done, f64), 1.0);
    auto correction = [&](double beta) {
      return b.cast(b.sub(b.splat(t, 1.0), b.power(b.splat(t, beta), t)), f32);
    };
    if (options.raw.optimizer == "adamw")
      shared.correction1 = correction(options.raw.beta1), shared.correction2 = correction(options.raw.beta2);
    if (lossScale)
      adaptLossScale(lossScale.getValue(), shared.finite);
    return shared;
  }

  Value addState(StringRef name, RankedTensorType type, double initial = 0.0) {
    if (!symbols.lookup(name)) {
      OpBuilder atStep(step);
      symbols.insert(StateOp::create(atStep, step.getLoc(), name, type, InitializerKind::constant,
                                     llvm::APFloat(initial), llvm::APFloat(0.0)));
    }
    return b.read(name, type);
  }

  void write(StringRef name, Value value) {
    b.create<WriteOp>(FlatSymbolRefAttr::get(builder.getContext(), name), value);
  }

  /// Optimizer steps done so far; the counter moves on if this one counts.
  Value advanceCounter(Value finite) {
    Value done = addState(kStepCounter, b.type({}, builder.getI64Type()));
    write(kStepCounter, b.select(finite, b.addScalar(done, 1), done));
    return done;
  }

  /// Dynamic loss scale (arXiv:1710.03740): lowered when gradients overflow, raised after a window of finite
  /// steps.
  void adaptLossScale(StringRef name, Value finite) {
    Value scale = b.read(name, b.type({}, f32));
    Value good = b.addScalar(addState(kGoodSteps, b.type({}, builder.getI64Type())), 1);
    Value full =
        b.compare(Comparison::ge, good, b.splat(good, static_cast<double>(options.raw.lossScaleWindow)));
    Value raised = b.select(full, b.scale(scale, options.raw.lossScaleGrowth), scale);
    Value lowered = b.maximum(b.scale(scale, options.raw.lossScaleBackoff), b.splat(scale, 1.0));
    Value zero = b.splat(good, 0);
    write(name, b.select(finite, raised, lowered));
    write(kGoodSteps, b.select(finite, b.select(full, zero, good), zero));
  }

  const GroupOptions *groupOf(StringRef name) const {
    for (const GroupOptions &group : options.groups)
      if (matches(group.pattern, name))
        return &group;
    return nullptr;
  }

  double weightDecayOf(ParameterOp parameter) const {
    const GroupOptions *group = groupOf(parameter.getSymName());
    if (group && group->weightDecay)
      return *group->weightDecay;
    if (cast<RankedTensorType>(parameter.getType()).getRank() <= 1 ||
        parameter->hasAttr("nn.one_dimensional"))
      return 0.0;
    for (const std::string &pattern : options.noDecay)
      if (matches(pattern, parameter.getSymName()))
        return 0.0;
    return options.raw.weightDecay;
  }

  void buildParameterUpdate(const Gradient &gradient, const Shared &shared) {
    ParameterOp parameter = gradient.parameter;
    auto type = cast<RankedTensorType>(parameter.getType());
    StringRef name = parameter.getSymName();
    Value old = b.read(name, type);
    Value scale = b.broadcastScalar(b.castTo(shared.scale, old), old);
    Value g = b.mul(b.castTo(gradient.sum, old), scale);
    std::string firstName = ("optimizer.first_moment." + name).str();
    std::string secondName = ("optimizer.second_moment." + name).str();
    SmallVector<std::pair<std::string, Value>> states = {{firstName, addState(firstName, type)}};
    const GroupOptions *group = groupOf(name);
    Value lr = group ? b.scale(shared.learningRate, group->lrScale) : shared.learningRate;
    auto decay = llvm::APFloat(weightDecayOf(parameter));
    auto number = [](double value) { return llvm::APFloat(value); };
    Operation *update;
    if (options.raw.optimizer == "adamw") {
      states.push_back({secondName, addState(secondName, type)});
      update = b.create<AdamwOp>(type, type, type, old, g, states[0].second, states[1].second, lr,
                                 shared.correction1, shared.correction2, number(options.raw.beta1),
                                 number(options.raw.beta2), number(options.raw.epsilon), decay);
    } else if (options.raw.optimizer == "sgd") {
      update = b.create<SgdOp>(type, type, old, g, states[0].second, lr, number(options.raw.beta1), decay);
    } else {
      update = b.create<LionOp>(type, type, old, g, states[0].second, lr, number(options.raw.beta1),
                                number(options.raw.beta2), decay);
    }
    Value counts = b.broadcastScalar(shared.finite, b.splat(old, 0.0));
    write(name, b.select(counts, update->getResult(0), old));
    for (auto [index, state] : llvm::enumerate(states))
      write(state.first, b.select(counts, update->getResult(index + 1), state.second));
  }

  void addOutputs(const Shared &shared) {
    SmallVector<Attribute> names;
    if (yield.getNames())
      llvm::append_range(names, *yield.getNames());
    SmallVector<Value> values(yield.getValues());
    auto add = [&](StringRef name, Value value) {
      names.push_back(builder.getStringAttr(name));
      values.push_back(value);
    };
    add("grad_norm", b.cast(norm, f32));
    add("lr", shared.learningRate);
    add("skipped", b.cast(b.logicalNot(shared.finite), builder.getI32Type()));
    b.create<YieldOp>(builder.getArrayAttr(names), values);
    yield.erase();
  }

  ModuleOp module;
  SymbolTable symbols;
  StepOp step;
  const UpdateOptionsParsed &options;
  Block &block;
  YieldOp yield;
  OpBuilder builder;
  ValueBuilder b;
  Type f32, f64;
  SmallVector<Gradient> gradients;
  Value norm;
};

class UpdatePass : public impl::UpdateBase<UpdatePass> {
public:
  using UpdateBase::UpdateBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<UpdateOptionsParsed> options = parseOptions();
    if (failed(options))
      return signalPassFailure();
    for (auto step : llvm::to_vector(module.getOps<StepOp>()))
      if (failed(UpdateBuilder(module, step, *options).run()))
        return signalPassFailure();
  }

private:
  FailureOr<UpdateOptionsParsed> parseOptions() {
    UpdateOptionsParsed parsed;
    parsed.raw.optimizer = optimizer;
    parsed.raw.lr = lr;
    parsed.raw.beta1 = beta1;
    parsed.raw.beta2 = beta2;
    parsed.raw.epsilon = epsilon;
    parsed.raw.weightDecay = weightDecay;
    parsed.raw.clipGradNorm = clipGradNorm;
    parsed.raw.lossScaleWindow = lossScaleWindow;
    parsed.raw.lossScaleGrowth = lossScaleGrowth;
    parsed.raw.lossScaleBackoff = lossScaleBackoff;
    if (optimizer != "adamw" && optimizer != "sgd" && optimizer != "lion")
      return getOperation().emitError()
             << "update: no optimizer '" << optimizer << "'; there are adamw, sgd and lion";
    if (reduction != "fast" && reduction != "canonical")
      return getOperation().emitError()
             << "update: no reduction '" << reduction << "'; there are fast and canonical";
    parsed.isCanonical = reduction == "canonical";
    auto kind = parseLearningRateKind(schedule);
    if (!kind)
      return getOperation().emitError() << "update: no schedule '" << schedule
                                        << "'; there are constant, linear, cosine, wsd and inverse_sqrt";
    parsed.schedule = {*kind, lr, minLrRatio, steps, warmupSteps, decaySteps};
    parsed.noDecay.append(noDecay.begin(), noDecay.end());
    for (StringRef text : groups) {
      auto [rest, decayText] = text.rsplit(':');
      auto [pattern, scaleText] = rest.rsplit(':');
      GroupOptions group{pattern.str(), 1.0, std::nullopt};
      double decay = 0.0;
      if (pattern.empty() || !llvm::to_float(scaleText, group.lrScale) ||
          (!decayText.empty() && !llvm::to_float(decayText, decay)))
        return getOperation().emitError()
               << "update: group '" << text << "' is not PATTERN:LR_SCALE:WEIGHT_DECAY";
      if (!decayText.empty())
        group.weightDecay = decay;
      parsed.groups.push_back(group);
    }
    return parsed;
  }
};
} // namespace
} // namespace weft
