//===- Indexing.cpp - Constants, generators, gather and scatter -------------===//
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft::nn;
namespace dist = weft::dist;

#define GET_OP_CLASSES
#include "dialects/nn/NnIndexing.cpp.inc"

void NnDialect::registerIndexingOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnIndexing.cpp.inc"
      >();
}

OpFoldResult ConstantOp::fold(FoldAdaptor adaptor) { return getValue(); }
/// A constant is the same everywhere: any dimension may be split if the values do not depend on it.
ShardingRule ConstantOp::shardingRule() {
  ShardingRule rule;
  rule.results.emplace_back();
  for (auto [dimension, size] : llvm::enumerate(dist::wholeShape(tensorType(getResult())))) {
    rule.factors.push_back({size, getValue().isSplat() ? FactorKind::PassThrough : FactorKind::Replicated});
    rule.results[0].push_back({static_cast<int>(dimension)});
  }
  return rule;
}
int64_t ConstantOp::flops() { return 0; }

LogicalResult IotaOp::verify() {
  if (getDimension() >= static_cast<uint64_t>(tensorType(getResult()).getRank()))
    return emitOpError() << "expects a dimension below the rank (" << tensorType(getResult()).getRank()
                         << "), got " << static_cast<int64_t>(getDimension());
  return success();
}
ShardingRule IotaOp::shardingRule() {
  ShardingRule rule;
  rule.results.emplace_back();
  for (auto [dimension, size] : llvm::enumerate(dist::wholeShape(tensorType(getResult())))) {
    rule.factors.push_back(
        {size, dimension == getDimension() ? FactorKind::Replicated : FactorKind::PassThrough});
    rule.results[0].push_back({static_cast<int>(dimension)});
  }
  return rule;
}
int64_t IotaOp::flops() { return 0; }

LogicalResult RandomUniformOp::verify() {
  RankedTensorType type = tensorType(getResult()), ids = tensorType(getSampleIds());
  if (tensorType(getStep()).getRank() != 0)
    return emitOpError() << "expects a scalar step, got " << getStep().getType();
  if (type.getRank() == 0 || ids.getRank() != 1 || ids.getDimSize(0) != type.getDimSize(0))
    return emitOpError() << "expects one sample id for each index of the result's first dimension, got "
                         << ids << " for " << type;
  return success();
}
ShardingRule RandomUniformOp::shardingRule() {
  int64_t rest = tensorType(getResult()).getRank() - 1;
  std::string result = "b", whole;
  for (int64_t dimension = 0; dimension < rest; ++dimension)
    whole += static_cast<char>('c' + dimension);
  result += whole;
  return makeShardingRule(*this, {"", "b"}, {result}, 0, whole, {false, false});
}
/// Ten rounds of two multiplications for four numbers.
int64_t RandomUniformOp::flops() { return 10 * elementCount(getResult()); }

namespace {
/// indices' shape, then the table's without its first dimension.
LogicalResult verifyRows(Operation *op, RankedTensorType table, RankedTensorType indices,
                         RankedTensorType rows, StringRef what) {
  SmallVector<int64_t> shape(indices.getShape());
  if (table.getRank() == 0)
    return op->emitOpError() << "expects a table of at least one dimension, got " << table;
  llvm::append_range(shape, table.getShape().drop_front());
  if (rows.getShape() != ArrayRef<int64_t>(shape))
    return op->emitOpError() << "expects " << what << " of type "
                             << RankedTensorType::get(shape, rows.getElementType()) << ", got " << rows;
  return success();
}
ShardingRule rowsRule(Operation *op, bool gather, int64_t indexRank, int64_t tableRank,
                      ArrayRef<bool> linear) {
  std::string rest;
  for (int64_t dimension = 1; dimension < tableRank; ++dimension)
    rest += static_cast<char>('b' + dimension);
  // Rows of the table that a part does not have read as 0, and are not added to: indices less the part's
  // start say which.
  std::string table = "v" + rest, rows = "A" + rest;
  ShardingRule rule = gather ? makeShardingRule(op, {table, "A"}, {rows}, indexRank, "", linear)
                             : makeShardingRule(op, {"A", rows}, {table}, indexRank, "", linear);
  rule.indices.push_back({(gather ? rule.operands[0] : rule.results[0])[0][0], gather ? 1 : 0});
  return rule;
}
} // namespace

LogicalResult GatherOp::verify() {
  if (tensorType(getTable()).getElementType() != tensorType(getResult()).getElementType())
    return emitOpError() << "expects the table's element type, got " << getType();
  return verifyRows(*this, tensorType(getTable()), tensorType(getIndices()), tensorType(getResult()),
                    "a result");
}
void GatherOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!cotangents[0] || !context.needsCotangent(0))
    return;
  ValueBuilder b(context.builder, getLoc());
  out[0] = b.create<ScatterAddOp>(context.cotangentType(0), getIndices(), cotangents[0]);
}
ShardingRule GatherOp::shardingRule() {
  return rowsRule(*this, true, tensorType(getIndices()).getRank(), tensorType(getTable()).getRank(),
                  {true, false});
}
int64_t GatherOp::flops() { return 0; }

LogicalResult ScatterAddOp::verify() {
  return verifyRows(*this, tensorType(getResult()), tensorType(getIndices()), tensorType(getUpdates()),
                    "updates");
}
void ScatterAddOp::buildVjp(VjpContext &context, ArrayRef<Value> cotangents, MutableArrayRef<Value> out) {
  if (!cotangents[0] || !context.needsCotangent(1))
    return;
  ValueBuilder b(context.builder, getLoc());
  RankedTensorType type = context.cotangentType(1);
  Value rows = b.create<GatherOp>(b.type(type.getShape(), tensorType(cotangents[0]).getElementType()),
                                  cotangents[0], getIndices());
  out[1] = b.cast(rows, type.getElementType());
}
ShardingRule ScatterAddOp::shardingRule() {
  return rowsRule(*this, false, tensorType(getIndices()).getRank(), tensorType(getResult()).getRank(),
                  {false, true});
}
int64_t ScatterAddOp::flops() { return elementCount(getUpdates()); }
