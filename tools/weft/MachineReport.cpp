//===- MachineReport.cpp - The report as a table and as JSON --------------===//
//
// Puts the findings together. What is missing is listed last, once for each command that installs it.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/MachineReport.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>

namespace weft {

std::vector<Finding> examineMachine() {
  const char *path = std::getenv("PATH");
  std::vector<Finding> all = examineProcessor("/");
  for (std::vector<Finding> more :
       {examineMemory("/"), examineGpus(), examineLibraries(), examinePrograms(path ? path : "")})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool canTrain(const std::vector<Finding> &findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding &finding) { return finding.presence == Presence::Required; });
}

static std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

/// "  oneDNN: matrix products on the CPU: apt-get install libdnnl2" for each missing finding of one kind.
static std::string missingLines(const std::vector<Finding> &findings, Presence presence) {
  std::string text;
  for (const Finding &finding : findings)
    if (finding.presence == presence)
      text += "  " + finding.name + ", for " + finding.purpose +
              (finding.install.empty() ? "" : ": " + finding.install) + "\n";
  return text;
}

std::string reportText(const std::vector<Finding> &findings) {
  size_t width = 0;
  for (const Finding &finding : findings)
    width = std::max(width, finding.name.size());
  std::string text, section;
  for (const Finding &finding : findings) {
    if (finding.section != section)
      text += (section = finding.section) + "\n";
    text += "  " + padded(finding.name, width + 2) +
            (finding.presence == Presence::Found ? finding.value : "not found") + "\n";
  }
  std::string optional = missingLines(findings, Presence::Absent);
  std::string required = missingLines(findings, Presence::Required);
  if (!optional.empty())
    text += "not here, and needed only for some uses\n" + optional;
  if (!required.empty())
    text += "missing: this machine cannot train without\n" + required;
  else
    text += "This machine can train.\n";
  return text;
}

static const char *presenceName(Presence presence) {
  switch (presence) {
  case Presence::Found:
    return "found";
  case Presence::Absent:
    return "absent";
  case Presence::Required:
    return "required";
  }
  return "unknown";
}

std::string reportJson(const std::vector<Finding> &findings) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Finding &finding : findings) {
    nlohmann::ordered_json row;
    row["section"] = finding.section;
    row["name"] = finding.name;
    row["value"] = nullptr;
    if (finding.presence == Presence::Found)
      row["value"] = finding.value;
    row["presence"] = presenceName(finding.presence);
    row["purpose"] = finding.purpose;
    row["install"] = finding.install;
    rows.push_back(std::move(row));
  }
  nlohmann::ordered_json report;
  report["can_train"] = canTrain(findings);
  report["findings"] = std::move(rows);
  // Bytes that are not UTF-8 (a device may name itself so) are replaced, never thrown on.
  return report.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace weft
