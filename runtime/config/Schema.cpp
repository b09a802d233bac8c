//===- Schema.cpp - The table's own questions -----------------------------===//
//
// Gathers the parts of the table and answers what does not depend on a run file: types, ranges and defaults
// in words, values as text, and whether a key counts.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/Schema.h"

#include "runtime/support/ByteUnits.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weft {

namespace {
template <class... Functions> struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions> Overloaded(Functions...) -> Overloaded<Functions...>;
} // namespace

/// The shortest text that reads back as the same number; with an exponent only where people would write one.
static std::string renderNumber(double value) {
  char buffer[64];
  double size = std::abs(value);
  bool fixed = size == 0 || (size >= 1e-4 && size < 1e15);
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value,
                                    fixed ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(buffer, end);
}

std::string quoteYaml(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      quoted.append(1, '\\').append(1, c);
    else if (c == '\n')
      quoted.append("\\n");
    else if (c == '\t')
      quoted.append("\\t");
    else if (byte < 0x20 || byte == 0x7f)
      quoted.append("\\x").append(absl::StrCat(absl::Hex(byte, absl::kZeroPad2)));
    else
      quoted.append(1, c);
  }
  return quoted.append("\"");
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

std::string Condition::phrase() const {
  switch (test) {
  case Test::OneOf:
    return absl::StrCat("with ", path, " = ", absl::StrJoin(values, " or "));
  case Test::Positive:
    return absl::StrCat("with ", path, " > 0");
  case Test::OverOne:
    return absl::StrCat("with ", path, values.empty() ? "" : " or ", absl::StrJoin(values, " or "), " > 1");
  case Test::NotEmpty:
    return absl::StrCat("with ", path);
  case Test::Empty:
    break;
  }
  return absl::StrCat("without ", path);
}

static bool holds(const Condition &condition, const Config &config) {
  const Key &key = *findKey(condition.path);
  switch (condition.test) {
  case Condition::Test::OneOf: {
    std::string value = renderField(key, &config);
    for (const std::string &wanted : condition.values)
      if (wanted == value)
        return true;
    return false;
  }
  case Condition::Test::Positive:
    return renderField(key, &config) != "0";
  case Condition::Test::OverOne:
    return renderField(key, &config) != "1" ||
           std::any_of(condition.values.begin(), condition.values.end(), [&](const std::string &other) {
             return renderField(*findKey(other), &config) != "1";
           });
  case Condition::Test::NotEmpty:
    return renderField(key, &config) != "[]";
  case Condition::Test::Empty:
    break;
  }
  const std::string value = renderField(key, &config);
  return value == quoteYaml("") || value == "[]";
}

bool isUsed(const Key &key, const Config &config) {
  for (const Condition &condition : key.conditions)
    if (!holds(condition, config))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Keys in words
//===----------------------------------------------------------------------===//

bool Key::inRange(double value) const {
  return (minimumExcluded ? value > minimum : value >= minimum) &&
         (maximumExcluded ? value < maximum : value <= maximum);
}

/// Integers in full, because 2147483647 says more than 2.147483647e+09.
static std::string renderBound(double bound) {
  if (bound == static_cast<double>(static_cast<int64_t>(bound)))
    return absl::StrCat(static_cast<int64_t>(bound));
  return renderNumber(bound);
}

std::string Key::rangeText() const {
  bool hasMinimum = minimum > -std::numeric_limits<double>::infinity();
  bool hasMaximum = maximum < std::numeric_limits<double>::infinity();
  std::string low = hasMinimum ? renderBound(minimum) : "";
  std::string high = hasMaximum ? renderBound(maximum) : "";
  if (hasMinimum && hasMaximum)
    return absl::StrCat(minimumExcluded ? "more than " : "", low, minimumExcluded ? ", " : " to ",
                        maximumExcluded   ? "less than "
                        : minimumExcluded ? "at most "
                                          : "",
                        high);
  if (hasMinimum)
    return minimumExcluded ? absl::StrCat("more than ", low) : absl::StrCat(low, " or more");
  return hasMaximum ? absl::StrCat("at most ", high) : "";
}

std::string Key::typeText() const {
  if (isMemorySize)
    return "a size such as 8 GiB, or auto";
  if (isPath)
    return "a path";
  if (!textType.empty())
    return textType;
  if (!choices.empty())
    return absl::StrCat(
        "one of ",
        absl::StrJoin(choices, ", ",
                      [](std::string *out, const Choice &choice) { out->append(choice.name); }),
        isNameOrFile ? ", or file:PATH" : "");
  if (elements)
    return "a list of maps";
  return std::visit(Overloaded{[](int64_t *) { return "an integer"; },                         //
                               [](double *) { return "a number"; },                            //
                               [](bool *) { return "true or false"; },                         //
                               [](std::string *) { return "text"; },                           //
                               [](std::optional<int64_t> *) { return "an integer, or auto"; }, //
                               [](std::optional<double> *) { return "a number, or auto"; },    //
                               [](std::array<double, 2> *) { return "a list of 2 numbers"; },  //
                               [](std::vector<int64_t> *) { return "a list of integers"; },    //
                               [](std::vector<std::string> *) { return "a list of texts"; },   //
                               [](ChoiceField) { return "a name"; },                           //
                               [](RecordsField) { return "a list of maps"; }},
                    fieldIn(const_cast<void *>(binding.defaults)));
}

std::string Key::defaultText() const {
  if (isRequired)
    return "required";
  return derivedFrom.empty() ? renderField(*this, binding.defaults) : derivedFrom;
}

//===----------------------------------------------------------------------===//
// Values as text
//===----------------------------------------------------------------------===//

static std::string renderRecords(const Key &key, const RecordsField &records) {
  std::vector<std::string> elements;
  for (size_t i = 0; i < records.size(records.member); ++i) {
    std::vector<std::string> values;
    for (const Key &element : *key.elements)
      values.push_back(absl::StrCat(element.path, ": ", renderField(element, records.at(records.member, i))));
    elements.push_back(absl::StrCat("{", absl::StrJoin(values, ", "), "}"));
  }
  return absl::StrCat("[", absl::StrJoin(elements, ", "), "]");
}

/// A name or number of a key that takes other text too stands for itself; all other text is in quotes.
static std::string renderText(const Key &key, const std::string &text) {
  const bool isPlain = key.isNameOrFile || !key.textType.empty();
  const bool isWord = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 0x80 && (absl::ascii_isalnum(c) || c == '_');
  });
  return isPlain && isWord ? text : quoteYaml(text);
}

