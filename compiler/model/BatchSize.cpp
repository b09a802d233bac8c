#include "compiler/model/BatchSize.h"

#include "dialects/nn/NnOps.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace weft {
namespace {

/// Dimensions of values, and those of them that are one.
class Dimensions {
public:
  using Dimension = std::pair<void *, unsigned>; ///< of a value, or a factor of an op

  static Dimension of(Value value, unsigned dimension) { return {value.getAsOpaquePointer(), dimension}; }
  void unite(Dimension a, Dimension b) { classes.unionSets(a, b); }
  void markBatch(Dimension dimension) { marked.push_back(dimension); }
  bool isBatch(Dimension dimension) {
    return llvm::any_of(marked, [&](const Dimension &mark) { return classes.isEquivalent(mark, dimension); });
  }

private:
  llvm::EquivalenceClasses<Dimension> classes;
  SmallVector<Dimension, 4> marked;
};

class BatchResizer {
public:
  BatchResizer(func::FuncOp function, int64_t batch) : function(function), batch(batch) {}

  LogicalResult run() {
    for (BlockArgument argument : function.getArguments())
      if (nn::tensorType(argument).getRank() > 0)
        dimensions.markBatch(Dimensions::of(argument, 0));
    for (Operation &op : function.getBody().front())
      if (auto shardable = dyn_cast<nn::ShardingRuleOpInterface>(op))
        relate(op, shardable.shardingRule());
    for (Operation &op : function.getBody().front())
      if (failed(check(op)))
        return failure();
    for (BlockArgument argument : function.getArguments())
      argument.setType(resized(argument));
    for (Operation &op : function.getBody().front())
      if (failed(retype(op)))
        return failure();
    Operation *end = function.getBody().front().getTerminator();
    function.setFunctionType(FunctionType::get(
        function.getContext(), function.getBody().front().getArgumentTypes(), end->getOperandTypes()));
    return verify(function);
  }

private:
  using Tensors = SmallVector<std::pair<Value, ArrayRef<nn::DimensionFactors>>>;

  static Tensors tensorsOf(Operation &op, const nn::ShardingRule &rule) {
    Tensors tensors;
    for (auto [value, factors] : llvm::zip(op.getOperands(), rule.operands))
      tensors.emplace_back(value, factors);
    for (auto [value, factors] : llvm::zip(op.getResults(), rule.results))
      tensors.emplace_back(value, factors);
    return tensors;
  }

  /// A dimension of one factor is that factor. Of several it is their product, which no batch takes part in.
  void relate(Operation &op, const nn::ShardingRule &rule) {
    for (auto [value, ofValue] : tensorsOf(op, rule))
      for (auto [dimension, factors] : llvm::enumerate(ofValue)) {
        if (factors.size() == 1)
          dimensions.unite(Dimensions::of(value, dimension), {&op, static_cast<unsigned>(factors.front())});
        else
          for (int factor : factors)
            products.push_back({&op, value, static_cast<unsigned>(dimension), static_cast<unsigned>(factor)});
      }
  }

  LogicalResult check(Operation &op) {
    if (auto read = dyn_cast<nn::ReadOp>(op))
      for (int64_t dimension = 0; dimension < read.getType().getRank(); ++dimension)
        if (dimensions.isBatch(Dimensions::of(read, dimension)))
          return read.emitOpError() << "has a dimension, " << dimension
                                    << ", that meets the batch: no parameter has a value for each sample";
    for (const Product &product : products)
      if (product.op == &op && (dimensions.isBatch(Dimensions::of(product.value, product.dimension)) ||
                                dimensions.isBatch({product.op, product.factor})))
        return op.emitOpError() << "folds the batch and another dimension into one, so it has no meaning for "
                                << batch << " samples. Keep the batch a dimension of its own";
    return success();
  }

  RankedTensorType resized(Value value) {
    RankedTensorType type = nn::tensorType(value);
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dimension, size] : llvm::enumerate(shape))
      if (dimensions.isBatch(Dimensions::of(value, dimension)))
        size = batch;
    return type.clone(shape);
  }

  LogicalResult retype(Operation &op) {
    for (Value result : op.getResults()) {
      RankedTensorType type = resized(result);
      if (auto constant = dyn_cast<nn::ConstantOp>(op); constant && type != result.getType()) {
        auto elements = dyn_cast<DenseElementsAttr>(Attribute(constant.getValue()));
        if (!elements || !elements.isSplat())
          return op.emitOpError() << "has a value of its own for each of "
                                  << nn::tensorType(result).getDimSize(0) << " samples, and the run has "
                                  << batch << ". Broadcast the values of one sample";
        constant.setValueAttr(cast<ElementsAttr>(Attribute(elements.resizeSplat(type))));
      }
      result.setType(type);
    }
    return success();
  }

  struct Product {
    Operation *op;
    Value value;
    unsigned dimension, factor;
  };

  func::FuncOp function;
  int64_t batch;
  Dimensions dimensions;
  SmallVector<Product> products;
};

} // namespace

LogicalResult resizeBatch(func::FuncOp function, int64_t batch) {
  return BatchResizer(function, batch).run();
}

} // namespace weft
