//===- ScheduleText.cpp - Schedules as people write them ------------------===//
//
// Words are cut first, each with its place, so that every message can point at one.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/ScheduleText.h"

#include "absl/strings/str_cat.h"

#include <charconv>
#include <optional>

namespace weft::schedules {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr size_t kActionsOfALine = 16;

struct Word {
  std::string_view text;
  size_t line, column; ///< from 1
};

struct PlacedAction {
  Word word;
  Action action;
};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// What a message may show of a word: printable, and not endless.
std::string shown(std::string_view text) {
  std::string result = "'";
  for (char c : text.substr(0, 32))
    result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > 32 ? "...'" : "'");
}

class Parser {
public:
  Parser(std::string_view text, const std::string &file) : text(text), file(file) {}

  absl::StatusOr<PipelineSchedule> parse() {
    for (size_t line = 1; !text.empty(); ++line)
      if (absl::Status status = parseLine(cutLine(line)); !status.ok())
        return status;
    return assemble();
  }

private:
  /// The words of the next line; `|` is a word of its own.
  std::vector<Word> cutLine(size_t line) {
    size_t length = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    rest = rest.substr(0, rest.find('#'));
    std::vector<Word> words;
    for (size_t at = 0; (at = rest.find_first_not_of(kBlanks, at)) != std::string_view::npos;) {
      size_t end = rest[at] == '|' ? at + 1 : std::min(rest.find_first_of(" \t\r|", at), rest.size());
      words.push_back({rest.substr(at, end - at), line, at + 1});
      at = end;
    }
    lastLine = line;
    return words;
  }

  absl::Status refuse(const Word &at, const std::string &what) const {
    return absl::InvalidArgumentError(absl::StrCat(file, ":", at.line, ":", at.column, ": ", what));
  }

  absl::Status parseLine(const std::vector<Word> &words) {
    if (words.empty())
      return absl::OkStatus();
    const Word &first = words.front();
    if (first.text == "rank")
      return parseRank(words);
    if (first.text == "stages" || first.text == "microbatches") {
      std::optional<Word> &value = first.text == "stages" ? stages : microbatches;
      return setOnce(words, value, "a number");
    }
    if (first.text == "layout")
      return setOnce(words, layout, "loop or v");
    return refuse(first,
                  absl::StrCat("expected rank, stages, microbatches or layout at the start of a line, got ",
                               shown(first.text), ". A rank's line is: rank 0 | 0F0 0F1 0BW0 0BW1"));
  }

  absl::Status setOnce(const std::vector<Word> &words, std::optional<Word> &value, const char *expected) {
    if (value)
      return refuse(words[0], absl::StrCat(std::string(words[0].text), " was given in line ", value->line,
                                           " already. Remove one of the two"));
    if (words.size() != 2)
      return refuse(
          words.size() == 1 ? words[0] : words[2],
          absl::StrCat("expected ", std::string(words[0].text), " and ", expected, ", nothing else"));
    value = words[1];
    return absl::OkStatus();
  }

