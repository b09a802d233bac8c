//===- Normalizer.cpp - The normalizer of a tokenizer.json ----------------===//
//
// Each kind is a class; createNormalizer() names them. What a file asks for beyond them is refused. ICU
// normalizes UTF-8 in place of no more than a quarter of a gigabyte at once, cut where nothing combines
// across.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/Normalizer.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/ByteAlphabet.h"
#include "runtime/tokenizer/CharacterKinds.h"
#include "runtime/tokenizer/CharacterTable.h"
#include "runtime/tokenizer/ReplaceFields.h"
#include "runtime/tokenizer/Utf8Text.h"

#include "absl/status/status.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uniset.h>

#include <utility>
#include <vector>

namespace weft {
namespace {

class UnicodeForm final : public Normalizer {
public:
  /// Null with a status when ICU lacks its data.
  static absl::StatusOr<std::unique_ptr<Normalizer>> create(std::string_view form);

  absl::Status apply(NormalizedText &text, Regex::Scratch &) const override {
    // ASCII is normal in every form.
    if (isAscii(text.text))
      return absl::OkStatus();
    constexpr size_t chunkBytes = size_t{1} << 28;
    const CharacterTable &table = CharacterTable::get();
    std::string normalized;
    icu::StringByteSink<std::string> sink(&normalized,
                                          static_cast<int32_t>(std::min(text.text.size(), chunkBytes)));
    for (size_t begin = 0; begin < text.text.size();) {
      size_t end = std::min(begin + chunkBytes, text.text.size());
      while (end < text.text.size() &&
             ((text.text[end] & 0xC0) == 0x80 ||
              !versioned.hasBoundaryBefore(static_cast<UChar32>(table.at(text.text, end).code))))
        ++end;
      UErrorCode error = U_ZERO_ERROR;
      versioned.normalizeUTF8(0,
                              icu::StringPiece(text.text.data() + begin, static_cast<int32_t>(end - begin)),
                              sink, nullptr, error);
      if (U_FAILURE(error) != 0)
        return absl::ResourceExhaustedError(concat("normalizing failed: ", u_errorName(error)));
      begin = end;
    }
    text.text = std::move(normalized);
    return absl::OkStatus();
  }

private:
  UnicodeForm(const icu::Normalizer2 &base, const icu::UnicodeSet &known) : versioned(base, known) {}

  icu::FilteredNormalizer2 versioned;
};

/// The characters of Unicode 9, by which the reference normalizes; null when ICU lacks its data.
const icu::UnicodeSet *knownCharacters() {
  static const std::unique_ptr<icu::UnicodeSet> known = [] {
    UErrorCode error = U_ZERO_ERROR;
    auto set = std::make_unique<icu::UnicodeSet>(icu::UnicodeString("[:age=9.0:]"), error);
    if (U_FAILURE(error) != 0)
      return std::unique_ptr<icu::UnicodeSet>();
    set->freeze();
    return set;
  }();
  return known.get();
}

absl::StatusOr<std::unique_ptr<Normalizer>> UnicodeForm::create(std::string_view form) {
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2 *base = form == "NFC"    ? icu::Normalizer2::getNFCInstance(error)
                                 : form == "NFD"  ? icu::Normalizer2::getNFDInstance(error)
                                 : form == "NFKC" ? icu::Normalizer2::getNFKCInstance(error)
                                                  : icu::Normalizer2::getNFKDInstance(error);
  const icu::UnicodeSet *known = knownCharacters();
  if (U_FAILURE(error) != 0 || known == nullptr)
    return absl::InternalError(concat("ICU has no data for ", form, ": ", u_errorName(error)));
  return std::unique_ptr<Normalizer>(new UnicodeForm(*base, *known));
}

/// Normalizers that look at one character at a time.
class CharacterMap final : public Normalizer {
public:
  /// Appends what becomes of the character.
  using Map = void (*)(std::string &, char32_t);
  explicit CharacterMap(Map map) : map(map) {}

  absl::Status apply(NormalizedText &text, Regex::Scratch &) const override {
    const CharacterTable &table = CharacterTable::get();
    std::string mapped;
    mapped.reserve(text.text.size());
    for (size_t position = 0; position < text.text.size();) {
      const Character next = table.at(text.text, position);
      map(mapped, next.code);
      if (position == 0 && mapped.empty())
        text.isFirst = false;
      position += next.bytes;
    }
    text.text = std::move(mapped);
    return absl::OkStatus();
  }

private:
  Map map;
};

void dropMark(std::string &text, char32_t code) {
  if (!isMarkCharacter(code))
    appendUtf8(text, code);
}

/// As neural machine translation cleans its texts: controls go, odd spaces become plain ones.
void cleanForTranslation(std::string &text, char32_t code) {
  const bool isControl = (code >= 1 && code <= 8) || code == 0xB || (code >= 0xE && code <= 0x1F) ||
                         code == 0x7F || code == 0x8F || code == 0x9F;
  const bool isSpace = code == 9 || code == 0xA || code == 0xC || code == 0xD || code == 0x1680 ||
                       (code >= 0x200B && code <= 0x200F) || code == 0x2028 || code == 0x2029 ||
                       code == 0x2581 || code == 0xFEFF || code == 0xFFFD;
  if (isSpace)
    text += ' ';
  else if (!isControl)
    appendUtf8(text, code);
}

class Strip final : public Normalizer {
public:
  Strip(bool left, bool right) : left(left), right(right) {}

