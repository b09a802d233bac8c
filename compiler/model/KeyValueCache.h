//===- KeyValueCache.h - What attention keeps of the text so far --------------===//
//
// Generation has two programs over one set of caches: `prefill` computes a whole window and leaves the keys
// and values of each layer behind, `decode` computes one token, adds its key and value and attends to all of
// them. A query knows its position, so what lies behind it in the cache is not seen: causal attention and
// sliding windows need no case of their own, and blocks ask for what is attended to in one place.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_COMPILER_MODEL_KEYVALUECACHE_H
#define WEFT_COMPILER_MODEL_KEYVALUECACHE_H

#include "compiler/model/ModelBuilder.h"

namespace weft {

struct KeyValueCache {
  /// Tokens of a window.
  int64_t length = 0;
  /// i64: where the one token stands that is computed. Null: the whole window is, and fills the cache.
  mlir::Value position;
};

/// Keys and values [batch, keys, groups, dimension] that queries see, and i32 positions [batch, queries] and
/// [batch, keys]; these are null where queries and keys stand in order.
struct Attended {
  mlir::Value key, value, queryPositions, keyPositions;
};

/// Of an attention whose own tokens have this key and value, and whose caches are `key_cache` and
/// `value_cache` of the current scope.
Attended attendThroughCache(ModelBuilder &b, const KeyValueCache &cache, const Attended &own);

} // namespace weft

#endif // WEFT_COMPILER_MODEL_KEYVALUECACHE_H