  /// A number without sign in [low, high].
  absl::StatusOr<int> number(const Word &at, std::string_view digits, const char *what, int low,
                             int high) const {
    int value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || !isDigit(digits[0]) || error != std::errc() ||
        end != digits.data() + digits.size() || value < low || value > high)
      return refuse(at, absl::StrCat("expected ", what, ", a number from ", low, " to ", high, ", got ",
                                     shown(digits)));
    return value;
  }

  absl::Status parseRank(const std::vector<Word> &words) {
    if (words.size() < 3 || words[2].text != "|")
      return refuse(words.size() < 3 ? words.back() : words[2],
                    "expected the number of the rank and a bar: rank 0 | 0F0 0F1 0BW0 0BW1");
    absl::StatusOr<int> rank = number(words[1], words[1].text, "the number of a rank", 0, mostRanks - 1);
    if (!rank.ok())
      return rank.status();
    if (static_cast<size_t>(*rank) >= lists.size())
      lists.resize(*rank + 1), rankWords.resize(*rank + 1, words[1]);
    rankWords[*rank] = words[1];
    for (size_t index = 3; index < words.size(); ++index) {
      absl::StatusOr<Action> action = parseAction(words[index]);
      if (!action.ok())
        return action.status();
      lists[*rank].push_back({words[index], *action});
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Action> parseAction(const Word &word) const {
    std::string_view text = word.text;
    auto countDigits = [](std::string_view part) {
      size_t count = 0;
      while (count < part.size() && isDigit(part[count]))
        ++count;
      return count;
    };
    size_t stageEnd = countDigits(text), kindEnd = stageEnd;
    while (kindEnd < text.size() && !isDigit(text[kindEnd]))
      ++kindEnd;
    std::string_view kind = text.substr(stageEnd, kindEnd - stageEnd), rest = text.substr(kindEnd);
    for (ActionKind known : allActionKinds) {
      if (kind != letters(known) || stageEnd == 0 || rest.empty() || countDigits(rest) != rest.size())
        continue;
      absl::StatusOr<int> stage = number(word, text.substr(0, stageEnd), "a stage", 0, mostStages - 1);
      if (!stage.ok())
        return stage.status();
      absl::StatusOr<int> microbatch = number(word, rest, "a microbatch", 0, mostMicrobatches - 1);
      if (!microbatch.ok())
        return microbatch.status();
      return Action{*stage, known, *microbatch};
    }
    return refuse(
        word, absl::StrCat("expected an action: stage, F, B, W or BW, microbatch, such as 0F0 or 1BW3; got ",
                           shown(text)));
  }

  absl::StatusOr<PipelineSchedule> assemble() const {
    const Word end{{}, lastLine, 1};
    if (lists.empty())
      return refuse(end, "there is no rank. Write a line for each: rank 0 | 0F0 0F1 0BW0 0BW1");
    for (size_t rank = 0; rank < lists.size(); ++rank)
      if (lists[rank].empty())
        return refuse(rankWords[rank], absl::StrCat("rank ", rank,
                                                    " has no action. Ranks are numbered from 0 "
                                                    "without a gap, and each has work"));
    if (!microbatches)
      return refuse(end, "expected a line with their number: microbatches 8");
    absl::StatusOr<int> count =
        number(*microbatches, microbatches->text, "microbatches", 1, mostMicrobatches);
    if (!count.ok())
      return count.status();
    const int ranks = static_cast<int>(lists.size());
    int stageCount = ranks;
    if (stages) {
      absl::StatusOr<int> given = number(*stages, stages->text, "stages", 1, mostStages);
      if (!given.ok())
        return given.status();
      stageCount = *given;
      if (stageCount % ranks != 0)
        return refuse(*stages, absl::StrCat(stageCount, " stages on ", ranks,
                                            " ranks: each rank has the same number. ", "Works: ", ranks, ", ",
                                            2 * ranks, ", ", 3 * ranks));
    }
    if (layout && layout->text != "loop" && layout->text != "v")
      return refuse(*layout,
                    absl::StrCat("expected loop (stage s on rank s mod ranks) or v (there and back), got ",
                                 shown(layout->text)));
    PipelineSchedule schedule =
        makeSchedule(file, ranks, stageCount / ranks, *count,
                     layout && layout->text == "v" ? StageLayout::V : StageLayout::Loop);
    if (absl::Status status = fill(schedule); !status.ok())
      return status;
    return schedule;
  }

  absl::Status fill(PipelineSchedule &schedule) const {
    for (int rank = 0; rank < schedule.ranks; ++rank)
      for (const PlacedAction &placed : lists[rank]) {
        const Action &action = placed.action;
        if (action.stage >= schedule.stages())
          return refuse(placed.word,
                        absl::StrCat(toString(action), ": there are stages 0 to ", schedule.stages() - 1,
                                     ". More are declared by a line: stages ", 2 * schedule.stages()));
        if (action.microbatch >= schedule.microbatches)
          return refuse(placed.word,
                        absl::StrCat(toString(action), ": there are microbatches 0 to ",
                                     schedule.microbatches - 1, " (line ", microbatches->line, ")"));
        if (int home = schedule.rankOf(action.stage); home != rank)
          return refuse(placed.word, absl::StrCat(toString(action), ": stage ", action.stage, " is on rank ",
                                                  home, " in layout ", std::string(name(schedule.layout)),
                                                  "; move it there, or change the layout"));
        schedule.actions[rank].push_back(action);
      }
    return absl::OkStatus();
  }

  std::string_view text;
  const std::string &file;
  size_t lastLine = 1;
  std::optional<Word> stages, microbatches, layout;
  std::vector<std::vector<PlacedAction>> lists;
  std::vector<Word> rankWords; ///< where each rank was last named
};

} // namespace

absl::StatusOr<PipelineSchedule> parseSchedule(std::string_view text, const std::string &file) {
  return Parser(text, file).parse();
}

std::string printSchedule(const PipelineSchedule &schedule) {
  std::string comment = schedule.name;
  for (char &c : comment)
    if (c == '\n' || c == '\r')
      c = ' ';
  std::string text =
      absl::StrCat("# ", comment, "\nstages ", schedule.stages(), "\nlayout ",
                   std::string(name(schedule.layout)), "\nmicrobatches ", schedule.microbatches, "\n");
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const std::vector<Action> &list = schedule.actions[rank];
    for (size_t index = 0; index < list.size(); ++index) {
      if (index % kActionsOfALine == 0)
        absl::StrAppend(&text, index == 0 ? "" : "\n", "rank ", rank, " |");
      absl::StrAppend(&text, " ", toString(list[index]));
    }
    text += "\n";
  }
  return text;
}

} // namespace weft::schedules
