//===- WellKnownSplitter.cpp - Which patterns have a matcher --------------===//
//
// The texts of the patterns, letter by letter as the tokenizers' files and packages have them, with the
// matcher that does the same. A pattern that is spelled in any other way is not among them.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/DeepSeekMatcher.h"
#include "runtime/tokenizer/PatternMatcher.h"
#include "runtime/tokenizer/Splitter.h"

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

#include <algorithm>

namespace weft {
namespace {

template <class Matcher> class MatcherSplitter final : public Splitter {
public:
  absl::StatusOr<size_t> split(std::string_view text, size_t position, std::span<Piece> pieces,
                               Scratch *) const override {
    const Matcher matcher(text, table);
    size_t count = 0;
    for (; count < pieces.size() && position < text.size(); ++count) {
      const size_t end = matcher.next(position);
      pieces[count] = {position, end};
      position = end;
    }
    return count;
  }

  /// Before a symbol or white space behind a letter a piece ends in every one of the patterns, and none of
  /// the pieces before looks further than to there. An apostrophe may continue the word.
  size_t independentPrefix(std::string_view text) const override {
    for (size_t position = text.size(); position-- > 1;) {
      const auto byte = static_cast<unsigned char>(text[position]);
      if ((byte & 0xC0) == 0x80 || byte == '\'')
        continue;
      const Character character = table.at(text, position);
      const bool isWellFormed = byte < 0x80 || character.bytes > 1;
      if (isWellFormed && (character.sets & (Symbol | WhiteSpace)) && isLetterBefore(text, position))
        return position;
    }
    return 0;
  }

private:
  bool isLetterBefore(std::string_view text, size_t position) const {
    for (size_t bytes = 1; bytes <= 4 && bytes <= position; ++bytes) {
      const Character character = table.at(text, position - bytes);
      if (character.bytes == bytes)
        return (character.sets & Letter) != 0;
    }
    return false;
  }

  const CharacterTable &table = CharacterTable::get();
};

template <class Matcher> std::unique_ptr<Splitter> create() {
  return std::make_unique<MatcherSplitter<Matcher>>();
}

constexpr SplitPattern gpt2 = {.contractions = Contractions::Lower,
                               .hasAnyPrefix = false,
                               .digits = 0,
                               .hasLineBreakTail = false,
                               .endsAtLineBreak = false};
constexpr SplitPattern llama3 = {};
constexpr SplitPattern cl100k = {.joinsFinalSpace = true};
constexpr SplitPattern qwen2 = {.digits = 1};
constexpr SplitPattern o200k = {
    .contractions = Contractions::AtWordsEnd, .isCased = true, .hasSlashTail = true};
constexpr SplitPattern tekken = {
    .contractions = Contractions::None, .isCased = true, .digits = 1, .hasSlashTail = true};

/// The pattern with the characters themselves for `\r` and `\n`.
std::string withLineBreaks(const std::string &pattern) {
  return absl::StrReplaceAll(pattern, {{R"(\r)", "\r"}, {R"(\n)", "\n"}});
}

struct WellKnown {
  std::string_view name;
  bool isRustOnly;
  std::vector<std::string> patterns;
  std::unique_ptr<Splitter> (*create)();

  bool isOf(RegexDialect dialect) const { return !isRustOnly || dialect == RegexDialect::Rust; }
};

const std::vector<WellKnown> &wellKnown() {
  static const std::vector<WellKnown> all = [] {
    const std::string tail = R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
    const std::string word = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)";
    const std::string contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
    const std::string small =
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)";
    const std::string capital =
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)";
    const std::string symbols = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*)", slashed = R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*)";
    return std::vector<WellKnown>{
        {"gpt2",
         false,
         {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
         create<PatternMatcher<gpt2>>},
        {"gpt2",
         true,
         {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s)"},
         create<PatternMatcher<gpt2>>},
        {"llama3", false, {word + R"(\p{N}{1,3})" + symbols + tail}, create<PatternMatcher<llama3>>},
        {"cl100k",
         true,
         {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s)"},
         create<PatternMatcher<cl100k>>},
        {"qwen2", false, {word + R"(\p{N})" + symbols + tail}, create<PatternMatcher<qwen2>>},
        {"o200k",
         false,
         {small + contraction + "|" + capital + contraction + R"(|\p{N}{1,3})" + slashed + tail},
         create<PatternMatcher<o200k>>},
        {"tekken",
         false,
         {small + "|" + capital + R"(|\p{N})" + slashed + tail},
         create<PatternMatcher<tekken>>},
        {"deepseek",
         false,
         {R"(\p{N}{1,3})", "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+",
          withLineBreaks(
              R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*)" +
              tail)},
         create<DeepSeekMatcher>},
    };
  }();
  return all;
}

} // namespace

std::unique_ptr<Splitter> createWellKnownSplitter(std::span<const std::string> patterns,
                                                  RegexDialect dialect) {
  for (const WellKnown &known : wellKnown())
    if (known.isOf(dialect) && std::ranges::equal(known.patterns, patterns))
      return known.create();
  return nullptr;
}

std::string wellKnownPatternNames(RegexDialect dialect) {
  std::vector<std::string> names;
  for (const WellKnown &known : wellKnown())
    if (known.isOf(dialect) && known.patterns.size() == 1 &&
        std::ranges::find(names, known.name) == names.end())
      names.emplace_back(known.name);
  return absl::StrJoin(names, ", ");
}

std::string_view wellKnownPattern(std::string_view name, RegexDialect dialect) {
  for (const WellKnown &known : wellKnown())
    if (known.isOf(dialect) && known.name == name && known.patterns.size() == 1)
      return known.patterns.front();
  return {};
}

} // namespace weft
