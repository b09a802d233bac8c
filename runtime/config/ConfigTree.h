//===- ConfigTree.h - A run file before it has meaning --------------------===//
//
// What was written, and where: maps, lists and scalars, each with its origin. YAML text, a Hugging Face
// config.json and the overrides of the command line all become this tree. A reader has already refused what
// is ambiguous: a map holds a key once, and nothing is nested deeper than `maxConfigDepth`.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_CONFIGTREE_H
#define WEFT_RUNTIME_CONFIG_CONFIGTREE_H

#include <string>
#include <string_view>
#include <vector>

namespace weft {

inline constexpr int maxConfigDepth = 16;

/// Where a value came from: a file and a line (counted from 1), "--set", or "default" (no line).
struct Origin {
  std::string source;
  int line = 0;

  /// "run.yaml:14", "--set", "default".
  std::string str() const;
};

struct ConfigNode {
  enum class Kind { Null, Scalar, List, Map };

  Kind kind = Kind::Null;
  /// Of a scalar: its text without quotes.
  std::string text;
  /// Of a scalar: written with quotes, so it can be nothing but text.
  bool quoted = false;
  /// For the value of a map, the place of its key.
  Origin origin;
  /// Of a map: its keys, one for each of `children`.
  std::vector<std::string> keys;
  /// Of a map or list, in the order written.
  std::vector<ConfigNode> children;

  /// The value under a key of a map; null when there is none.
  ConfigNode *find(std::string_view key);
  const ConfigNode *find(std::string_view key) const;
  /// Adds a key that is not there yet; turns a null into a map.
  ConfigNode &add(std::string_view key, ConfigNode value);
  void remove(std::string_view key);

  /// What it is, for messages: "a map", "a list", "nothing", or the text itself (quoted if it was,
  /// shortened).
  std::string describe() const;
};

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_CONFIGTREE_H
