//===- SchemaReference.cpp - The schema, to be read by people -------------===//
//
// A key's facts are gathered once, as label and text, and laid out for a terminal or for Markdown.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/SchemaReference.h"

#include "runtime/config/Schema.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/Nearest.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

#include <algorithm>

namespace weft {

namespace {
struct Fact {
  std::string label;
  std::string text;
};
} // namespace

static std::string conditionText(const Key &key) {
  return absl::StrJoin(key.conditions, " and ",
                       [](std::string *out, const Condition &condition) { out->append(condition.phrase()); });
}

static std::string resumeText(const Key &key) {
  if (key.mayChangeOnResume)
    return key.onChange.empty() ? "may change" : absl::StrCat("may change: ", key.onChange);
  return absl::StrCat("must stay: ", key.onChange);
}

static std::string typeWithUnit(const Key &key) {
  return key.unitText.empty() || key.isMemorySize ? key.typeText()
                                                  : absl::StrCat(key.typeText(), " (", key.unitText, ")");
}

static std::vector<Fact> factsOf(const Key &key) {
  std::vector<Fact> facts = {{"type", typeWithUnit(key)}};
  if (std::string range = key.rangeText(); !range.empty())
    facts.push_back({"range", range});
  facts.push_back({"default", key.defaultText()});
  if (!key.conditions.empty())
    facts.push_back({"used", absl::StrCat("only ", conditionText(key))});
  facts.push_back({"resume", resumeText(key)});
  return facts;
}

/// The section that a key belongs to: its path without the last name.
static std::string sectionOf(const Key &key) { return key.path.substr(0, key.path.rfind('.')); }

//===----------------------------------------------------------------------===//
// For a terminal
//===----------------------------------------------------------------------===//

static std::string explainKey(const std::string &path, const Key &key) {
  std::string text = absl::StrCat(path, "\n  ", key.doc, "\n");
  for (const Choice &choice : key.choices)
    absl::StrAppend(&text, "    ", choice.name, ": ", choice.doc, "\n");
  for (const Fact &fact : factsOf(key))
    absl::StrAppend(&text, "  ", fact.label, std::string(9 - fact.label.size(), ' '), fact.text, "\n");
  if (key.elements)
    for (const Key &element : *key.elements)
      absl::StrAppend(&text, explainKey(absl::StrCat(path, "[].", element.path), element));
  return text;
}

/// One key in the list of its section.
static std::string explainLine(std::string name, const std::string &doc, const std::string &defaultText) {
  constexpr size_t docColumn = 26;
  name.resize(std::max(name.size() + 2, docColumn), ' ');
  return absl::StrCat("    ", name, doc, " [", defaultText, "]\n");
}

static std::string explainSection(const Section &section) {
  std::string text = absl::StrCat(section.name, "\n  ", section.doc, "\n");
  if (section.name == "model")
    absl::StrAppend(&text, explainLine("from", modelFromDoc, "none"));
  for (const Key &key : configSchema()) {
    if (sectionOf(key) != section.name)
      continue;
    absl::StrAppend(&text, explainLine(key.path.substr(section.name.size() + 1), key.doc, key.defaultText()));
  }
  return text;
}

static std::vector<std::string> knownPaths() {
  std::vector<std::string> paths = {modelFromPath};
  for (const Section &section : configSections())
    paths.push_back(section.name);
  for (const Key &key : configSchema()) {
    paths.push_back(key.path);
    if (key.elements)
      for (const Key &element : *key.elements)
        paths.push_back(absl::StrCat(key.path, "[].", element.path));
  }
  return paths;
}

absl::StatusOr<std::string> explainPath(const std::string &path) {
  if (const Key *key = findKey(path))
    return explainKey(path, *key);
  if (path == modelFromPath)
    return absl::StrCat(path, "\n  ", modelFromDoc, "\n  type     a path\n  default  none\n");
  std::string text;
  for (const Section &section : configSections())
    if (section.name == path || section.name.compare(0, path.size() + 1, path + ".") == 0)
      absl::StrAppend(&text, explainSection(section));
  if (!text.empty())
    return text;
  std::vector<std::string> paths = knownPaths();
  std::optional<std::string> nearest = nearestWord(path, paths);
  // Most people remember the last name of a key, not its section.
  for (const std::string &known : paths)
    if (known.size() > path.size() &&
        known.compare(known.size() - path.size() - 1, std::string::npos, "." + path) == 0)
      nearest = known;
  std::string message = absl::StrCat(path, ": no such key or section.",
                                     nearest ? absl::StrCat(" Did you mean ", *nearest, "?")
                                             : " `weft config explain` lists all.");
  return withExitCode(absl::InvalidArgumentError(message), ExitCode::Config);
}

std::string explainAll() {
  std::string text;
  for (const Section &section : configSections())
    absl::StrAppend(&text, text.empty() ? "" : "\n", explainSection(section));
  return text;
}

//===----------------------------------------------------------------------===//
// For docs/config.md
//===----------------------------------------------------------------------===//

static std::string cell(const std::string &text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}});
}

