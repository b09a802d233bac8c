#include "tools/weft-trials/AttentionVariants.h"

#include "dialects/nn/ValueBuilder.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace weft::trials {
namespace {

Value sinksOf(nn::AttentionOp op, ModuleOp module, size_t layer) {
  std::string name = "sinks." + std::to_string(layer);
  OpBuilder builder(op);
  nn::ValueBuilder b(builder, op.getLoc());
  RankedTensorType type = b.type({nn::tensorType(op.getQuery()).getDimSize(2)}, builder.getF32Type());
  if (!module.lookupSymbol(name)) {
    OpBuilder atTop = OpBuilder::atBlockBegin(module.getBody());
    auto parameter = nn::ParameterOp::create(atTop, op.getLoc(), name, type, nn::InitializerKind::normal,
                                             llvm::APFloat(0.0), llvm::APFloat(1.0));
    parameter->setAttr("nn.tensor_dimension", builder.getI64IntegerAttr(0));
    parameter->setAttr("nn.whole_parts", builder.getUnitAttr());
  }
  return b.read(name, type);
}

} // namespace

void varyAttention(ModuleOp module, const AttentionVariant &variant) {
  llvm::MapVector<Block *, SmallVector<nn::AttentionOp>> attentions;
  module.walk([&](nn::AttentionOp op) { attentions[op->getBlock()].push_back(op); });
  for (auto &[block, ops] : attentions) {
    for (auto [layer, op] : llvm::enumerate(ops)) {
      if (variant.window > 0)
        op.setWindow(static_cast<uint64_t>(variant.window));
      if (variant.sinks)
        op.getSinksMutable().assign(sinksOf(op, module, layer));
    }
  }
}

} // namespace weft::trials
