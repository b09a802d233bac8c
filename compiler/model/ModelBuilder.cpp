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

void ModelBuilder::declare(StringRef symbol, ParameterTraits traits,
                           llvm::function_ref<Operation *()> build) {
  if (!declared.insert(symbol).second)
    return;
  OpBuilder::InsertionGuard guard(builder);
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(module.getBody());
  last = build();
  if (traits.oneDimensional)
    last->setAttr("nn.one_dimensional", builder.getUnitAttr());
  if (traits.tensorDimension >= 0)
    last->setAttr("nn.tensor_dimension", builder.getI64IntegerAttr(traits.tensorDimension));
  if (traits.wholeParts)
    last->setAttr("nn.whole_parts", builder.getUnitAttr());
}

Value ModelBuilder::parameter(StringRef name, ArrayRef<int64_t> shape, ParameterInitializer initializer,
                              ParameterTraits traits) {
  auto here = scope(name);
  auto tensor = type(shape, builder.getF32Type());
  declare(path, traits, [&] {
    return create<nn::ParameterOp>(path, tensor, initializer.kind, llvm::APFloat(initializer.mean),
                                   llvm::APFloat(initializer.deviation));
  });
  return read(path, tensor);
}

std::string ModelBuilder::cache(StringRef name, ArrayRef<int64_t> shape, ParameterTraits traits) {
  auto here = scope(name);
  declare(path, traits, [&] { return create<nn::CacheOp>(path, type(shape, builder.getF32Type())); });
  return path;
}

int64_t ModelBuilder::pathHash() const { return static_cast<int64_t>(llvm::xxHash64(llvm::StringRef(path))); }

Value ModelBuilder::boundary(Value x, int64_t layer) {
  return create<nn::BoundaryOp>(x.getType(), builder.getI64IntegerAttr(layer), x, UnitAttr());
}

} // namespace weft
