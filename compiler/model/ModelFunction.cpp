#include "compiler/model/ModelFunction.h"

#include "compiler/model/BatchSize.h"
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace weft {
namespace {
constexpr llvm::StringLiteral kName = "nn.name";

/// What a file with @model must be, one question a method; each tells its own mistake.
class ModelChecker {
public:
  ModelChecker(ModuleOp module, func::FuncOp function, int64_t sequenceLength)
      : module(module), function(function), length(sequenceLength) {}

  LogicalResult run() {
    return success(succeeded(checkModule()) && succeeded(checkShape()) && succeeded(checkArguments()) &&
                   succeeded(checkResults()) && succeeded(checkSoftcap()) && succeeded(checkBody()));
  }

private:
  LogicalResult checkModule() {
    if (module->hasAttr(dist::kMeshAttribute))
      return emitError(module.getLoc())
             << "the file has a mesh of its own, and @model is trained on the run's (section parallel)";
    for (Operation &op : module.getOps())
      if (&op != function && !isa<nn::ParameterOp>(op))
        return op.emitOpError()
               << "stands beside @model, whose run is built around it: nn.parameter alone may. A "
                  "file with nn.step @step and without @model is a whole job";
    return success();
  }

  LogicalResult checkShape() {
    if (function.isDeclaration() || !llvm::hasSingleElement(function.getBody()))
      return emitError(function.getLoc()) << "@model expects a body of one block";
    auto isGlobal = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() && !tensor.getEncoding();
    };
    auto isWrong = [&](Type type) { return !isGlobal(type); };
    if (auto wrong = llvm::find_if(function.getArgumentTypes(), isWrong);
        wrong != function.getArgumentTypes().end())
      return emitError(function.getLoc())
             << "@model takes a " << *wrong << "; expected tensors of static shapes and no placement";
    WalkResult walk = function.walk([&](Operation *op) {
      if (llvm::any_of(op->getResultTypes(), isWrong))
        return op->emitOpError() << "gives a " << *llvm::find_if(op->getResultTypes(), isWrong)
                                 << "; expected tensors of static shapes and no placement",
               WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  LogicalResult checkArguments() {
    llvm::StringMap<RankedTensorType> given;
    for (unsigned index = 0; index < function.getNumArguments(); ++index) {
      auto name = function.getArgAttrOfType<StringAttr>(index, kName);
      for (NamedAttribute attribute : mlir::function_interface_impl::getArgAttrs(function, index))
        if (attribute.getName() != kName)
          return emitError(function.getLoc())
                 << "@model has the attribute " << attribute.getName() << " on argument " << index
                 << ", which means nothing. Known is " << kName;
      auto type = cast<RankedTensorType>(function.getArgument(index).getType());
      if (!name || !llvm::is_contained({"tokens", "positions", "sample_ids", "step"}, name.getValue()))
        return emitError(function.getLoc())
               << "@model has an argument " << index << " that is "
               << (name ? "named " + name.getValue().str() : "without nn.name")
               << "; expected nn.name = \"tokens\", and as they are needed \"positions\", "
                  "\"sample_ids\", \"step\"";
      if (!given.try_emplace(name.getValue(), type).second)
        return emitError(function.getLoc()) << "@model has two arguments named " << name.getValue();
    }
    auto tokens = given.find("tokens");
    if (tokens == given.end())
      return emitError(function.getLoc()) << "@model has no argument with nn.name = \"tokens\"";
    RankedTensorType ids = tokens->second;
    if (ids.getRank() != 2 || !ids.getElementType().isInteger(32) || ids.getDimSize(0) == 0)
      return emitError(function.getLoc())
             << "@model takes tokens as " << ids << "; expected tensor<BATCHxSEQUENCExi32>";
    if (ids.getDimSize(1) != length)
      return emitError(function.getLoc())
             << "@model takes sequences of " << ids.getDimSize(1) << " tokens, and the run has "
             << "data.sequence_length " << length << ". Works: " << ids.getDimSize(1)
             << ", or the function of another length";
    Builder builder(function.getContext());
    const std::pair<StringRef, RankedTensorType> wanted[] = {
        {"positions", ids},
        {"sample_ids", RankedTensorType::get({ids.getDimSize(0)}, builder.getI64Type())},
        {"step", RankedTensorType::get({}, builder.getI64Type())}};
    for (const auto &[name, type] : wanted)
      if (auto found = given.find(name); found != given.end() && found->second != type)
        return emitError(function.getLoc())
               << "@model takes " << name << " as " << found->second << "; expected " << type;
    batch = ids.getDimSize(0);
    return success();
  }

  LogicalResult checkResults() {
    auto end = dyn_cast<func::ReturnOp>(function.getBody().front().getTerminator());
    auto refuse = [&](Operation *at) {
      return at->emitOpError() << "is the end of @model; expected to return two values: states tensor<"
                               << batch << "x" << length
                               << "xHIDDENxf32> and the head tensor<VOCABULARYxHIDDENxf32>";
    };
    if (!end || end.getNumOperands() != 2)
      return refuse(function.getBody().front().getTerminator());
    auto states = cast<RankedTensorType>(end.getOperand(0).getType());
    auto head = cast<RankedTensorType>(end.getOperand(1).getType());
    bool fits = states.getRank() == 3 && head.getRank() == 2 && states.getElementType().isF32() &&
                head.getElementType().isF32() && states.getDimSize(0) == batch &&
                states.getDimSize(1) == length && states.getDimSize(2) == head.getDimSize(1);
    return fits ? success() : LogicalResult(refuse(end));
  }

  LogicalResult checkSoftcap() {
    Attribute given = function->getAttr(kLogitSoftcap);
    auto cap = dyn_cast_or_null<FloatAttr>(given);
    if (given &&
        (!cap || !cap.getType().isF64() || !cap.getValue().isFinite() || cap.getValueAsDouble() <= 0.0))
      return emitError(function.getLoc()) << "@model has " << kLogitSoftcap << " = " << given
                                          << "; expected a positive f64, or no such attribute";
    for (NamedAttribute attribute : function->getDiscardableAttrs())
      if (attribute.getName() != kLogitSoftcap)
        return emitError(function.getLoc()) << "@model has the attribute " << attribute.getName()
                                            << ", which means nothing. Known is " << kLogitSoftcap;
    return success();
  }

  /// Nothing but values of nn: the run around it has all effects.
  LogicalResult checkBody() {
    llvm::StringSet<> read;
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (auto reader = dyn_cast<nn::ReadOp>(op)) {
        read.insert(reader.getVariable());
        if (!module.lookupSymbol<nn::ParameterOp>(reader.getVariable()))
          return op.emitOpError() << "reads @" << reader.getVariable()
                                  << ", which is no nn.parameter of the file";
        continue;
      }
      if (!isa<nn::ShardingRuleOpInterface>(op) || op.getDialect()->getNamespace() != "nn" ||
          op.getNumRegions() != 0 || !isMemoryEffectFree(&op) || isa<nn::LeafOp, nn::JoinOp>(op))
        return op.emitOpError() << "may not stand in @model: expected ops of nn that compute, and nn.read";
    }
    for (auto parameter : module.getOps<nn::ParameterOp>())
      if (!read.contains(parameter.getSymName()))
        return parameter.emitOpError()
               << "is read nowhere in @model: nothing would train it. Read it, or take it out";
    return checkUsesOfStep();
  }

  /// Evaluation and generation have no step, and drop nothing.
  LogicalResult checkUsesOfStep() {
    for (unsigned index = 0; index < function.getNumArguments(); ++index) {
      StringRef name = function.getArgAttrOfType<StringAttr>(index, kName).getValue();
      if (name != "step" && name != "sample_ids")
        continue;
      for (Operation *user : function.getArgument(index).getUsers())
        if (!isa<nn::DropoutOp>(user))
          return user->emitOpError()
                 << "takes " << name
                 << ", which training alone has: expected nn.dropout, which evaluation leaves out";
    }
    return success();
  }

  ModuleOp module;
  func::FuncOp function;
  int64_t length, batch = 0;
};

/// What attention needs beside what the function says, as attend() gives it to families.
void completeAttention(nn::AttentionOp attention, const SequenceContext &sequence, Value tokens) {
  int64_t length = nn::tensorType(tokens).getDimSize(1);
  if (nn::tensorType(attention.getQuery()).getDimSize(1) != length ||
      nn::tensorType(attention.getKey()).getDimSize(1) != length)
    return;
  if (sequence.segments && !attention.getQuerySegments()) {
    attention.getQuerySegmentsMutable().assign(sequence.segments);
    attention.getKeySegmentsMutable().assign(sequence.segments);
  }
  if (sequence.positions && !attention.getQueryPositions()) {
    attention.getQueryPositionsMutable().assign(sequence.positions);
    attention.getKeyPositionsMutable().assign(sequence.positions);
  }
}
} // namespace

FailureOr<ModelFunction> ModelFunction::take(ModuleOp module, int64_t sequenceLength) {
  auto function = module.lookupSymbol<func::FuncOp>(kModelFunction);
  if (!function)
    return emitError(module.getLoc())
           << "the file has neither nn.step @step, which is a whole job, nor func.func @model";
  if (failed(ModelChecker(module, function, sequenceLength).run()))
    return failure();
  function->remove();
  return ModelFunction(function);
}

int64_t ModelFunction::vocabulary() const {
  Operation *end = const_cast<ModelFunction *>(this)->function->getBody().front().getTerminator();
  return nn::tensorType(end->getOperand(1)).getDimSize(0);
}

LogicalResult ModelFunction::prepare(int64_t batch) {
  OwningOpRef<func::FuncOp> &copy = byBatch[batch];
  if (copy)
    return success();
  copy = function->clone();
  for (unsigned index = 0; index < copy->getNumArguments(); ++index)
    if (copy->getArgAttrOfType<StringAttr>(index, kName).getValue() == "tokens" &&
        nn::tensorType(copy->getArgument(index)).getDimSize(0) == batch)
      return success();
  if (failed(resizeBatch(*copy, batch)))
    return failure();
  Operation *end = copy->getBody().front().getTerminator();
  if (nn::tensorType(end->getOperand(0)).getDimSize(0) != batch)
    return end->emitOpError() << "returns states that do not follow from the tokens: "
                              << end->getOperand(0).getType() << " for " << batch << " samples";
  return success();
}

ModelOutput ModelFunction::build(ModelBuilder &b, const SequenceContext &sequence, Value tokens) {
  ArrayRef<int64_t> shape = nn::tensorType(tokens).getShape();
  func::FuncOp copy = *byBatch.at(shape[0]);
  IRMapping values;
  for (BlockArgument argument : copy.getArguments()) {
    StringRef name = copy.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kName).getValue();
    if (name == "tokens")
      values.map(argument, tokens);
    else if (name == "positions")
      values.map(argument, sequence.documentPositions ? sequence.documentPositions
                                                      : b.iota(shape, b.builder.getI32Type(), 1));
    else if (Value given = name == "step" ? sequence.step : sequence.sampleIds)
      values.map(argument, given);
  }
  for (Operation &op : copy.getBody().front().without_terminator()) {
    auto dropout = dyn_cast<nn::DropoutOp>(op);
    if (dropout && !sequence.step) {
      values.map(dropout.getResult(), values.lookup(dropout.getOperand()));
      continue;
    }
    Operation *written = b.builder.clone(op, values);
    if (dropout)
      cast<nn::DropoutOp>(written).setSeed(sequence.seed);
    if (auto attention = dyn_cast<nn::AttentionOp>(written))
      completeAttention(attention, sequence, tokens);
  }
  Operation *end = copy.getBody().front().getTerminator();
  auto cap = copy->getAttrOfType<FloatAttr>(kLogitSoftcap);
  return {values.lookup(end->getOperand(0)), values.lookup(end->getOperand(1)),
          cap ? cap.getValueAsDouble() : 0.0};
}

} // namespace weft
