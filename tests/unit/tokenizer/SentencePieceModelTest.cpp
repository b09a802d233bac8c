//===- SentencePieceModelTest.cpp - Ids are those of the library ----------===//
//
// Models of every type, with and without byte fallback, trained here: whatever the text, SentencePieceModel
// gives the ids that the library gives for the model as it is.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/SentencePieceModel.h"
#include "runtime/tokenizer/SentencePieceFallback.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <array>
#include <random>
#include <string>
#include <vector>

using namespace weft;
using namespace std::string_literals;

namespace {

constexpr std::array<std::string_view, 6> sentences = {
    "hello world, the house at the river is the oldest of them all",
    "the other ones are a little newer, ①② and ﬁne",
    "rivers and houses and worlds of other people: hello to them",
    "ｆｕｌｌ width is read like this: full width",
    "they said that an é and an e\u0301 are the same to most readers",
    "numbers 1 22 333 of the oldest, the lowest!"};

/// The sentences, twenty times.
class Sentences final : public sentencepiece::SentenceIterator {
public:
  bool done() const override { return count == 20 * sentences.size(); }
  void Next() override { sentence = sentences[++count % sentences.size()]; }
  const std::string &value() const override { return sentence; }
  sentencepiece::util::Status status() const override { return {}; }

private:
  size_t count = 0;
  std::string sentence{sentences[0]};
};

std::string trained(const std::string &options) {
  std::string model;
  Sentences lines;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      "--hard_vocab_limit=false --num_threads=1 --minloglevel=2 " + options, &lines, &model);
  EXPECT_TRUE(status.ok()) << options << ": " << status.ToString();
  return model;
}

/// A model and the library with the same file.
struct Pair {
  SentencePieceModel model;
  sentencepiece::SentencePieceProcessor library;

