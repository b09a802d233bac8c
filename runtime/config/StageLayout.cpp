//===- StageLayout.cpp - Which layers each stage of a pipeline has ----------===//
//
// How a layout is written and read, and the even one. What ranks and schedules ask of it is in
// StageChecks.cpp.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/StageLayout.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft {

std::string StageLayout::text() const {
  return absl::StrJoin(stages, " | ", [](std::string *out, const StageLayers &stage) {
    std::vector<std::string> parts;
    if (stage.hasEmbedding)
      parts.push_back("E");
    if (stage.layers > 0)
      parts.push_back(stage.layers == 1 ? "t" : absl::StrCat("t*", stage.layers));
    if (stage.hasHead)
      parts.push_back("L");
    out->append(absl::StrJoin(parts, " "));
  });
}

StageLayout evenStages(int64_t layers, int64_t stages) {
  StageLayout layout;
  const int64_t parts = mostStagesOf(layers);
  int64_t firstLayer = 0;
  for (int64_t stage = 0; stage < stages; ++stage) {
    const bool isFirst = stage == 0, isLast = stage + 1 == stages;
    const int64_t share = parts / stages + (stage < parts % stages ? 1 : 0);
    const int64_t own = share - (isFirst ? 1 : 0) - (isLast ? 1 : 0);
    layout.stages.push_back({firstLayer, own, isFirst, isLast});
    firstLayer += own;
  }
  return layout;
}

namespace {
/// Reads stages from left to right; a stage is begun and not empty once it has a part.
class StageParser {
public:
  explicit StageParser(absl::string_view text) : text(text) {}

  absl::StatusOr<StageLayout> parse() {
    layout.stages.emplace_back();
    for (skipBlanks(); position < text.size(); skipBlanks())
      if (absl::Status status = readPart(); !status.ok())
        return status;
    if (!layout.stages.front().hasEmbedding)
      return fail(position, "E, the embedding, is missing");
    if (isEmpty)
      return fail(position, absl::StrCat("stage ", layout.stages.size(), " of ", layout.stages.size(),
                                         " is empty: nothing follows the last |"));
    if (!layout.stages.back().hasHead)
      return fail(position, "L, the final norm and head, is missing at the end");
    return std::move(layout);
  }

private:
  absl::Status fail(size_t at, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("column ", at + 1, ": ", what));
  }

  void skipBlanks() {
    while (position < text.size() && absl::ascii_isspace(static_cast<unsigned char>(text[position])))
      ++position;
  }

  /// The character at the position, whatever it takes to print it.
  std::string shown() const {
    size_t end = position + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
      ++end;
    return absl::Utf8SafeCEscape(text.substr(position, end - position));
  }

  absl::Status readPart() {
    const char part = text[position];
    StageLayers &stage = layout.stages.back();
    if (part != 'E' && part != 't' && part != '|' && part != 'L')
      return fail(position, absl::StrCat("'", shown(),
                                         "' is no part of a layout: those are E (embedding), t "
                                         "or t*3 (layers), | (a border), L (norm and head)"));
    if (layout.stages.back().hasHead)
      return fail(position,
                  absl::StrCat("nothing follows L, the final norm and head, but here is ", shown()));
    const bool isFirst = layout.stages.size() == 1 && isEmpty;
    if (isFirst != (part == 'E'))
      return fail(position, isFirst ? absl::StrCat("E, the embedding, is missing before ", shown())
                                    : "E, the embedding, stands once, at the start");
    if (part == '|' && isEmpty)
      return fail(position,
                  absl::StrCat("stage ", layout.stages.size(), " is empty: nothing stands before this |"));
    if (part == 't')
      return readLayers();
    ++position;
    stage.hasEmbedding |= part == 'E';
    stage.hasHead |= part == 'L';
    isEmpty = part == '|';
    if (part == '|')
      layout.stages.push_back({stage.firstLayer + stage.layers});
    return absl::OkStatus();
  }

  /// `t` or `t*NUMBER`, with blanks between as anybody likes.
  absl::Status readLayers() {
    ++position;
    int64_t number = 1;
    skipBlanks();
    if (position < text.size() && text[position] == '*') {
      ++position;
      skipBlanks();
      const size_t start = position;
      while (position < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[position])))
        ++position;
      const absl::string_view digits = text.substr(start, position - start);
      constexpr int64_t mostLayers = 1'000'000;
      if (!absl::SimpleAtoi(digits, &number) || number < 1 || number > mostLayers)
        return fail(start, absl::StrCat("t* takes a number of layers from 1 to ", mostLayers,
                                        digits.empty() ? "" : absl::StrCat(", not ", digits)));
    }
    layout.stages.back().layers += number;
    isEmpty = false;
    return absl::OkStatus();
  }

  absl::string_view text;
  size_t position = 0;
  StageLayout layout;
  bool isEmpty = true; ///< the last stage
};
} // namespace

absl::StatusOr<StageLayout> parseStages(const std::string &text) { return StageParser(text).parse(); }

} // namespace weft
