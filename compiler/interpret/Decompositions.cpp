#include "compiler/interpret/Decompositions.h"

#include "dialects/nn/FactorPlacement.h"
#include "dialects/nn/NnDialect.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace weft::interpret {
namespace {
/// Whether a rank tells the op how many elements of its part are valid, as one more operand. In the global
/// view there are no parts.
bool isTold(Operation *op) {
  auto shardable = dyn_cast<nn::ShardingRuleOpInterface>(op);
  return shardable && llvm::any_of(op->getOperandTypes(), dist::isLocal) &&
         nn::paddedFactor(op, shardable.shardingRule());
}
} // namespace

Type Decompositions::typeInside(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  bool widens = types == Types::Exact && isa<FloatType>(tensor.getElementType());
  return RankedTensorType::get(tensor.getShape(),
                               widens ? Float64Type::get(type.getContext()) : tensor.getElementType());
}

FailureOr<Decomposition *> Decompositions::of(Operation *op) {
  if (auto found = built.find(op); found != built.end())
    return found->second.get();
  if (!isa<nn::DecomposableOpInterface>(op))
    return nullptr;
  auto made = std::make_unique<Decomposition>();
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    BlockArgument argument = made->block.addArgument(typeInside(operand.getType()), op->getLoc());
    if (!mapping.contains(operand))
      mapping.map(operand, argument);
  }
  Operation *copy = op->clone(mapping);
  if (isTold(op)) {
    auto number = RankedTensorType::get({}, IntegerType::get(op->getContext(), 64));
    copy->insertOperands(copy->getNumOperands(), made->block.addArgument(number, op->getLoc()));
  }
  for (auto [operand, argument] : llvm::zip_equal(copy->getOpOperands(), made->block.getArguments()))
    operand.set(argument);
  for (OpResult result : copy->getResults())
    result.setType(typeInside(result.getType()));
  made->block.push_back(copy);
  OpBuilder builder(op->getContext()); // the block has no parent to ask for it
  builder.setInsertionPointToEnd(&made->block);
  made->results = cast<nn::DecomposableOpInterface>(copy).decompose(builder);
  SmallVector<Type> wanted(copy->getResultTypes());
  copy->erase();
  if (TypeRange(ValueRange(made->results)) != TypeRange(wanted))
    return op->emitOpError() << "decomposes into values of types " << TypeRange(ValueRange(made->results))
                             << ", its results have types " << wanted;
  return built.try_emplace(op, std::move(made)).first->second.get();
}

} // namespace weft::interpret
