//===- Schema.h - Every key of a run file, once ---------------------------===//
//
// One table of keys from which all else follows: loading, ranges, `weft config explain`, the JSON Schema,
// docs/config.md and what may change on resume. A key enters the table together with the feature that reads
// it. Defaults are the initializers of Config.h.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_CONFIG_SCHEMA_H
#define WEFT_RUNTIME_CONFIG_SCHEMA_H

#include "runtime/config/Config.h"
#include "runtime/config/SchemaField.h"

#include <limits>
#include <string>
#include <vector>

namespace weft {

/// One value of a key that takes a name.
struct Choice {
  std::string name;
  std::string doc;
};

/// When a key counts at all. All conditions of a key must hold.
struct Condition {
  enum class Test { OneOf, Positive, OverOne, NotEmpty, Empty };
  Test test;
  /// The key that is looked at.
  std::string path;
  /// Of OneOf. Of OverOne: further keys, of which one over 1 is enough.
  std::vector<std::string> values;

  /// "with optimizer.kind = adamw or lion", "with data.validation_fraction > 0", "with parallel.tensor > 1",
  /// "with parallel.data_shard or parallel.context.size > 1", "with train.dump.steps", "without
  /// model.program".
  std::string phrase() const;
};

/// One key: what it is called, where its value goes, what is allowed, what it means. Built by chained calls.
class Key {
public:
  Key(std::string path, FieldBinding binding, std::string doc)
      : path(std::move(path)), binding(binding), doc(std::move(doc)) {}

  Key &unit(std::string text) { return unitText = std::move(text), *this; }
  /// Bounds of a number, of each number of a list, of the count of bytes.
  Key &atLeast(double bound) { return minimum = bound, *this; }
  Key &above(double bound) { return minimum = bound, minimumExcluded = true, *this; }
  Key &atMost(double bound) { return maximum = bound, *this; }
  Key &below(double bound) { return maximum = bound, maximumExcluded = true, *this; }
  Key &choice(std::string name, std::string doc) {
    return choices.push_back({std::move(name), std::move(doc)}), *this;
  }
  /// Text that is one of the choices, or `file:` and the path of a file.
  Key &orFile() { return isNameOrFile = true, *this; }
  /// Text in a language of its own, or an integer, which the text here describes.
  Key &textOrInteger(std::string text) { return textType = std::move(text), *this; }
  /// Must be given whenever its conditions hold.
  Key &required() { return isRequired = true, *this; }
  /// Without a value it is computed: the text says from what.
  Key &derived(std::string text) { return derivedFrom = std::move(text), *this; }
  /// Text that names a file or folder, relative to the run file.
  Key &filePath() { return isPath = true, *this; }
  /// An integer written as a size of memory.
  Key &memorySize() { return isMemorySize = true, *this; }
  Key &elementKeys(const std::vector<Key> &keys) { return elements = &keys, *this; }
  Key &usedWith(std::string otherPath, std::vector<std::string> values) {
    return conditions.push_back({Condition::Test::OneOf, std::move(otherPath), std::move(values)}), *this;
  }
  Key &usedWithPositive(std::string otherPath) {
    return conditions.push_back({Condition::Test::Positive, std::move(otherPath), {}}), *this;
  }
  /// This key over 1, or one of the others.
  Key &usedOverOne(std::string otherPath, std::vector<std::string> orOthers = {}) {
    return conditions.push_back({Condition::Test::OverOne, std::move(otherPath), std::move(orOthers)}), *this;
  }
  Key &usedWithAny(std::string otherPath) {
    return conditions.push_back({Condition::Test::NotEmpty, std::move(otherPath), {}}), *this;
  }
  Key &usedWithout(std::string otherPath) {
    return conditions.push_back({Condition::Test::Empty, std::move(otherPath), {}}), *this;
  }
  /// A resumed run may have another value; the text, if any, says what then happens.
  Key &mayChange(std::string effect = "") {
    return mayChangeOnResume = true, onChange = std::move(effect), *this;
  }
  /// With train.reduction canonical on both sides, a change of this key changes no bit.
  Key &keptByCanonical() { return isKeptByCanonical = true, *this; }
  /// A resumed run with another value is refused, because of what the text says.
  Key &mustStay(std::string reason) { return mayChangeOnResume = false, onChange = std::move(reason), *this; }

  /// "1 or more", "0 to less than 1", empty when anything goes.
  std::string rangeText() const;
  /// "an integer", "one of adamw, sgd, lion".
  std::string typeText() const;
  /// The default as it would be written, or what it is derived from; "required" when there is none.
  std::string defaultText() const;
  bool inRange(double value) const;
  /// The key's member of the struct that it belongs to (Config, or the struct of a list's element).
  Field fieldIn(void *object) const { return binding.field(object); }

  std::string path;
  FieldBinding binding;
  std::string doc;
  std::string unitText;
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool minimumExcluded = false;
  bool maximumExcluded = false;
  std::vector<Choice> choices;
  bool isNameOrFile = false;
  std::string textType;
  bool isRequired = false;
  std::string derivedFrom;
  bool isPath = false;
  bool isMemorySize = false;
  /// Of a list of maps: the keys of one map, their paths relative to it.
  const std::vector<Key> *elements = nullptr;
  std::vector<Condition> conditions;
  bool mayChangeOnResume = true;
  bool isKeptByCanonical = false;
  std::string onChange;
};

struct Section {
  std::string name;
  std::string doc;
};

/// All keys, section by section, in the order in which they are shown.
const std::vector<Key> &configSchema();
/// The sections in order; a nested one ("model.rope_scaling") follows its parent.
const std::vector<Section> &configSections();
/// The key of this path ("train.steps", "data.train[].weight"); null when there is none.
const Key *findKey(const std::string &path);

/// The value of a field as it is written in YAML: text in double quotes, a list in brackets, "auto" when
/// unset.
std::string renderField(const Key &key, const void *object);
/// Text in double quotes, such that YAML reads the same text back.
std::string quoteYaml(const std::string &text);

/// Whether a key counts in this run.
bool isUsed(const Key &key, const Config &config);

/// The one key that is no value of a run: loading replaces it by the keys of the file (ModelKeys.h).
inline constexpr char modelFromPath[] = "model.from";
inline constexpr char modelFromDoc[] =
    "A Hugging Face config.json whose keys are taken; keys written beside it win.";

/// How a text begins that names a file where a name may stand too (Key::orFile).
inline constexpr char filePrefix[] = "file:";

/// The parts of the table, one file each.
std::vector<Key> modelKeys();
std::vector<Key> dataKeys();
std::vector<Key> parallelKeys();
std::vector<Key> trainingKeys();
std::vector<Key> runKeys();

} // namespace weft

#endif // WEFT_RUNTIME_CONFIG_SCHEMA_H
