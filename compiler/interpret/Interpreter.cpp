#include "compiler/interpret/Interpreter.h"

#include "compiler/interpret/Collectives.h"
#include "compiler/interpret/Context.h"
#include "dialects/nn/FactorPlacement.h"
#include "kernels/reference/Elementwise.h"
#include "kernels/reference/Rounding.h"

#include <map>

using namespace mlir;

namespace weft::interpret {
namespace {

constexpr int kDeepestCall = 100;

LogicalResult refuse(Operation *op, const absl::Status &status) {
  return op->emitOpError() << std::string(status.message());
}

/// What an op in the local view must know of the part that a rank has.
struct PartKnowledge {
  struct Shift {
    unsigned operand; ///< holds indices into the factor
    nn::FactorPlacement at;
  };
  SmallVector<Shift> shifts;
  std::optional<nn::FactorPlacement> padded; ///< the op is told how many elements of it are valid
};

PartKnowledge knowledgeOf(Operation *op) {
  PartKnowledge knowledge;
  auto shardable = dyn_cast<nn::ShardingRuleOpInterface>(op);
  if (!shardable)
    return knowledge;
  nn::ShardingRule rule = shardable.shardingRule();
  for (auto [factor, operand] : rule.indices)
    if (std::optional<nn::FactorPlacement> at = nn::factorPlacement(op, rule, factor))
      knowledge.shifts.push_back({static_cast<unsigned>(operand), *at});
  knowledge.padded = nn::paddedFactor(op, rule);
  return knowledge;
}

/// What an op gives is what its type says: later ops, and whoever puts parts together, rely on it.
LogicalResult checkShapes(Operation *op, ArrayRef<MeshValue> values) {
  for (auto [type, value] : llvm::zip_equal(op->getResultTypes(), values)) {
    auto token = dyn_cast<dist::TokenType>(type);
    auto declared = dyn_cast<RankedTensorType>(token ? token.getTensor() : type);
    for (const Shared &part : value)
      if (declared && declared.getShape() != ArrayRef<int64_t>(part->shape))
        return op->emitOpError() << "gives " << part->type().str() << ", its type says " << declared;
  }
  return success();
}

/// Indices as a rank sees them that has `part`: what another rank has is out of range, also where it would
/// meet the padding of this one.
Shared shifted(const Tensor &indices, const Extent &part) {
  auto copy = std::make_shared<Tensor>(indices);
  for (int64_t &index : copy->integers)
    index = index >= part.start && index < part.start + part.valid ? index - part.start : -1;
  return copy;
}

} // namespace

FailureOr<std::vector<Tensor>> Interpreter::run(func::FuncOp function, std::vector<Tensor> arguments,
                                                Variables &variables, std::vector<std::string> *written) {
  Context context{variables, Ranks::of(function)};
  if (function.isExternal())
    return function.emitOpError() << "has no body to run";
  FailureOr<Values> entered =
      enterAll(function, "argument", function.getArgumentTypes(), std::move(arguments), context.ranks);
  if (failed(entered))
    return failure();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "must have one block to run, it has "
                                  << function.getBody().getBlocks().size();
  FailureOr<Values> results = runBlock(function.getBody().front(), *entered, context);
  if (failed(results))
    return failure();
  FailureOr<std::vector<Tensor>> left =
      leaveAll(function, function.getResultTypes(), *results, context.ranks);
  if (failed(left) || failed(keepWrites(function, context, variables, written)))
    return failure();
  return left;
}

/// Checks the type of a value from outside. Declared types round it.
FailureOr<MeshValue> Interpreter::enter(Operation *op, const Twine &what, Type type, Tensor value,
                                        const Ranks &ranks) const {
  std::optional<TensorType> wanted = wholeTypeOf(type);
  if (!wanted)
    return op->emitOpError() << what << " has a type that cannot be evaluated: " << type;
  if (*wanted != value.type())
    return op->emitOpError() << what << " must be " << wanted->str() << ", it is " << value.type().str();
  if (types == Types::Declared)
    reference::roundTo(value, value.dtype);
  return ranks.split(value, type);
}

FailureOr<Interpreter::Values> Interpreter::enterAll(Operation *op, StringRef what, TypeRange wanted,
                                                     std::vector<Tensor> values, const Ranks &ranks) const {
  if (values.size() != wanted.size())
    return op->emitOpError() << "takes " << wanted.size() << " " << what << "s, not " << values.size();
  Values entered;
  for (auto [index, type, value] : llvm::enumerate(wanted, values)) {
    FailureOr<MeshValue> one = enter(op, what + " " + Twine(index), type, std::move(value), ranks);
    if (failed(one))
      return failure();
    entered.push_back(*std::move(one));
  }
  return entered;
}

/// Puts together what leaves the program.
FailureOr<Tensor> Interpreter::leave(Operation *op, const Twine &what, Type type, const MeshValue &value,
                                     const Ranks &ranks) const {
  absl::StatusOr<Tensor> whole = ranks.assemble(value, type);
  if (!whole.ok())
    return op->emitOpError() << what << ": " << std::string(whole.status().message());
  return *std::move(whole);
}

FailureOr<std::vector<Tensor>> Interpreter::leaveAll(Operation *op, TypeRange types, const Values &values,
                                                     const Ranks &ranks) const {
  std::vector<Tensor> tensors;
  for (auto [index, type, value] : llvm::enumerate(types, values)) {
    FailureOr<Tensor> whole = leave(op, "result " + Twine(index), type, value, ranks);
    if (failed(whole))
      return failure();
    tensors.push_back(*std::move(whole));
  }
  return tensors;
}

/// All or none: `variables` change when every written value could be put together.
LogicalResult Interpreter::keepWrites(Operation *op, Context &context, Variables &variables,
                                      std::vector<std::string> *written) const {
  WholeWrites writes;
  for (auto &[name, write] : context.writes) {
    FailureOr<Tensor> whole = leave(op, "@" + name, write.type, write.value, context.ranks);
    if (failed(whole))
      return failure();
    writes[name] = *std::move(whole);
  }
  keep(std::move(writes), variables, written);
  return success();
}

void Interpreter::keep(WholeWrites writes, Variables &variables, std::vector<std::string> *written) {
  for (auto &[name, value] : writes) {
    variables[name.str()] = std::move(value);
    if (written)
      written->push_back(name.str());
  }
}

LogicalResult Interpreter::walkOn(BlockWalk<MeshValue> &walk, Context &context) {
  return walk.run([&](Operation *op, ArrayRef<MeshValue> given) -> FailureOr<Values> {
    Values operands(given);
    if (failed(takeArrived(op, operands, context)))
      return failure();
    FailureOr<Values> values = evaluate(op, operands, context);
    if (failed(values) || failed(checkShapes(op, *values)))
      return failure();
    // What has not come yet, and what is one term among several, is nothing to look at.
    bool isWhole = true;
    if (context.traffic)
      for (auto [type, value] : llvm::zip_equal(op->getResultTypes(), *values)) {
        isWhole &= !value.empty() && !context.ranks.dependsOnPipelineRank(type);
        if (!value.empty())
          value = context.ranks.copiesOf(context.pipelineRank, value);
      }
    if (observer && isWhole)
      observer->computed(op, operands, *values, context.ranks);
    return values;
  });
}

/// The operands of the block's terminator, if it has one.
FailureOr<Interpreter::Values> Interpreter::runBlock(Block &block, ArrayRef<MeshValue> arguments,
                                                     Context &context) {
  ValueRange results;
  if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
    results = block.back().getOperands();
  BlockWalk<MeshValue> walk(block, arguments, results);
  return failed(walkOn(walk, context)) ? FailureOr<Values>() : FailureOr<Values>(walk.results());
}

FailureOr<Interpreter::Values> Interpreter::evaluate(Operation *op, ArrayRef<MeshValue> operands,
                                                     Context &context) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return evaluateCall(call, operands, context);
  if (auto read = dyn_cast<nn::ReadOp>(op)) {
    FailureOr<MeshValue> value = readVariable(read, context);
    return failed(value) ? FailureOr<Values>(failure()) : Values{*std::move(value)};
  }
  if (auto write = dyn_cast<nn::WriteOp>(op)) {
    context.writes[write.getVariable()] = {operands[0], write.getValue().getType()};
    return Values();
  }
  if (auto load = dyn_cast<sched::LoadOp>(op)) {
    auto microbatch = load.getMicrobatch().value_or(static_cast<uint64_t>(context.microbatch));
    FailureOr<MeshValue> value = slotValue(op, load.getSlot(), static_cast<int64_t>(microbatch), context);
    return failed(value) ? FailureOr<Values>(failure()) : Values{*std::move(value)};
  }
  if (auto store = dyn_cast<sched::StoreOp>(op)) {
    context.stores[store.getSlot()] = {store,
                                       SlotValue(operands[0], context.arriving.lookup(store.getValue()))};
    return Values();
  }
  // It needs the value as long as this, and says nothing of those who need it longer.
  if (auto release = dyn_cast<sched::ReleaseOp>(op))
    return failed(slotValue(op, release.getSlot(), context.microbatch, context))
               ? FailureOr<Values>(failure())
               : Values();
  if (std::optional<FailureOr<Values>> values = evaluateTraffic(op, operands, context))
    return *std::move(values);
  if (auto ring = dyn_cast<dist::RingOp>(op))
    return evaluateRing(ring, operands, context);
  if (operands.size() == 1)
    if (std::optional<absl::StatusOr<MeshValue>> value =
            evaluateDist(op, context.ranks, operands[0], types)) {
      if (!value->ok())
        return refuse(op, value->status());
      return Values{**std::move(value)};
    }
  return evaluateOnRanks(op, operands, context);
}

