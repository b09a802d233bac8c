//===- ScheduleTable.cpp - A schedule in the terminal ---------------------===//
//
// One scale for all ranks: the shortest action is as wide as its text. Rounding may push an action to the
// right, never over the one before it.
//
//===----------------------------------------------------------------------===//
#include "compiler/schedule/ScheduleTable.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {
using namespace schedules;

constexpr int kNarrowest = 24;       ///< columns of a line, however narrow the terminal
constexpr double kWidestAction = 24; ///< columns, on the average

struct Cell {
  int64_t column;
  std::string text;
  ActionKind kind;
};

/// Columns per unit of time.
double scaleOf(const PipelineSchedule &schedule, const Timeline &timeline, const ActionTimes &times) {
  double scale = 0;
  size_t longest = 0;
  for (const std::vector<Action> &list : schedule.actions) {
    longest = std::max(longest, list.size());
    for (const Action &action : list)
      if (double time = times.of(action.kind, schedule.chunks); time > 0)
        scale = std::max(scale, static_cast<double>(toString(action).size() + 1) / time);
  }
  // One action that is far shorter than all others must not blow up the table.
  return timeline.makespan > 0
             ? std::min(scale, kWidestAction * static_cast<double>(longest) / timeline.makespan)
             : scale;
}

std::vector<Cell> cellsOf(const std::vector<Action> &list, const std::vector<double> &start, double scale) {
  std::vector<Cell> cells;
  int64_t free = 0;
  for (size_t index = 0; index < list.size(); ++index) {
    int64_t column = std::max(free, static_cast<int64_t>(std::llround(start[index] * scale)));
    cells.push_back({column, toString(list[index]), list[index].kind});
    free = column + static_cast<int64_t>(cells.back().text.size()) + 1;
  }
  return cells;
}

const char *colorOf(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
    return "\x1b[34m";
  case ActionKind::BackwardInput:
    return "\x1b[36m";
  case ActionKind::BackwardWeight:
    return "\x1b[32m";
  case ActionKind::Backward:
    return "\x1b[35m";
  }
  return "";
}

} // namespace

std::string scheduleTable(const PipelineSchedule &schedule, const Timeline &timeline,
                          const ActionTimes &times, const TableStyle &style) {
  const double scale = scaleOf(schedule, timeline, times);
  std::vector<std::vector<Cell>> rows;
  int64_t columns = 0;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    rows.push_back(cellsOf(schedule.actions[rank], timeline.start[rank], scale));
    if (!rows.back().empty())
      columns = std::max(columns, rows.back().back().column + 1);
  }
  const size_t digits = absl::StrCat(schedule.ranks - 1).size();
  const int64_t width = std::max<int64_t>(kNarrowest, style.width - static_cast<int64_t>(digits) - 10);
  std::vector<size_t> next(rows.size(), 0);
  std::string table;
  for (int64_t begin = 0; begin < columns; begin += width) {
    if (begin > 0)
      table += "\n";
    for (size_t rank = 0; rank < rows.size(); ++rank) {
      std::string number = absl::StrCat(rank);
      absl::StrAppend(&table, "rank ", std::string(digits - number.size(), ' '), number, " |");
      int64_t at = begin;
      for (; next[rank] < rows[rank].size() && rows[rank][next[rank]].column < begin + width; ++next[rank]) {
        const Cell &cell = rows[rank][next[rank]];
        absl::StrAppend(&table, std::string(cell.column - at + 1, ' '),
                        style.hasColors ? colorOf(cell.kind) : "", cell.text,
                        style.hasColors ? "\x1b[0m" : "");
        at = cell.column + static_cast<int64_t>(cell.text.size()) + 1;
      }
      table += "\n";
    }
  }
  return table;
}

} // namespace weft
