//===- Contraction.cpp - Einsum and reductions: checks, derivatives, rules --===//
#include "dialects/nn/Einsum.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

using namespace mlir;
using namespace weft::nn;

#include "dialects/nn/NnContractionEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnContraction.cpp.inc"

void NnDialect::registerContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnContraction.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// einsum
//===----------------------------------------------------------------------===//

FailureOr<EinsumTerms> weft::nn::parseEinsum(StringRef equation) {
  size_t comma = equation.find(','), arrow = equation.find("->");
  if (comma == StringRef::npos || arrow == StringRef::npos || comma > arrow)
    return failure();
  EinsumTerms terms{equation.take_front(comma), equation.slice(comma + 1, arrow),
                    equation.drop_front(arrow + 2)};
  for (StringRef term : {terms.lhs, terms.rhs, terms.result})
    for (auto [index, letter] : llvm::enumerate(term))
      if (letter < 'a' || letter > 'z' || term.find(letter) != index)
        return failure();
  return terms;
}

LogicalResult EinsumOp::verify() {
  FailureOr<EinsumTerms> terms = parseEinsum(getEquation());
  if (failed(terms))
    return emitOpError()
           << "expects an equation \"lhs,rhs->result\" of letters a-z, none twice in a term, got \""
           << getEquation() << "\"";
  std::array<int64_t, 26> sizes;
  sizes.fill(-1);
  for (auto [term, value, what] :
       {std::tuple(terms->lhs, Value(getLhs()), "lhs"), std::tuple(terms->rhs, Value(getRhs()), "rhs"),
        std::tuple(terms->result, Value(getResult()), "result")}) {
    RankedTensorType type = tensorType(value);
    if (type.getRank() != static_cast<int64_t>(term.size()))
      return emitOpError() << what << " term \"" << term << "\" has " << term.size() << " letters, its type "
                           << type << " has " << type.getRank() << " dimensions";
    for (auto [index, letter] : llvm::enumerate(term)) {
      int64_t &size = sizes[letter - 'a'];
      if (StringRef(what) == "result" && size < 0)
        return emitOpError() << "result letter '" << letter << "' is in neither operand";
      if (size >= 0 && size != type.getDimSize(index))
        return emitOpError() << "letter '" << letter << "' has size " << size << " and, in " << what << ", "
                             << type.getDimSize(index);
      size = type.getDimSize(index);
    }
  }
  return success();
}

/// The cotangent of one operand: the other operand and the result's cotangent, letters permuted. Letters that
/// only this operand has were summed away: the cotangent repeats along them.
static Value operandCotangent(ValueBuilder &b, StringRef own, StringRef other, StringRef result,
                              Value otherValue, Value cotangent, RankedTensorType type) {
  std::string target;
  SmallVector<int64_t> shape, dimensions;
  for (auto [index, letter] : llvm::enumerate(own))
    if (result.contains(letter) || other.contains(letter)) {
      target += letter;
      dimensions.push_back(index);
    }
  std::string equation = (result + "," + other + "->" + target).str();
  Value value = b.einsum(equation, cotangent, otherValue, type.getElementType());
  return b.broadcast(value, type.getShape(), dimensions);
}

void EinsumOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!cotangents[0])
    return;
  EinsumTerms terms = *parseEinsum(getEquation());
  ValueBuilder b(context.builder, getLoc());
  if (context.needsCotangent(0))
    out[0] = operandCotangent(b, terms.lhs, terms.rhs, terms.result, getRhs(), cotangents[0],
                              context.cotangentType(0));
  if (context.needsCotangent(1))
    out[1] = operandCotangent(b, terms.rhs, terms.lhs, terms.result, getLhs(), cotangents[0],
                              context.cotangentType(1));
}

ShardingRule EinsumOp::shardingRule() {
  EinsumTerms terms = *parseEinsum(getEquation());
  return makeShardingRule(*this, {terms.lhs, terms.rhs}, {terms.result}, 0, "", {true, true});
}

int64_t EinsumOp::flops() {
  EinsumTerms terms = *parseEinsum(getEquation());
  int64_t product = 2;
  for (auto [index, letter] : llvm::enumerate(terms.lhs))
    product *= tensorType(getLhs()).getDimSize(index);
  for (auto [index, letter] : llvm::enumerate(terms.rhs))
    if (!terms.lhs.contains(letter))
      product *= tensorType(getRhs()).getDimSize(index);
  return product;
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  RankedTensorType from = tensorType(getOperand()), to = tensorType(getResult());
  SmallVector<int64_t> kept;
  int64_t last = -1;
  for (int64_t dimension : getDimensions()) {
    if (dimension <= last || dimension >= from.getRank())
      return emitOpError() << "expects ascending 'dimensions' below the rank (" << from.getRank() << "), got "
                           << dimension;
    last = dimension;
  }
  for (int64_t dimension = 0; dimension < from.getRank(); ++dimension)
    if (!llvm::is_contained(getDimensions(), dimension))
      kept.push_back(from.getDimSize(dimension));
  if (to.getShape() != ArrayRef<int64_t>(kept))
    return emitOpError() << "expects a result of shape " << RankedTensorType::get(kept, to.getElementType())
                         << ", got " << to;
  bool sameClass = isa<FloatType>(from.getElementType()) == isa<FloatType>(to.getElementType());
  if (getKind() == Reduction::sum ? !sameClass : from.getElementType() != to.getElementType())
    return emitOpError() << "cannot fold " << from.getElementType() << " by " << stringifyReduction(getKind())
                         << " into " << to.getElementType();
  return success();
}

void ReduceOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!cotangents[0] || !context.needsCotangent(0))
    return;
  ValueBuilder b(context.builder, getLoc());
  RankedTensorType type = context.cotangentType(0);
  SmallVector<int64_t> kept;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (!llvm::is_contained(getDimensions(), dimension))
      kept.push_back(dimension);
  auto spread = [&](Value value) { return b.broadcast(value, type.getShape(), kept); };
  if (getKind() == Reduction::sum) {
    out[0] = spread(b.cast(cotangents[0], type.getElementType()));
    return;
  }
  Value attains = b.compare(Comparison::eq, getOperand(), spread(getResult()));
  Value one = b.cast(attains, tensorType(cotangents[0]).getElementType());
  Value share = b.div(cotangents[0], b.sum(one, getDimensions()));
  out[0] = b.cast(b.mul(one, spread(share)), type.getElementType());
}

ShardingRule ReduceOp::shardingRule() {
  std::string operand, result;
  for (int64_t dimension = 0; dimension < tensorType(getOperand()).getRank(); ++dimension) {
    char letter = static_cast<char>('a' + dimension);
    operand += letter;
    if (!llvm::is_contained(getDimensions(), dimension))
      result += letter;
  }
  // A pending minimum does not exist: the partitioner keeps such a dimension whole.
  std::string whole;
  if (getKind() == Reduction::min)
    for (int64_t dimension : getDimensions())
      whole += static_cast<char>('a' + dimension);
  return makeShardingRule(*this, {operand}, {result}, 0, whole, {getKind() == Reduction::sum},
                          getKind() == Reduction::max ? FactorKind::Max : FactorKind::Sum);
}
int64_t ReduceOp::flops() { return elementCount(getOperand()); }

//===----------------------------------------------------------------------===//
// cumulative_sum, top_k, squared_norm
//===----------------------------------------------------------------------===//

LogicalResult CumulativeSumOp::verify() {
  int64_t rank = tensorType(getOperand()).getRank();
  if (getDimension() >= static_cast<uint64_t>(rank))
    return emitOpError() << "expects a dimension below the rank (" << rank << "), got "
                         << static_cast<int64_t>(getDimension());
  return success();
}
ShardingRule CumulativeSumOp::shardingRule() {
  std::string term;
  for (int64_t dimension = 0; dimension < tensorType(getOperand()).getRank(); ++dimension)
    term += static_cast<char>('a' + dimension);
  return makeShardingRule(*this, {term}, {term}, 0, StringRef(term).substr(getDimension(), 1), {true});
}
int64_t CumulativeSumOp::flops() { return elementCount(getOperand()); }

LogicalResult TopKOp::verify() {
  RankedTensorType from = tensorType(getOperand()), values = tensorType(getValues());
  if (from.getRank() == 0 || values.getRank() != from.getRank() ||
      values.getShape().drop_back() != from.getShape().drop_back() ||
      values.getShape() != tensorType(getIndices()).getShape() ||
      values.getElementType() != from.getElementType())
    return emitOpError() << "expects results in the operand's shape but for the last dimension, got " << from
                         << " -> " << values << ", " << getIndices().getType();
  if (values.getShape().back() > from.getShape().back())
    return emitOpError() << "cannot take the " << values.getShape().back() << " largest of "
                         << from.getShape().back();
  return success();
}
ShardingRule TopKOp::shardingRule() {
  return makeShardingRule(*this, {"Ab"}, {"Ac", "Ac"}, tensorType(getOperand()).getRank() - 1, "bc", {false});
}
int64_t TopKOp::flops() { return elementCount(getOperand()); }

LogicalResult SquaredNormOp::verify() {
  RankedTensorType from = tensorType(getOperand()), to = tensorType(getResult());
  if (!getRows()) {
    if (to.getRank() != 0)
      return emitOpError() << "expects a scalar result, got " << getType();
    return success();
  }
  auto rows = static_cast<int64_t>(*getRows());
  if (rows < 0 || rows >= from.getRank())
    return emitOpError() << "expects rows to be a dimension below the rank (" << from.getRank() << "), got "
                         << rows;
  if (to.getShape() != from.getShape().slice(rows, 1))
    return emitOpError() << "expects one number for each of " << from.getDimSize(rows) << " rows, got "
                         << getType();
  return success();
}
SmallVector<Value> SquaredNormOp::decompose(OpBuilder &builder) {
  ValueBuilder b(builder, getLoc());
  Value squares = b.square(b.cast(getOperand(), builder.getF64Type()));
  if (!getRows())
    return {b.sumAll(squares)};
  SmallVector<int64_t> others;
  for (int64_t dimension = 0; dimension < tensorType(squares).getRank(); ++dimension)
    if (dimension != static_cast<int64_t>(*getRows()))
      others.push_back(dimension);
  return {others.empty() ? squares : b.sum(squares, others)};
}
ShardingRule SquaredNormOp::shardingRule() {
  int64_t rank = tensorType(getOperand()).getRank();
  if (!getRows())
    return makeShardingRule(*this, {"A"}, {""}, rank, "", {false});
  std::string term, whole;
  for (int64_t dimension = 0; dimension < rank; ++dimension)
    term += static_cast<char>('a' + dimension);
  auto rows = static_cast<size_t>(*getRows());
  whole = term.substr(0, rows) + term.substr(rows + 1);
  return makeShardingRule(*this, {term}, {term.substr(rows, 1)}, 0, whole, {false});
}
int64_t SquaredNormOp::flops() { return 2 * elementCount(getOperand()); }