static void appendRow(std::string &text, const std::string &name, const Key &key) {
  std::string meaning = key.doc;
  for (const Choice &choice : key.choices)
    absl::StrAppend(&meaning, "<br>`", choice.name, "`: ", choice.doc);
  // What holds for a whole section is said in its text.
  for (const Condition &condition : key.conditions)
    if (condition.path != "model.program")
      absl::StrAppend(&meaning, "<br>Only ", condition.phrase(), ".");
  std::string type = key.choices.empty() ? typeWithUnit(key)
                     : key.isNameOrFile  ? "a name, or file:PATH"
                                         : "a name";
  if (std::string range = key.rangeText(); !range.empty())
    absl::StrAppend(&type, ", ", range);
  std::string defaultText = key.defaultText();
  if (!key.isRequired && key.derivedFrom.empty())
    defaultText = absl::StrCat("`", defaultText, "`");
  absl::StrAppend(&text, "| `", name, "` | ", cell(type), " | ", cell(defaultText), " | ", cell(meaning),
                  " |\n");
  if (key.elements)
    for (const Key &element : *key.elements)
      appendRow(text, absl::StrCat(name, "[].", element.path), element);
}

static void appendResumeRow(std::string &text, const std::string &path, const Key &key) {
  // What happens to a list is said at the keys of its elements too.
  absl::StrAppend(&text, "| `", path, "` | ", key.mayChangeOnResume ? "yes" : "no", " | ", cell(key.onChange),
                  " |\n");
  if (key.elements)
    for (const Key &element : *key.elements)
      appendResumeRow(text, absl::StrCat(path, "[].", element.path), element);
}

static constexpr char referenceStart[] =
    R"(# Run files

<!-- Generated by `weft config explain --markdown`; a test holds it against the schema. -->

A run is one YAML file. `weft config check FILE` says what is wrong with one, `weft config show FILE` prints it with every
value filled in and where each came from, `weft config explain KEY` says what a key means, and `weft config schema` prints
a JSON Schema for editors.

* `--set a.b=c` overrides any key; `c` is YAML, an element of a list is `data.train[0].weight`, and a map is merged key by
  key. Setting a key twice is refused.
* Refused, with the line and what would work: unknown keys, duplicate keys, a second document, anchors, aliases and tags,
  numbers that look octal (`010`), values of another type or out of their range, values that do not agree with each other.
* A key that the chosen kinds do not use is reported as a warning.
* Paths are relative to the folder of the run file, also in `--set`.
* Patterns over names are shell patterns: `*` is any text, `?` one character, `[ab]` one of these.

`model` takes the keys of a Hugging Face `config.json` of its family as they are ([models](models.md)). `model.from: path/config.json`
reads them from such a file, and keys written beside it win. A key that is not given has the family's default in transformers.
`model_type` is `family`, `rope_parameters` is `rope_scaling` (its `rope_theta` is `model.rope_theta`), and `type` is `rope_type`.
Keys that describe the file and not the model (`architectures`, `torch_dtype`, `bos_token_id`, `use_cache`, ...) are passed over; a
key that weft, or the family, does not know is refused, because it may change the model.
)";

std::string referenceMarkdown() {
  std::string text = referenceStart;
  for (const Section &section : configSections()) {
    absl::StrAppend(&text, "\n## ", section.name, "\n\n", section.doc, "\n\n",
                    "| key | type and range | default | meaning |\n|---|---|---|---|\n");
    if (section.name == "model")
      absl::StrAppend(&text, "| `from` | a path | none | ", modelFromDoc, " |\n");
    for (const Key &key : configSchema())
      if (sectionOf(key) == section.name)
        appendRow(text, key.path.substr(section.name.size() + 1), key);
  }
  absl::StrAppend(
      &text, "\n## What may change on resume\n\n",
      "A run that resumes from a checkpoint compares its keys with those of the checkpoint. A difference is "
      "printed;\none in a key that must stay is refused, with the value to go back to.\n\n",
      "| key | may change | if it does |\n|---|---|---|\n");
  for (const Key &key : configSchema())
    appendResumeRow(text, key.path, key);
  return text;
}

} // namespace weft
