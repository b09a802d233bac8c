//===- PreTokenizer.cpp - The pre_tokenizer of a tokenizer.json -----------===//
//
// Each kind is a class; the table at the end names them. What a file asks for beyond them is refused.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/PreTokenizer.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/ByteAlphabet.h"
#include "runtime/tokenizer/CharacterKinds.h"
#include "runtime/tokenizer/CharacterTable.h"
#include "runtime/tokenizer/MetaspaceFields.h"
#include "runtime/tokenizer/SplitBehavior.h"
#include "runtime/tokenizer/TextPattern.h"

#include "absl/status/status.h"

#include "absl/strings/str_replace.h"

#include <utility>

namespace weft {
namespace {

/// What GPT-2 split by, and ByteLevel splits by unless it is told not to.
constexpr std::string_view byteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Split, and the pattern of ByteLevel.
class PatternSplit final : public PreTokenizer {
public:
  PatternSplit(TextPattern pattern, SplitBehavior behavior, bool isInverted)
      : pattern(std::move(pattern)), behavior(behavior), isInverted(isInverted) {}

  absl::Status split(TextPiece piece, Regex::Scratch &scratch, EmitPiece emit) const override {
    SegmentJoiner joiner(piece, behavior, emit);
    absl::Status status = pattern.forEachSegment(piece.text, piece.isWellFormed, scratch,
                                                 [&](size_t begin, size_t end, bool isMatch) {
                                                   return joiner.add(begin, end, isMatch != isInverted);
                                                 });
    return status.ok() ? joiner.finish() : status;
  }

  std::string_view isolatedPattern() const override {
    return behavior == SplitBehavior::Isolated ? pattern.regexText() : std::string_view();
  }

private:
  TextPattern pattern;
  SplitBehavior behavior;
  bool isInverted;
};

/// Digits, Punctuation, WhitespaceSplit: single characters of a kind are the matches.
class KindSplit final : public PreTokenizer {
public:
  using IsOfKind = bool (*)(char32_t);

  KindSplit(IsOfKind isOfKind, SplitBehavior behavior) : isOfKind(isOfKind), behavior(behavior) {}

  absl::Status split(TextPiece piece, Regex::Scratch &, EmitPiece emit) const override {
    const CharacterTable &table = CharacterTable::get();
    SegmentJoiner joiner(piece, behavior, emit);
    size_t reported = 0;
    for (size_t position = 0; position < piece.text.size();) {
      const Character next = table.at(piece.text, position);
      const size_t begin = std::exchange(position, position + next.bytes);
      if (!isOfKind(next.code))
        continue;
      if (reported != begin)
        if (absl::Status status = joiner.add(reported, begin, false); !status.ok())
          return status;
      if (absl::Status status = joiner.add(begin, position, true); !status.ok())
        return status;
      reported = position;
    }
    if (reported != piece.text.size())
      if (absl::Status status = joiner.add(reported, piece.text.size(), false); !status.ok())
        return status;
    return joiner.finish();
  }

private:
  IsOfKind isOfKind;
  SplitBehavior behavior;
};

/// Whitespace: words, and runs of what is neither word nor space; spaces are dropped.
class WordSplit final : public PreTokenizer {
public:
  absl::Status split(TextPiece piece, Regex::Scratch &, EmitPiece emit) const override {
    const CharacterTable &table = CharacterTable::get();
    enum class Kind { Space, Word, Other };
    const auto kindOf = [](char32_t code) {
      return isSpaceCharacter(code) ? Kind::Space : isWordCharacter(code) ? Kind::Word : Kind::Other;
    };
    size_t begin = 0;
    Kind kind = Kind::Space;
    const auto flush = [&](size_t end) {
      const bool isPiece = kind != Kind::Space && begin != end;
      return isPiece ? emit(piece.part(begin, end)) : absl::OkStatus();
    };
    for (size_t position = 0; position < piece.text.size();) {
      const Character next = table.at(piece.text, position);
      const Kind nextKind = kindOf(next.code);
      if (nextKind != kind) {
        if (absl::Status status = flush(position); !status.ok())
          return status;
        begin = position;
        kind = nextKind;
      }
      position += next.bytes;
    }
    return flush(piece.text.size());
  }
};

/// ByteLevel with add_prefix_space.
class PrefixSpace final : public PreTokenizer {
public:
  absl::Status split(TextPiece piece, Regex::Scratch &, EmitPiece emit) const override {
    if (piece.text.starts_with(' '))
      return emit(piece);
    const std::string text = concat(" ", piece.text);
    return emit({text, piece.isFirst, piece.isWellFormed});
  }
};

/// ByteLevel where more pre-tokenizers follow.
class BytesToAlphabet final : public PreTokenizer {
public:
  absl::Status split(TextPiece piece, Regex::Scratch &, EmitPiece emit) const override {
    const std::string text = toByteAlphabet(piece.text);
    return emit({text, piece.isFirst, piece.isWellFormed});
  }
};

class Metaspace final : public PreTokenizer {
public:
  enum class Prepend { Always, First, Never };