std::string renderField(const Key &key, const void *object) {
  auto renderInteger = [&](int64_t value) {
    return key.isMemorySize ? textFromBytes(value) : absl::StrCat(value);
  };
  auto joinWith = [](const auto &list, auto render) {
    return absl::StrCat(
        "[",
        absl::StrJoin(list, ", ", [&](std::string *out, const auto &value) { out->append(render(value)); }),
        "]");
  };
  // Only read: the field is not written through.
  Field field = key.fieldIn(const_cast<void *>(object));
  return std::visit(
      Overloaded{
          [&](int64_t *value) { return renderInteger(*value); },
          [&](double *value) { return renderNumber(*value); },
          [&](bool *value) { return std::string(*value ? "true" : "false"); },
          [&](std::string *value) { return renderText(key, *value); },
          [&](std::optional<int64_t> *value) { return *value ? renderInteger(**value) : "auto"; },
          [&](std::optional<double> *value) { return *value ? renderNumber(**value) : "auto"; },
          [&](std::array<double, 2> *value) { return joinWith(*value, renderNumber); },
          [&](std::vector<int64_t> *value) { return joinWith(*value, renderInteger); },
          [&](std::vector<std::string> *value) { return joinWith(*value, quoteYaml); },
          [&](ChoiceField value) { return key.choices[static_cast<size_t>(value.get(value.member))].name; },
          [&](RecordsField value) { return renderRecords(key, value); }},
      field);
}

//===----------------------------------------------------------------------===//
// The whole table
//===----------------------------------------------------------------------===//

const std::vector<Key> &configSchema() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> all;
    for (std::vector<Key> part : {modelKeys(), dataKeys(), parallelKeys(), trainingKeys(), runKeys()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return keys;
}

const std::vector<Section> &configSections() {
  static const std::vector<Section> sections = {
      {"model", "What is trained: the keys of a Hugging Face config.json as they are, or a file with them, "
                "or a program."},
      {"model.rope_scaling", "How rotary frequencies are changed for long contexts."},
      {"tokenizer", "How text becomes token ids."},
      {"data", "What is read, and how it is cut into samples."},
      {"precision", "The types that values are rounded to."},
      {"precision.loss_scale", "Dynamic loss scaling, which keeps small fp16 gradients from vanishing."},
      {"parallel", "How many ranks share the work, and how: launch.ranks = data_replicate x data_shard x "
                   "tensor x context.size x pipeline.size."},
      {"parallel.context", "Ranks that share the positions of each sample, for sequences that one rank "
                           "cannot hold."},
      {"parallel.pipeline",
       "Ranks that have parts of the model each, and pass microbatches on to each other."},
      {"optimizer", "How gradients change parameters."},
      {"lr_schedule", "The learning rate of each step: a rise over the warmup, then the kind's own shape."},
      {"loss", "What is minimized besides the cross-entropy."},
      {"train", "The length and the batches of the run."},
      {"train.spike", "What is done when the loss jumps."},
      {"train.dump", "Named values of chosen steps, written for `weft compare`."},
      {"launch", "What the run uses of the machine."},
      {"launch.timeout", "How long ranks wait for each other."},
      {"checkpoint", "When the state is saved."},
      {"eval", "When the loss on held-out data is measured."},
      {"metrics", "What is reported."},
      {"generate", "How text is sampled from the trained model."},
  };
  return sections;
}

static const Key *findAmong(const std::vector<Key> &keys, const std::string &path) {
  for (const Key &key : keys) {
    if (key.path == path)
      return &key;
    std::string prefix = key.path + "[].";
    if (key.elements && path.compare(0, prefix.size(), prefix) == 0)
      if (const Key *found = findAmong(*key.elements, path.substr(prefix.size())))
        return found;
  }
  return nullptr;
}

const Key *findKey(const std::string &path) { return findAmong(configSchema(), path); }

} // namespace weft
