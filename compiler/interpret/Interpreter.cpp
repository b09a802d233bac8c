#include "compiler/interpret/Interpreter.h"

#include "compiler/interpret/Primitives.h"
#include "kernels/reference/Elementwise.h"
#include "kernels/reference/Rounding.h"
#include "kernels/reference/Shape.h"

using namespace mlir;

namespace weft::interpret {

/// What lives for one run of a function or step.
struct Interpreter::Context {
  const Variables &variables;
  llvm::MapVector<StringRef, Shared> writes; ///< in program order
  int callDepth = 0;
};

namespace {

constexpr int kDeepestCall = 100;

LogicalResult refuse(Operation *op, const absl::Status &status) {
  return op->emitOpError() << std::string(status.message());
}

/// The same values under another float type, which exact evaluation does not round to.
std::shared_ptr<const Tensor> relabeled(const std::shared_ptr<const Tensor> &value,
                                        const std::optional<TensorType> &type) {
  if (!type || type->dtype == value->dtype)
    return value;
  auto copy = std::make_shared<Tensor>(*value);
  copy->dtype = type->dtype;
  return copy;
}

template <typename Shared> std::vector<Tensor> toTensors(ArrayRef<Shared> values) {
  std::vector<Tensor> tensors;
  for (const Shared &value : values)
    tensors.push_back(*value);
  return tensors;
}

} // namespace

FailureOr<std::vector<Tensor>> Interpreter::run(func::FuncOp function, std::vector<Tensor> arguments,
                                                const Variables &variables) {
  Context context{variables, {}, 0};
  if (function.isExternal())
    return function.emitOpError() << "has no body to run";
  FailureOr<Values> entered = enter(function, "argument", function.getArgumentTypes(), std::move(arguments));
  if (failed(entered))
    return failure();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "must have one block to run, it has "
                                  << function.getBody().getBlocks().size();
  FailureOr<Values> results = runBlock(function.getBody().front(), *entered, context);
  if (failed(results))
    return failure();
  return toTensors<Shared>(*results);
}

FailureOr<std::vector<Tensor>> Interpreter::run(nn::StepOp step, std::vector<Tensor> inputs,
                                                Variables &variables, std::vector<std::string> *written) {
  Context context{variables, {}, 0};
  FailureOr<Values> entered = enter(step, "input", step.getPrepare().getArgumentTypes(), std::move(inputs));
  if (failed(entered))
    return failure();
  FailureOr<Values> prepared = runBlock(step.getPrepare().front(), *entered, context);
  if (failed(prepared))
    return failure();
  FailureOr<Values> carried = runMicrobatches(step, *entered, *prepared, context);
  if (failed(carried))
    return failure();
  carried->append(prepared->begin(), prepared->end());
  FailureOr<Values> outputs = runBlock(step.getUpdate().front(), *carried, context);
  if (failed(outputs))
    return failure();
  for (auto &[name, value] : context.writes) {
    variables[name.str()] = *value;
    if (written)
      written->push_back(name.str());
  }
  return toTensors<Shared>(*outputs);
}

/// Checks the types of values from outside. Declared types round them.
FailureOr<Interpreter::Values> Interpreter::enter(Operation *op, StringRef what, TypeRange wanted,
                                                  std::vector<Tensor> values) const {
  if (values.size() != wanted.size())
    return op->emitOpError() << "takes " << wanted.size() << " " << what << "s, not " << values.size();
  Values entered;
  for (auto [index, type, value] : llvm::enumerate(wanted, values)) {
    std::optional<TensorType> tensor = tensorTypeOf(type);
    if (!tensor)
      return op->emitOpError() << what << " " << index << " has a type that cannot be evaluated: " << type;
    if (*tensor != value.type())
      return op->emitOpError() << what << " " << index << " must be " << tensor->str() << ", it is "
                               << value.type().str();
    if (types == Types::Declared)
      reference::roundTo(value, value.dtype);
    entered.push_back(std::make_shared<const Tensor>(std::move(value)));
  }
  return entered;
}

/// The operands of the block's terminator.
FailureOr<Interpreter::Values> Interpreter::runBlock(Block &block, ArrayRef<Shared> arguments,
                                                     Context &context) {
  return runOps(block, arguments, block.getTerminator()->getOperands(), context);
}

FailureOr<Interpreter::Values> Interpreter::runOps(Block &block, ArrayRef<Shared> arguments,
                                                   ValueRange results, Context &context) {
  DenseMap<Value, Shared> values;
  DenseMap<Value, int64_t> usesLeft;
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>())
      for (Value operand : op.getOperands())
        ++usesLeft[operand];
  for (Value result : results)
    ++usesLeft[result];
  auto define = [&](Value value, const Shared &tensor) {
    if (usesLeft.lookup(value) > 0)
      values[value] = tensor;
  };
  auto use = [&](Value value) {
    Shared tensor = values.lookup(value);
    if (--usesLeft[value] == 0)
      values.erase(value);
    return tensor;
  };
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    define(argument, tensor);
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    Values operands = llvm::map_to_vector(op.getOperands(), use);
    FailureOr<Values> evaluated = evaluate(&op, operands, context);
    if (failed(evaluated))
      return failure();
    for (auto [result, tensor] : llvm::zip_equal(op.getResults(), *evaluated))
      define(result, tensor);
  }
  return Values(llvm::map_range(results, use));
}

