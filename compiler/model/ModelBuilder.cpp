#include "compiler/model/ModelBuilder.h"

#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace weft {

ModelBuilder::ModelBuilder(ModuleOp module, OpBuilder &builder)
    : ValueBuilder(builder, builder.getUnknownLoc()), module(module) {}

ModelBuilder::Scope::Scope(ModelBuilder &builder, StringRef name)
    : builder(builder), outerLength(builder.path.size()), outerLocation(builder.location) {
  if (!builder.path.empty())
    builder.path += '.';
  builder.path += name;
  builder.location = NameLoc::get(builder.builder.getStringAttr(builder.path));
}

ModelBuilder::Scope::~Scope() {
  builder.path.resize(outerLength);
  builder.location = outerLocation;
}

Value ModelBuilder::parameter(StringRef name, ArrayRef<int64_t> shape, ParameterInitializer initializer,
                              ParameterTraits traits) {
  auto here = scope(name);
  auto tensor = type(shape, builder.getF32Type());
  if (declared.insert(path).second) {
    OpBuilder::InsertionGuard guard(builder);
    if (last)
      builder.setInsertionPointAfter(last);
    else
      builder.setInsertionPointToStart(module.getBody());
    auto parameter = create<nn::ParameterOp>(path, tensor, initializer.kind, llvm::APFloat(initializer.mean),
                                             llvm::APFloat(initializer.deviation));
    if (traits.oneDimensional)
      parameter->setAttr("nn.one_dimensional", builder.getUnitAttr());
    if (traits.tensorDimension >= 0)
      parameter->setAttr("nn.tensor_dimension", builder.getI64IntegerAttr(traits.tensorDimension));
    if (traits.wholeParts)
      parameter->setAttr("nn.whole_parts", builder.getUnitAttr());
    last = parameter;
  }
  return read(path, tensor);
}

int64_t ModelBuilder::pathHash() const { return static_cast<int64_t>(llvm::xxHash64(llvm::StringRef(path))); }

Value ModelBuilder::boundary(Value x, int64_t layer) {
  return create<nn::BoundaryOp>(x.getType(), builder.getI64IntegerAttr(layer), x, UnitAttr());
}

} // namespace weft