  explicit Pair(const std::string &file) {
    EXPECT_EQ(model.load(file), "");
    const auto status = library.LoadFromSerializedProto(file);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  std::vector<int32_t> ids(std::string_view text) const {
    std::vector<int32_t> result;
    EXPECT_EQ(model.encode(text, result), "");
    return result;
  }

  /// The same ids, or the same error: models of words refuse a text that begins with a NUL, for example.
  void expectEqual(const std::string &text) const {
    std::vector<int32_t> result;
    std::vector<int> expected;
    const std::string problem = model.encode(text, result);
    const auto status = library.Encode(text, &expected);
    EXPECT_EQ(problem, status.ok() ? "" : status.ToString()) << testing::PrintToString(text);
    EXPECT_EQ(result, expected) << testing::PrintToString(text);
  }
};

/// Known and unknown characters, runs of either, combining ones, white space, malformed bytes, names of
/// pieces.
std::string randomText(std::mt19937 &random) {
  static const std::vector<std::string> parts = {
      "the",     "he",     "hello",  "<sep>",    "river", "e",      "s",           "é",
      "e\u0301", "\u0301", "中",     "中中中中", "😀",    "\u200b", "①",           "ﬁ",
      "ｆ",      "㌔",     "Ω",      "ß",        " ",     "   ",    "\n",          "\t",
      "\u00a0",  "\u3000", "\u2581", "\ufffd",   "\xff",  "\xe4",   "\xf0\x9f",    "<0x41>",
      "<0xE4>",  "<unk>",  "</s>",   "q",        "\0"s,   "한",     "\u1112\u1161"};
  std::string text;
  for (size_t rest = random() % 24; rest > 0; --rest) {
    const std::string &part = parts[random() % parts.size()];
    for (size_t times = random() % 4 == 0 ? 1 + random() % 6 : 1; times > 0; --times)
      text += part;
  }
  return text;
}

std::string withFlag(const std::string &name, bool value) {
  return " --" + name + (value ? "=true" : "=false");
}

TEST(SentencePieceModel, IdsAreThoseOfTheLibrary) {
  std::mt19937 random(34);
  for (const std::string type :
       {"bpe --vocab_size=150", "unigram --vocab_size=120", "char --vocab_size=90", "word --vocab_size=60"})
    for (const std::string normalizer : {"identity", "nmt_nfkc", "nfkc_cf"})
      for (int flags = 0; flags < 8; ++flags) {
        std::string options = "--model_type=" + type;
        options += " --normalization_rule_name=" + normalizer;
        options += withFlag("add_dummy_prefix", (flags & 1) != 0);
        options += withFlag("treat_whitespace_as_suffix", (flags & 2) != 0);
        options += withFlag("remove_extra_whitespaces", (flags & 4) != 0);
        if ((flags & 1) != 0)
          options += " --user_defined_symbols=<sep>,hello,中";
        // Fewer characters are known to every second model.
        if ((flags & 4) != 0)
          options += " --character_coverage=0.98";
        SCOPED_TRACE(options);
        const Pair pair(trained(options));
        EXPECT_EQ(pair.model.size(), pair.library.GetPieceSize());
        for (int count = 0; count < 400; ++count)
          pair.expectEqual(randomText(random));
        if (HasFailure())
          return;
      }
}

TEST(SentencePieceModel, ByteFallbackStays) {
  std::mt19937 random(35);
  const Pair pair(trained("--model_type=bpe --vocab_size=400 --byte_fallback=true"));
  EXPECT_EQ(pair.ids("中").size(), 4);
  for (int count = 0; count < 1000; ++count)
    pair.expectEqual(randomText(random));
}

TEST(SentencePieceModel, APieceMayBeCalledLikeAByte) {
  std::mt19937 random(36);
  for (const std::string type : {"bpe", "word"}) {
    const Pair pair(
        trained("--model_type=" + type + " --vocab_size=120 --user_defined_symbols=<0x41>,<0xE4>"));
    for (int count = 0; count < 1000; ++count)
      pair.expectEqual(randomText(random));
  }
}

// A text that has a control symbol in it, or "q", spells the symbol or the unknown piece.
TEST(SentencePieceModel, SpecialPiecesMayBeCharactersOfTexts) {
  std::mt19937 random(38);
  for (const std::string type : {"bpe", "unigram", "char", "word"}) {
    const Pair pair(trained("--model_type=" + type +
                            " --vocab_size=100 --unk_piece=q --control_symbols=Ω,</x> --unk_id=5"
                            " --user_defined_symbols=<sep>,中 --add_dummy_prefix=false"));
    for (const std::string &text : {"q"s, "qq"s, "中q中"s, "😀Ω😀"s, "Ω"s, "<unk>"s, "😀 q 😀"s})
      pair.expectEqual(text);
    for (int count = 0; count < 1000; ++count)
      pair.expectEqual(randomText(random));
  }
}

TEST(SentencePieceModel, EachIdIsThatOfTheModel) {
  const Pair pair(
      trained("--model_type=bpe --vocab_size=150 --user_defined_symbols=<sep> --unk_surface=[?] --unk_id=3"));
  EXPECT_EQ(pair.model.endId(), pair.library.eos_id());
  for (int32_t id = 0; id < pair.model.size(); ++id) {
    EXPECT_EQ(pair.model.spelling(id), pair.library.IdToPiece(id));
    EXPECT_EQ(pair.model.firstText(id), pair.library.DecodeIds(std::vector<int>{id}));
    EXPECT_EQ(pair.model.isUnknown(id), pair.library.IsUnknown(id));
    EXPECT_EQ(pair.model.isControl(id), pair.library.IsControl(id));
    EXPECT_FALSE(pair.model.isByte(id));
  }
}

// The library alone takes more than a minute for each of these.
TEST(SentencePieceModel, AMillionUnknownCharactersAreOneUnknownToken) {
  std::string text;
  for (int count = 0; count < 1'000'000; ++count)
    text += "中";
  for (const std::string type : {"bpe", "unigram"}) {
    const Pair pair(trained("--model_type=" + type + " --vocab_size=100 --add_dummy_prefix=false"));
    EXPECT_EQ(pair.ids(text), std::vector<int32_t>{pair.library.unk_id()}) << type;
  }
}

TEST(SentencePieceModel, SelfTestsHoldForTheModelAsItIs) {
  // Field 4: a message whose field 1 is a sample of two texts; "中" is unknown.
  const auto withSample = [](const std::string &model, const std::string &expected) {
    const std::string sample = "\x0A\x03中\x12"s + static_cast<char>(expected.size()) + expected;
    const std::string samples = "\x0A"s + static_cast<char>(sample.size()) + sample;
    return model + "\x22" + static_cast<char>(samples.size()) + samples;
  };
  const std::string model = trained("--model_type=bpe --vocab_size=100 --add_dummy_prefix=false");
  const Pair pair(withSample(model, "中"));
  EXPECT_EQ(pair.ids("中中"), std::vector<int32_t>{pair.library.unk_id()});
  EXPECT_NE(SentencePieceModel().load(withSample(model, "other")), "");
  EXPECT_EQ(withByteFallback(withSample(model, "中")), withByteFallback(model));
  // Behind a group they stay, and only the model as it is passes them.
  const Pair slow(withSample(model + "\x7B\x08\x01\x7C", "中"));
  for (const std::string &text : {"中中"s, "the 中中 river 中"s})
    slow.expectEqual(text);
}

TEST(SentencePieceModel, FieldsThatNobodyKnowsStay) {
  const std::string model = trained("--model_type=bpe --vocab_size=100");
  // Field 15 as each plain type on the wire, and as a group, which is not read further.
  for (const std::string &field :
       {"\x78\x05"s, "\x79"s + "12345678", "\x7A\x02hi"s, "\x7D"s + "1234", "\x7B\x08\x01\x7C"s}) {
    const Pair pair(model + field);
    EXPECT_TRUE(withByteFallback(model + field).starts_with(model + field));
    pair.expectEqual("the 中中 river");
  }
}

TEST(SentencePieceModel, AnyBytesAreRefusedOrRead) {
  std::mt19937 random(37);
  const std::string model = trained("--model_type=bpe --vocab_size=100");
  const size_t added = withByteFallback("").size();
  for (int count = 0; count < 2000; ++count) {
    std::string damaged = model.substr(0, random() % 4 == 0 ? random() % model.size() : model.size());
    for (size_t changes = random() % 8; changes > 0 && !damaged.empty(); --changes)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    EXPECT_LE(withByteFallback(damaged).size(), damaged.size() + added);
  }
  for (const std::string &bytes : {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s,
                                   "\x0A\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, "\x7D"s + "12"})
    EXPECT_NE(SentencePieceModel().load(bytes), "");
}

} // namespace
