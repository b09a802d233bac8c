#include "compiler/model/KeyValueCache.h"

using namespace mlir;

namespace weft {

Attended attendThroughCache(ModelBuilder &b, const KeyValueCache &cache, const Attended &own) {
  const ParameterTraits groupsAreSplit{.tensorDimension = 2, .wholeParts = true};
  auto keep = [&](StringRef name, Value fresh) {
    SmallVector<int64_t> shape(nn::tensorType(fresh).getShape());
    shape[1] = cache.length;
    std::string symbol = b.cache(name, shape, groupsAreSplit);
    Value all = fresh;
    if (cache.position) {
      Value zero = b.scalar(b.builder.getI64Type(), 0);
      SmallVector<Value> starts = {zero, cache.position, zero, zero};
      RankedTensorType type = b.type(shape, nn::tensorType(fresh).getElementType());
      SmallVector<int64_t> offsets(4, 0);
      all = b.create<nn::UpdateSliceOp>(type, b.read(symbol, type), fresh, starts, offsets);
    }
    b.create<nn::WriteOp>(FlatSymbolRefAttr::get(b.builder.getContext(), symbol), all);
    return all;
  };
  Attended attended{keep("key_cache", own.key), keep("value_cache", own.value), own.queryPositions,
                    own.keyPositions};
  if (cache.position) {
    int64_t batch = nn::tensorType(own.key).getShape()[0];
    attended.keyPositions = b.iota({batch, cache.length}, b.builder.getI32Type(), 1);
  }
  return attended;
}

} // namespace weft