  Metaspace(std::string replacement, Prepend prepend, bool splits)
      : replacement(std::move(replacement)), prepend(prepend), splits(splits) {}

  absl::Status split(TextPiece piece, Regex::Scratch &, EmitPiece emit) const override {
    std::string text = absl::StrReplaceAll(abslView(piece.text), {{" ", replacement}});
    const bool prepends = prepend == Prepend::Always || (prepend == Prepend::First && piece.isFirst);
    if (prepends && !text.starts_with(replacement))
      text.insert(0, replacement);
    const TextPiece rewritten = {text, piece.isFirst, piece.isWellFormed};
    if (!splits)
      return emit(rewritten);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(replacement, begin + 1), text.size());
      if (absl::Status status = emit(rewritten.part(begin, end)); !status.ok())
        return status;
      begin = end;
    }
    return absl::OkStatus();
  }

private:
  std::string replacement;
  Prepend prepend;
  bool splits;
};

using Stages = std::vector<std::unique_ptr<PreTokenizer>>;

absl::StatusOr<SplitBehavior> behaviorOf(const JsonFields &fields, std::string_view fallback) {
  absl::StatusOr<std::string> name =
      fallback.empty() ? fields.text("behavior") : fields.textOr("behavior", fallback);
  if (!name.ok())
    return name.status();
  std::optional<SplitBehavior> behavior = splitBehaviorOf(*name);
  if (!behavior.has_value())
    return fields.error("behavior", concat("\"", *name,
                                           "\" is none of Removed, Isolated, MergedWithPrevious, "
                                           "MergedWithNext, Contiguous"));
  return *behavior;
}

absl::Status addSplit(const JsonFields &fields, PreTokenizers &to) {
  if (absl::Status status = fields.expectOnly({"type", "pattern", "behavior", "invert"}); !status.ok())
    return status;
  absl::StatusOr<TextPattern> pattern = TextPattern::read(fields);
  absl::StatusOr<SplitBehavior> behavior = behaviorOf(fields, "");
  absl::StatusOr<bool> isInverted = fields.flagOr("invert", false);
  for (const absl::Status &status : {pattern.status(), behavior.status(), isInverted.status()})
    if (!status.ok())
      return status;
  to.stages.push_back(std::make_unique<PatternSplit>(*std::move(pattern), *behavior, *isInverted));
  return absl::OkStatus();
}

absl::Status addByteLevel(const JsonFields &fields, PreTokenizers &to) {
  if (absl::Status status = fields.expectOnly({"type", "add_prefix_space", "trim_offsets", "use_regex"});
      !status.ok())
    return status;
  absl::StatusOr<bool> addsSpace = fields.flagOr("add_prefix_space", true);
  absl::StatusOr<bool> usesRegex = fields.flagOr("use_regex", true);
  for (const absl::Status &status : {addsSpace.status(), usesRegex.status()})
    if (!status.ok())
      return status;
  if (*addsSpace)
    to.stages.push_back(std::make_unique<PrefixSpace>());
  if (*usesRegex) {
    absl::StatusOr<TextPattern> pattern = TextPattern::ofRegex(byteLevelPattern);
    if (!pattern.ok())
      return pattern.status();
    to.stages.push_back(std::make_unique<PatternSplit>(*std::move(pattern), SplitBehavior::Isolated, false));
  }
  to.endsInBytes = true;
  return absl::OkStatus();
}

