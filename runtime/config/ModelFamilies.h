//===- ModelFamilies.h - What each family's config.json says --------------===//
//
// One row per family: the keys of `model` that it takes, its own names for them, what transformers takes
// where a config.json is silent, and what such a file may hold that has one behavior here or none. Loading
// (ModelKeys.h), the schema's conditions and `weft model list` read this table; what a family computes is in
// compiler/model.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_MODELFAMILIES_H
#define WEFT_RUNTIME_CONFIG_MODELFAMILIES_H

#include "runtime/config/Config.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// A key and a value as they would be written; of a spelling, a name and the key that it means.
struct FamilyValue {
  std::string key, value;
};

struct FamilyTraits {
  ModelFamily family;
  std::string name, doc;
  /// The keys that it takes beside those that all families take; `rope_scaling` stands for its section.
  std::vector<std::string> keys;
  /// Its own names of keys.
  std::vector<FamilyValue> spellings;
  /// What transformers takes for a key that is not given, where that is not the schema's own default.
  std::vector<FamilyValue> defaults;
  /// Whether attention of this layer sees a window alone, where `layer_types` does not say; null where the
  /// family has no such key, since no layer differs from another.
  bool (*isSliding)(const ModelConfig &model, int64_t layer) = nullptr;
  /// The width of the feed-forward that is not given, over hidden_size; 0: it must be given.
  int64_t expansion = 0;

  bool takes(std::string_view key) const;
};

/// All families, in the order of ModelFamily.
const std::vector<FamilyTraits> &modelFamilies();
const FamilyTraits &traitsOf(ModelFamily family);
/// Null for an unknown name.
const FamilyTraits *findFamily(std::string_view name);
/// The names of the families that take a key, in order; empty when all do.
std::vector<std::string> familiesWith(std::string_view key);
/// The family's own pattern of sliding layers (ModelConfig::layerTypes); empty where no layer differs.
std::vector<std::string> patternOfLayers(const ModelConfig &model);

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_MODELFAMILIES_H