/// Ranks that hold the same operands compute the same, once.
FailureOr<Interpreter::Values> Interpreter::evaluateOnRanks(Operation *op, ArrayRef<MeshValue> operands,
                                                            const Context &context) {
  const Ranks &ranks = context.ranks;
  PartKnowledge knowledge = ranks.count() > 1 ? knowledgeOf(op) : PartKnowledge();
  auto partAt = [&](const nn::FactorPlacement &at, int64_t rank) {
    return partOf(ranks.mesh(), rank, at.size, {axisIndices(at.split.axes)});
  };
  std::map<std::pair<std::vector<const Tensor *>, std::vector<int64_t>>, SmallVector<Shared>> known;
  Values results(op->getNumResults(), MeshValue(ranks.count()));
  for (int64_t rank = 0; rank < ranks.count(); ++rank) {
    std::vector<const Tensor *> pointers;
    SmallVector<Shared> mine;
    for (const MeshValue &operand : operands) {
      mine.push_back(operand[rank]);
      pointers.push_back(operand[rank].get());
    }
    std::vector<int64_t> starts;
    for (const PartKnowledge::Shift &shift : knowledge.shifts)
      starts.push_back(partAt(shift.at, rank).start);
    if (knowledge.padded)
      starts.push_back(partAt(*knowledge.padded, rank).start);
    SmallVector<Shared> &computed = known[{pointers, starts}];
    if (computed.empty() && op->getNumResults() > 0) {
      for (const PartKnowledge::Shift &shift : knowledge.shifts)
        mine[shift.operand] = shifted(*mine[shift.operand], partAt(shift.at, rank));
      if (knowledge.padded)
        mine.push_back(std::make_shared<const Tensor>(
            Tensor{DType::I64, {}, {}, {partAt(*knowledge.padded, rank).valid}}));
      FailureOr<SmallVector<Shared>> evaluated = evaluator.evaluate(op, mine);
      if (failed(evaluated))
        return failure();
      computed = *std::move(evaluated);
    }
    for (auto [result, value] : llvm::zip_equal(results, computed))
      result[rank] = value;
  }
  return results;
}

FailureOr<Interpreter::Values> Interpreter::evaluateCall(func::CallOp call, ArrayRef<MeshValue> operands,
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

FailureOr<MeshValue> Interpreter::readVariable(nn::ReadOp op, const Context &context) const {
  auto found = context.variables.find(op.getVariable().str());
  if (found == context.variables.end())
    return op.emitOpError() << "reads " << op.getVariableAttr() << ", which has no value";
  return enter(op, "@" + op.getVariable(), op.getResult().getType(), found->second, context.ranks);
}

} // namespace weft::interpret