  absl::Status apply(NormalizedText &text, Regex::Scratch &) const override {
    const CharacterTable &table = CharacterTable::get();
    std::string &all = text.text;
    size_t end = all.size();
    while (right && end > 0 && isSpaceCharacter(characterBefore(all, end)))
      do
        --end;
      while (end > 0 && (all[end] & 0xC0) == 0x80);
    all.resize(end);
    size_t begin = 0;
    while (left && begin < all.size() && isSpaceCharacter(table.at(all, begin).code))
      begin += table.at(all, begin).bytes;
    all.erase(0, begin);
    text.isFirst = text.isFirst && begin == 0;
    return absl::OkStatus();
  }

private:
  bool left;
  bool right;
};

class Prepend final : public Normalizer {
public:
  explicit Prepend(std::string prefix) : prefix(std::move(prefix)) {}

  absl::Status apply(NormalizedText &text, Regex::Scratch &) const override {
    if (!text.text.empty())
      text.text.insert(0, prefix);
    return absl::OkStatus();
  }

private:
  std::string prefix;
};

class Replace final : public Normalizer {
public:
  explicit Replace(ReplaceFields fields) : fields(std::move(fields)) {}

  absl::Status apply(NormalizedText &text, Regex::Scratch &scratch) const override {
    std::string replaced;
    absl::Status status =
        fields.pattern.forEachSegment(text.text, true, scratch, [&](size_t begin, size_t end, bool isMatch) {
          if (isMatch)
            replaced += fields.content;
          else
            replaced.append(text.text, begin, end - begin);
          if (begin == 0 && end != 0 && isMatch && fields.content.empty())
            text.isFirst = false;
          return absl::OkStatus();
        });
    text.text = std::move(replaced);
    return status;
  }

private:
  ReplaceFields fields;
};

class BytesAsCharacters final : public Normalizer {
public:
  absl::Status apply(NormalizedText &text, Regex::Scratch &) const override {
    text.text = toByteAlphabet(text.text);
    return absl::OkStatus();
  }
};

class Sequence final : public Normalizer {
public:
  explicit Sequence(std::vector<std::unique_ptr<Normalizer>> all) : all(std::move(all)) {}

  absl::Status apply(NormalizedText &text, Regex::Scratch &scratch) const override {
    for (const std::unique_ptr<Normalizer> &one : all)
      if (absl::Status status = one->apply(text, scratch); !status.ok())
        return status;
    return absl::OkStatus();
  }

private:
  std::vector<std::unique_ptr<Normalizer>> all;
};

using Created = absl::StatusOr<std::unique_ptr<Normalizer>>;

Created createStrip(const JsonFields &fields) {
  absl::StatusOr<bool> left = fields.flagOr("strip_left", true);
  absl::StatusOr<bool> right = fields.flagOr("strip_right", true);
  for (const absl::Status &status :
       {fields.expectOnly({"type", "strip_left", "strip_right"}), left.status(), right.status()})
    if (!status.ok())
      return status;
  return std::make_unique<Strip>(*left, *right);
}

Created createPrepend(const JsonFields &fields) {
  absl::StatusOr<std::string> prefix = fields.text("prepend");
  for (const absl::Status &status : {fields.expectOnly({"type", "prepend"}), prefix.status()})
    if (!status.ok())
      return status;
  return std::make_unique<Prepend>(*std::move(prefix));
}

Created createReplace(const JsonFields &fields) {
  absl::StatusOr<ReplaceFields> read = ReplaceFields::read(fields);
  if (!read.ok())
    return read.status();
  return std::make_unique<Replace>(*std::move(read));
}

Created create(const JsonFields &fields, int depth);

Created createSequence(const JsonFields &fields, int depth) {
  absl::StatusOr<std::vector<JsonFields>> parts = fields.sequence("normalizers", depth);
  if (!parts.ok())
    return parts.status();
  std::vector<std::unique_ptr<Normalizer>> all;
  for (const JsonFields &part : *parts) {
    Created one = create(part, depth + 1);
    if (!one.ok())
      return one.status();
    if (*one != nullptr)
      all.push_back(*std::move(one));
  }
  if (all.empty())
    return nullptr;
  return std::make_unique<Sequence>(std::move(all));
}

Created create(const JsonFields &fields, int depth) {
  absl::StatusOr<std::string> type = fields.text("type");
  if (!type.ok())
    return type.status();
  if (*type == "Sequence")
    return createSequence(fields, depth);
  if (*type == "Strip")
    return createStrip(fields);
  if (*type == "Prepend")
    return createPrepend(fields);
  if (*type == "Replace")
    return createReplace(fields);
  if (absl::Status status = fields.expectOnly({"type"}); !status.ok())
    return status;
  if (*type == "NFC" || *type == "NFD" || *type == "NFKC" || *type == "NFKD")
    return UnicodeForm::create(*type);
  if (*type == "Lowercase")
    return std::make_unique<CharacterMap>(&appendLowercase);
  if (*type == "StripAccents")
    return std::make_unique<CharacterMap>(&dropMark);
  if (*type == "Nmt")
    return std::make_unique<CharacterMap>(&cleanForTranslation);
  if (*type == "ByteLevel")
    return std::make_unique<BytesAsCharacters>();
  return fields.refuse("type", concat("\"", *type,
                                      "\" is not supported. Supported: ByteLevel, Lowercase, NFC, NFD, NFKC, "
                                      "NFKD, Nmt, Prepend, Replace, Sequence, Strip, StripAccents."));
}

} // namespace

absl::StatusOr<std::unique_ptr<Normalizer>> createNormalizer(const JsonFields &fields) {
  return create(fields, 0);
}

} // namespace weft