absl::Status addKindSplit(const JsonFields &fields, std::string_view type, PreTokenizers &to) {
  if (type == "WhitespaceSplit") {
    to.stages.push_back(std::make_unique<KindSplit>(&isSpaceCharacter, SplitBehavior::Removed));
    return fields.expectOnly({"type"});
  }
  if (type == "Digits") {
    absl::StatusOr<bool> individual = fields.flagOr("individual_digits", false);
    if (!individual.ok())
      return individual.status();
    to.stages.push_back(std::make_unique<KindSplit>(
        &isNumericCharacter, *individual ? SplitBehavior::Isolated : SplitBehavior::Contiguous));
    return fields.expectOnly({"type", "individual_digits"});
  }
  absl::StatusOr<SplitBehavior> behavior = behaviorOf(fields, "Isolated");
  if (!behavior.ok())
    return behavior.status();
  to.stages.push_back(std::make_unique<KindSplit>(&isPunctuationCharacter, *behavior));
  return fields.expectOnly({"type", "behavior"});
}

absl::Status addMetaspace(const JsonFields &fields, PreTokenizers &to) {
  absl::StatusOr<MetaspaceFields> read = MetaspaceFields::read(fields);
  if (!read.ok())
    return read.status();
  const Metaspace::Prepend prepend = read->scheme == "always"  ? Metaspace::Prepend::Always
                                     : read->scheme == "first" ? Metaspace::Prepend::First
                                                               : Metaspace::Prepend::Never;
  to.stages.push_back(std::make_unique<Metaspace>(read->replacement, prepend, read->splits));
  return absl::OkStatus();
}

absl::Status add(const JsonFields &fields, int depth, PreTokenizers &to);

absl::Status addSequence(const JsonFields &fields, int depth, PreTokenizers &to) {
  absl::StatusOr<std::vector<JsonFields>> all = fields.sequence("pretokenizers", depth);
  if (!all.ok())
    return all.status();
  for (const JsonFields &one : *all)
    if (absl::Status status = add(one, depth + 1, to); !status.ok())
      return status;
  return absl::OkStatus();
}

absl::Status add(const JsonFields &fields, int depth, PreTokenizers &to) {
  absl::StatusOr<std::string> type = fields.text("type");
  if (!type.ok())
    return type.status();
  if (*type == "Sequence")
    return addSequence(fields, depth, to);
  // What comes behind ByteLevel sees its visible characters.
  if (std::exchange(to.endsInBytes, false))
    to.stages.push_back(std::make_unique<BytesToAlphabet>());
  if (*type == "Split")
    return addSplit(fields, to);
  if (*type == "ByteLevel")
    return addByteLevel(fields, to);
  if (*type == "Metaspace")
    return addMetaspace(fields, to);
  if (*type == "Digits" || *type == "Punctuation" || *type == "WhitespaceSplit")
    return addKindSplit(fields, *type, to);
  if (*type == "Whitespace") {
    to.stages.push_back(std::make_unique<WordSplit>());
    return fields.expectOnly({"type"});
  }
  return fields.refuse("type", concat("\"", *type,
                                      "\" is not supported. Supported: ByteLevel, Digits, Metaspace, "
                                      "Punctuation, Sequence, Split, Whitespace, WhitespaceSplit."));
}

absl::Status splitFrom(const Stages &stages, size_t stage, TextPiece piece, Regex::Scratch &scratch,
                       EmitPiece emit) {
  if (stage == stages.size())
    return emit(piece);
  return stages[stage]->split(
      piece, scratch, [&](TextPiece part) { return splitFrom(stages, stage + 1, part, scratch, emit); });
}

} // namespace

absl::Status PreTokenizers::split(TextPiece piece, Regex::Scratch &scratch, EmitPiece emit) const {
  return splitFrom(stages, 0, piece, scratch, emit);
}

absl::StatusOr<PreTokenizers> createPreTokenizers(const JsonFields &fields) {
  PreTokenizers all;
  if (absl::Status status = add(fields, 0, all); !status.ok())
    return status;
  constexpr size_t mostStages = 64;
  if (all.stages.size() > mostStages)
    return fields.refuse("", concat("more than ", mostStages, " pre-tokenizers"));
  return all;
}

} // namespace weft