FailureOr<Interpreter::Values> Interpreter::evaluate(Operation *op, ArrayRef<Shared> operands,
                                                     Context &context) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return evaluateCall(call, operands, context);
  if (isa<nn::BoundaryOp, nn::StopGradientOp>(op))
    return Values(operands);
  if (auto read = dyn_cast<nn::ReadOp>(op)) {
    FailureOr<Shared> value = readVariable(read, context);
    if (failed(value))
      return failure();
    return Values{*value};
  }
  if (auto write = dyn_cast<nn::WriteOp>(op)) {
    context.writes[write.getVariable()] = operands[0];
    return Values();
  }
  SmallVector<const Tensor *> pointers;
  for (const Shared &operand : operands)
    pointers.push_back(operand.get());
  std::optional<absl::StatusOr<std::vector<Tensor>>> computed = evaluatePrimitive(op, pointers);
  if (!computed)
    return evaluateComposite(op, operands, context);
  if (!computed->ok())
    return refuse(op, computed->status());
  Values results;
  for (Tensor &tensor : **computed) {
    if (types == Types::Declared)
      reference::roundTo(tensor, tensor.dtype);
    results.push_back(std::make_shared<const Tensor>(std::move(tensor)));
  }
  return results;
}

/// Values take the types of the decomposition on their way in, and those of the op on their way out.
FailureOr<Interpreter::Values> Interpreter::evaluateComposite(Operation *op, ArrayRef<Shared> operands,
                                                              Context &context) {
  FailureOr<Decomposition *> meaning = decompositions.of(op);
  if (failed(meaning))
    return failure();
  if (!*meaning)
    return op->emitOpError() << "is neither a primitive nor a composite: the interpreter cannot evaluate it";
  Values inside;
  for (auto [operand, argument] : llvm::zip_equal(operands, (*meaning)->block.getArguments()))
    inside.push_back(relabeled(operand, tensorTypeOf(argument.getType())));
  FailureOr<Values> results = runOps((*meaning)->block, inside, (*meaning)->results, context);
  if (failed(results))
    return failure();
  for (auto [result, type] : llvm::zip_equal(*results, op->getResultTypes()))
    result = relabeled(result, tensorTypeOf(type));
  return results;
}

FailureOr<Interpreter::Values> Interpreter::evaluateCall(func::CallOp call, ArrayRef<Shared> operands,
                                                         Context &context) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return call.emitOpError() << "calls " << call.getCalleeAttr() << ", which has no body of one block";
  if (context.callDepth == kDeepestCall)
    return call.emitOpError() << "is nested more than " << kDeepestCall << " calls deep";
  ++context.callDepth;
  FailureOr<Values> results = runBlock(callee.getBody().front(), operands, context);
  --context.callDepth;
  return results;
}

FailureOr<Interpreter::Shared> Interpreter::readVariable(nn::ReadOp op, const Context &context) const {
  auto found = context.variables.find(op.getVariable().str());
  if (found == context.variables.end())
    return op.emitOpError() << "reads " << op.getVariableAttr() << ", which has no value";
  std::optional<TensorType> wanted = tensorTypeOf(op.getResult().getType());
  if (wanted != found->second.type())
    return op.emitOpError() << "reads " << op.getVariableAttr() << " of type " << found->second.type().str()
                            << ", not " << op.getResult().getType();
  auto value = std::make_shared<Tensor>(found->second);
  if (types == Types::Declared)
    reference::roundTo(*value, value->dtype);
  return Shared(std::move(value));
}

/// Runs microbatch once per microbatch, in ascending order, and folds what it carries.
FailureOr<Interpreter::Values> Interpreter::runMicrobatches(nn::StepOp step, const Values &inputs,
                                                            const Values &prepared, Context &context) {
  Block &block = step.getMicrobatch().front();
  auto carry = cast<nn::CarryOp>(block.getTerminator());
  Values total;
  for (int64_t microbatch = 0; microbatch < static_cast<int64_t>(step.getMicrobatches()); ++microbatch) {
    Values arguments;
    for (auto [index, input] : llvm::enumerate(inputs)) {
      TensorType wanted = *tensorTypeOf(block.getArgument(index).getType());
      if (wanted == input->type()) {
        arguments.push_back(input);
        continue;
      }
      std::vector<int64_t> offsets(input->shape.size(), 0), sizes = input->shape;
      offsets[0] = microbatch;
      sizes[0] = 1;
      absl::StatusOr<Tensor> part = reference::slice(*input, offsets, sizes);
      if (part.ok())
        part = reference::reshape(*part, wanted.shape);
      if (!part.ok())
        return refuse(step, part.status());
      arguments.push_back(std::make_shared<const Tensor>(*std::move(part)));
    }
    arguments.append(prepared.begin(), prepared.end());
    FailureOr<Values> part = runBlock(block, arguments, context);
    if (failed(part))
      return failure();
    if (microbatch == 0) {
      total = *part;
      continue;
    }
    FailureOr<Values> combined = combine(carry, std::move(total), *part);
    if (failed(combined))
      return failure();
    total = *combined;
  }
  return total;
}

FailureOr<Interpreter::Values> Interpreter::combine(nn::CarryOp carry, Values total,
                                                    const Values &part) const {
  for (auto [sum, value, combiner] :
       llvm::zip_equal(total, part, carry.getCombiners().getAsValueRange<StringAttr>())) {
    reference::Binary fold = combiner == "sum"   ? reference::Binary::Add
                             : combiner == "max" ? reference::Binary::Maximum
                                                 : reference::Binary::Minimum;
    absl::StatusOr<Tensor> folded = reference::binary(fold, *sum, *value);
    if (!folded.ok())
      return refuse(carry, folded.status());
    if (types == Types::Declared)
      reference::roundTo(*folded, folded->dtype);
    sum = std::make_shared<const Tensor>(*std::move(folded));
  }
  return total;
}

} // namespace weft::interpret
