//===- Report.h - What a run of trials found --------------------------------===//
//
// One row per op: how many cases, how many comparisons, how close the worst came to its tolerance. A failure
// is printed at once, with the command that repeats it alone.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_REPORT_H
#define WEFT_TOOLS_WEFT_TRIALS_REPORT_H

#include <cstdint>
#include <map>
#include <string>

namespace weft::trials {

class Report {
public:
  /// `trial` is what scripts/trials.sh calls this; `options` repeats what else the run was given.
  Report(std::string trial, std::string options) : trial(std::move(trial)), options(std::move(options)) {}

  void beginCase(const std::string &op, uint64_t seed);
  /// One comparison: passes when `error` is at most `tolerance`. `what` is said when it fails.
  void compare(const std::string &kind, double error, double tolerance, const std::string &what);
  void fail(const std::string &what);
  /// Elements for which nothing could be promised.
  void unbounded(int64_t elements) { current().unbounded += elements; }
  void elements(int64_t count) { current().elements += count; }
  void note(const std::string &column);
  void endCase();

  /// Prints the table and the closing line; the exit status.
  int close() const;

private:
  struct Row {
    int64_t cases = 0, failed = 0, elements = 0, unbounded = 0;
    std::map<std::string, int64_t> comparisons, notes;
    double worst = 0.0; ///< error / tolerance
  };
  Row &current() { return rows[op]; }

  std::string trial, options, op, caseText;
  uint64_t seed = 0;
  bool caseFailed = false;
  std::map<std::string, Row> rows;
};

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_REPORT_H
