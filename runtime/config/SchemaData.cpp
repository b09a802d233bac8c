//===- SchemaData.cpp - The keys of `tokenizer`, `data` and `precision` ---===//
//
// What goes into a step, and the types that its values are rounded to.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/Schema.h"

namespace weft {

/// The keys of one map of data.train.
static const std::vector<Key> &dataSourceKeys() {
  static const std::vector<Key> keys = {
      Key("path", fieldOf<&DataSource::path>(),
          "A text or JSONL file, a folder of them, or the prefix of a prepared .bin/.idx pair.")
          .filePath()
          .required()
          .mayChange("its content must be that of the checkpoint's run: checksums are compared"),
      Key("weight", fieldOf<&DataSource::weight>(),
          "Share of this source in the samples, relative to the others.")
          .above(0)
          .atMost(1e9)
          .mustStay("the samples of each step would be others"),
  };
  return keys;
}

/// The keys of one map of tokenizer.special_tokens.
static const std::vector<Key> &specialTokenKeys() {
  static const std::vector<Key> keys = {
      Key("token", fieldOf<&SpecialTokenConfig::token>(), "How the token is written.")
          .required()
          .mustStay("token ids would mean other text"),
      Key("id", fieldOf<&SpecialTokenConfig::id>(), "Its id, which no token of the file has.")
          .required()
          .atLeast(0)
          .atMost(16777214)
          .mustStay("token ids would mean other text"),
  };
  return keys;
}

/// The keys of one map of data.stages.
static const std::vector<Key> &stageKeys() {
  static const std::vector<Key> keys = {
      Key("tokens", fieldOf<&StageConfig::tokens>(),
          "Tokens of the run, padding included, after which the next stage follows, up to a whole sample. "
          "The last stage has none (0): it goes on to the end of the run.")
          .unit("tokens")
          .atLeast(0)
          .atMost(9007199254740992)
          .mustStay("the samples of each step would be others"),
      Key("train", fieldOf<&StageConfig::train>(), "The sources that are mixed, as in data.train.")
          .elementKeys(dataSourceKeys())
          .required()
          .mustStay("the samples of each step would be others"),
  };
  return keys;
}

static void addTokenizerKeys(std::vector<Key> &keys) {
  const auto add = [&](std::string name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("tokenizer." + name, binding, std::move(doc))
        .mustStay("token ids would mean other text");
  };
  using Tokenizer = TokenizerConfig;
  constexpr auto tokenizer = &Config::tokenizer;
  add("kind", fieldOf<tokenizer, &Tokenizer::kind>(), "The tokenizer where there is no file of one.")
      .choice("bytes", "ids 0 to 255 are the bytes of UTF-8, 256 ends a document: a vocabulary of 257")
      .usedWithout("tokenizer.file");
  add("file", fieldOf<tokenizer, &Tokenizer::file>(),
      "A trained tokenizer: tokenizer.json, tekken.json, a SentencePiece model or a tiktoken file. The "
      "content "
      "says what it is, not the name.")
      .filePath()
      .mayChange("its content must be that of the checkpoint's run: checksums are compared");
  add("pattern", fieldOf<tokenizer, &Tokenizer::pattern>(),
      "How text is split before it is encoded, for a file that does not say it (tiktoken): the regular "
      "expression, or gpt2, llama3, cl100k, qwen2, o200k or tekken.")
      .usedWithAny("tokenizer.file");
  add("special_tokens", fieldOf<tokenizer, &Tokenizer::specialTokens>(),
      "Tokens beside those of the file, for a file that does not have them (tiktoken).")
      .elementKeys(specialTokenKeys())
      .usedWithAny("tokenizer.file");
  add("end_of_document", fieldOf<tokenizer, &Tokenizer::endOfDocument>(),
      "The token that ends each document; \"\": <|endoftext|>, or the only special token there is.")
      .usedWithAny("tokenizer.file");
}

static void addDataKeys(std::vector<Key> &keys) {
  const std::string otherData = "the samples of each step would be others";
  keys.push_back(
      Key("data.train", fieldOf<&Config::data, &DataConfig::train>(), "The sources that are mixed.")
          .elementKeys(dataSourceKeys())
          .required()
          .usedWithout("data.stages")
          .mustStay(otherData));
  keys.push_back(Key("data.stages", fieldOf<&Config::data, &DataConfig::stages>(),
                     "What is mixed one after the other, in place of data.train: as for annealing. A source "
                     "that several stages name goes on in each where it was.")
                     .elementKeys(stageKeys())
                     .mustStay(otherData));
  keys.push_back(Key("data.validation_fraction", fieldOf<&Config::data, &DataConfig::validationFraction>(),
                     "Part of each source that is held out for evaluation; 0: none.")
                     .atLeast(0)
                     .atMost(0.5)
                     .mustStay("data held out until now would be trained on, or the reverse"));
  keys.push_back(Key("data.sequence_length", fieldOf<&Config::data, &DataConfig::sequenceLength>(),
                     "Length of one sample.")
                     .unit("tokens")
                     .required()
                     .atLeast(1)
                     .atMost(1 << 24)
                     .mustStay(otherData));
  keys.push_back(
      Key("data.packing", fieldOf<&Config::data, &DataConfig::packing>(), "How documents become samples.")
          .choice("split", "documents are joined, an end-of-document token after each, and cut into samples")
          .choice("documents", "as split, and each document is alone: attention ends and positions begin at "
                               "its border, and its last token has no target")
          .choice("best_fit", "documents that fit into a sample stay whole: samples are filled with those "
                              "that fill them best; each document is alone")
          .choice("pad", "a document a sample, and padding; longer ones are cut")
          .mustStay(otherData));
}

static void addPrecisionKeys(std::vector<Key> &keys) {
  using Scale = LossScaleConfig;
  constexpr auto scale = &PrecisionConfig::lossScale;
  keys.push_back(
      Key("precision.recipe", fieldOf<&Config::precision, &PrecisionConfig::recipe>(),
          "Which types are used where.")
          .choice("fp32", "everything in float32")
          .choice("bf16", "products and activations in bfloat16; parameters, sums, gradients and optimizer "
                          "state in float32")
          .choice("fp16", "as bf16 with float16, and dynamic loss scaling")
          .mustStay("the state of the checkpoint has other types"));
  auto add = [&](std::string name, FieldBinding binding, std::string doc) -> Key & {
    return keys.emplace_back("precision.loss_scale." + name, binding, std::move(doc))
        .usedWith("precision.recipe", {"fp16"})
        .mayChange();
  };
  add("initial", fieldOf<&Config::precision, scale, &Scale::initial>(),
      "Factor on the loss at the first step.")
      .atLeast(1)
      .atMost(16777216)
      .mayChange("the checkpoint's current scale is kept");
  add("growth_factor", fieldOf<&Config::precision, scale, &Scale::growthFactor>(),
      "The scale grows by this factor after growth_interval finite steps in a row.")
      .atLeast(1)
      .atMost(1024);
  add("backoff_factor", fieldOf<&Config::precision, scale, &Scale::backoffFactor>(),
      "The scale shrinks by this factor at a step whose gradients are not finite; that step is skipped.")
      .above(0)
      .below(1);
  add("growth_interval", fieldOf<&Config::precision, scale, &Scale::growthInterval>(),
      "Finite steps in a row before the scale grows.")
      .unit("steps")
      .atLeast(1)
      .atMost(2147483647);
}

std::vector<Key> dataKeys() {
  std::vector<Key> keys;
  addTokenizerKeys(keys);
  addDataKeys(keys);
  addPrecisionKeys(keys);
  return keys;
}

} // namespace weft
