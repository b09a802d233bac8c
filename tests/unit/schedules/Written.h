//===- Written.h - Schedules written in tests -----------------------------===//
#ifndef WEFT_TESTS_UNIT_SCHEDULES_WRITTEN_H
#define WEFT_TESTS_UNIT_SCHEDULES_WRITTEN_H

#include "passes/pipeline/schedules/ScheduleText.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

namespace weft::schedules {

/// The schedule of a text that must parse.
inline PipelineSchedule written(const std::string &text) {
  absl::StatusOr<PipelineSchedule> schedule = parseSchedule(text, "test");
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return schedule.ok() ? *schedule : makeSchedule("test", 1, 1, 1, StageLayout::Loop);
}

/// The rows of a file of tests/data/schedules, by the names of its columns.
inline std::vector<std::map<std::string, std::string>> rowsOf(const std::string &file) {
  std::ifstream stream(std::string(WEFT_TEST_DATA) + "/" + file);
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> rows;
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> cells;
    std::istringstream words(line);
    for (std::string cell; std::getline(words, cell, ',');)
      cells.push_back(cell);
    if (names.empty()) {
      names = cells;
      continue;
    }
    cells.resize(names.size());
    rows.emplace_back();
    for (size_t column = 0; column < names.size(); ++column)
      rows.back()[names[column]] = cells[column];
  }
  EXPECT_FALSE(rows.empty()) << file;
  return rows;
}

} // namespace weft::schedules

#endif // WEFT_TESTS_UNIT_SCHEDULES_WRITTEN_H
