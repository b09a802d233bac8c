//===- ReferenceTest.cpp - The schema, its document and its JSON form -----===//
#include "ConfigTestSupport.h"

#include "runtime/config/Schema.h"
#include "runtime/config/SchemaReference.h"
#include "runtime/support/FileText.h"

#include <nlohmann/json.hpp>

#include <set>

namespace weft {

using testing::HasSubstr;
using Json = nlohmann::json;

TEST(Schema, EveryKeyIsOnceInAKnownSection) {
  std::set<std::string> sections, seen;
  for (const Section &section : configSections())
    sections.insert(section.name);
  for (const Key &key : configSchema()) {
    EXPECT_TRUE(seen.insert(key.path).second) << key.path;
    EXPECT_TRUE(sections.count(key.path.substr(0, key.path.rfind('.')))) << key.path;
    EXPECT_TRUE(key.doc.ends_with('.')) << key.path << " is documented by a sentence";
    for (const Condition &condition : key.conditions)
      EXPECT_NE(findKey(condition.path), nullptr) << key.path << " depends on " << condition.path;
    EXPECT_TRUE(key.mayChangeOnResume || !key.onChange.empty()) << key.path << " says why it must stay";
  }
}

TEST(Schema, EveryDefaultIsInItsRangeAndAmongItsChoices) {
  for (const Key &key : configSchema()) {
    if (key.isRequired || !key.derivedFrom.empty())
      continue;
    Config config;
    Field field = key.fieldIn(&config);
    if (const auto *integer = std::get_if<int64_t *>(&field))
      EXPECT_TRUE(key.inRange(static_cast<double>(**integer))) << key.path;
    if (const auto *number = std::get_if<double *>(&field))
      EXPECT_TRUE(key.inRange(**number)) << key.path;
    if (const auto *choice = std::get_if<ChoiceField>(&field))
      EXPECT_LT(static_cast<size_t>(choice->get(choice->member)), key.choices.size()) << key.path;
  }
}

TEST(Schema, EveryChoiceCanBeLoadedAndIsWrittenBack) {
  for (const Key &key : configSchema())
    for (const Choice &choice : key.choices) {
      Overrides overrides = {key.path + "=" + choice.name, "lr_schedule.decay_steps=1"};
      if (key.path == "model.family") // defaults of families that do not go with four heads, or at all
        overrides.insert(overrides.end(), {"model.num_key_value_heads=null", "model.attention_dropout=0"});
      else
        overrides.push_back("model.rope_scaling.factor=2");
      absl::StatusOr<LoadedConfig> loaded = loadSmall(overrides);
      ASSERT_TRUE(loaded.ok()) << loaded.status();
      EXPECT_EQ(renderField(key, &loaded->config), choice.name);
    }
}

TEST(ConfigDocument, IsTheOneThatTheSchemaGenerates) {
  absl::StatusOr<std::string> document = readFileText(WEFT_SOURCE_DIR "/docs/config.md", 1 << 20);
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(*document, referenceMarkdown()) << "run: weft config explain --markdown > docs/config.md";
}

TEST(Explain, Key) {
  absl::StatusOr<std::string> text = explainPath("lr_schedule.decay_steps");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "lr_schedule.decay_steps\n"
                   "  Length of the decay at the end.\n"
                   "  type     an integer (steps)\n"
                   "  range    1 to 2147483647\n"
                   "  default  required\n"
                   "  used     only with lr_schedule.kind = wsd\n"
                   "  resume   may change: the rest of the schedule has the new shape\n");
}

TEST(Explain, ListWithTheKeysOfItsElements) {
  absl::StatusOr<std::string> text = explainPath("data.train");
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("data.train[].weight\n"));
  EXPECT_TRUE(explainPath("data.train[].weight").ok());
  EXPECT_TRUE(explainPath("data.stages[].train[].weight").ok());
}

TEST(Explain, SectionWithTheOnesInsideIt) {
  absl::StatusOr<std::string> text = explainPath("train");
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text,
              HasSubstr("    steps                     Optimizer steps of the whole run. [required]\n"));
  EXPECT_THAT(*text, HasSubstr("train.spike\n"));
  EXPECT_THAT(explainAll(), HasSubstr(*explainPath("eval")));
}

TEST(Explain, TheKeyThatIsReplacedByAFile) {
  EXPECT_EQ(*explainPath("model.from"),
            "model.from\n"
            "  A Hugging Face config.json whose keys are taken; keys written beside it "
            "win.\n"
            "  type     a path\n"
            "  default  none\n");
  EXPECT_THAT(*explainPath("model"), HasSubstr("    from                      A Hugging Face config.json"));
}

TEST(Explain, UnknownPathWithTheNearest) {
  EXPECT_EQ(explainPath("train.stesp").status().message(),
            "train.stesp: no such key or section. Did you mean train.steps?");
  EXPECT_EQ(explainPath("warmup_steps").status().message(),
            "warmup_steps: no such key or section. Did you mean lr_schedule.warmup_steps?");
  EXPECT_EQ(explainPath("something_else_entirely").status().message(),
            "something_else_entirely: no such key or section. `weft config explain` lists all.");
}

/// The part of a JSON Schema that describes a path.
static const Json *schemaAt(const Json &root, std::string path) {
  const Json *node = &root;
  for (size_t dot; !path.empty(); path = dot == std::string::npos ? "" : path.substr(dot + 1)) {
    dot = path.find('.');
    std::string name = path.substr(0, dot);
    if (!node->contains("properties") || !(*node)["properties"].contains(name))
      return nullptr;
    node = &(*node)["properties"][name];
  }
  return node;
}

TEST(JsonSchema, HoldsEveryKeyWithItsRangeAndChoices) {
  Json root = Json::parse(jsonSchema());
  for (const Key &key : configSchema()) {
    const Json *schema = schemaAt(root, key.path);
    ASSERT_NE(schema, nullptr) << key.path;
    EXPECT_TRUE((*schema)["description"].get<std::string>().starts_with(key.doc)) << key.path;
    const Json &names = key.isNameOrFile ? (*schema)["anyOf"][0] : *schema;
    if (!key.choices.empty())
      EXPECT_EQ(names["enum"].size(), key.choices.size()) << key.path;
  }
  EXPECT_EQ((*schemaAt(root, "train.steps"))["minimum"], 1);
  EXPECT_EQ((*schemaAt(root, "loss.label_smoothing"))["exclusiveMaximum"], 1);
  EXPECT_EQ((*schemaAt(root, "lr_schedule.kind"))["default"], "constant");
  EXPECT_EQ((*schemaAt(root, "train"))["required"], Json({"steps", "micro_batch", "global_batch"}));
  EXPECT_EQ((*schemaAt(root, "data.train"))["items"]["required"], Json({"path"}));
  EXPECT_EQ((*schemaAt(root, "train"))["additionalProperties"], false);
  EXPECT_EQ((*schemaAt(root, "parallel.pipeline.schedule"))["anyOf"][1]["pattern"], "^file:.");
  EXPECT_EQ((*schemaAt(root, "parallel.pipeline.layout"))["type"], Json({"integer", "string"}));
}

} // namespace weft
