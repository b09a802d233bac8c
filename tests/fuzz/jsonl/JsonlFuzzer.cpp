//===- JsonlFuzzer.cpp - Any bytes as JSONL, of a corpus and of metrics ---===//
//
// Each line is read as a document and as a metrics record. Whatever comes, reading ends with a value or an
// error that has a message. A second JSON reader is the judge: a line that it accepts as an object with a
// string under "text" must be accepted here with the same string. And a metrics record that is accepted must
// read back from its own line.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/JsonText.h"
#include "runtime/metrics/StepMetrics.h"
#include "tests/fuzz/Require.h"

#include <nlohmann/json.hpp>

using namespace weft;

namespace {
void checkDocument(std::string_view line) {
  std::string text;
  absl::Status status = readJsonText(line, "text", text);
  require(status.ok() || !status.message().empty(), "an error without a message", line);
  // What the judge takes and this reader does not, by intent: a byte order mark, bytes behind a zero byte, a
  // key that comes twice, and deep nesting.
  bool isComparable = !line.starts_with("\xEF\xBB\xBF") && line.find('\0') == std::string_view::npos;
  nlohmann::json judged = nlohmann::json::parse(line, nullptr, false);
  if (!isComparable || !judged.is_object() || !judged.contains("text") || !judged["text"].is_string())
    return;
  std::string message(status.message());
  if (message.find("comes twice") != std::string::npos ||
      message.find("nested deeper") != std::string::npos ||
      message.find("a string for the key") != std::string::npos)
    return;
  require(status.ok(), "a good line was refused", line);
  require(text == judged["text"].get<std::string>(), "another text than the judge's", line);
}

void checkRecord(std::string_view line) {
  absl::StatusOr<StepMetrics> record = parseJsonLine(line);
  if (!record.ok()) {
    require(!record.status().message().empty(), "an error without a message", line);
    return;
  }
  std::string written = jsonLine(*record);
  absl::StatusOr<StepMetrics> again = parseJsonLine(written);
  require(again.ok() && jsonLine(*again) == written, "a record does not read back from its line", line);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view rest(reinterpret_cast<const char *>(data), size);
  while (!rest.empty()) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    checkDocument(line);
    checkRecord(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return 0;
}
