//===- StepMetrics.cpp - What is known about one step ---------------------===//
//
// One table names the fixed keys, for writing and for reading; anything else in a line is one of the further
// metrics.
//
//===----------------------------------------------------------------------===//
#include "runtime/metrics/StepMetrics.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

absl::Status readNumber(const Json &value, const std::string &key, double &out) {
  if (!value.is_number() && !value.is_null())
    return absl::InvalidArgumentError(absl::StrCat("\"", key, "\" is not a number"));
  out = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  return absl::OkStatus();
}

absl::Status readNumber(const Json &value, const std::string &key, int64_t &out) {
  if (!value.is_number_integer())
    return absl::InvalidArgumentError(absl::StrCat("\"", key, "\" is not a whole number"));
  out = value.get<int64_t>();
  return absl::OkStatus();
}

absl::Status readNumber(const Json &value, const std::string &key, std::optional<double> &out) {
  double plain = 0;
  absl::Status status = readNumber(value, key, plain);
  out = plain;
  return status;
}

/// Calls visit(key, member) for each fixed member, in the order of a line.
template <typename Metrics, typename Visit> void forEachMember(Metrics &metrics, const Visit &visit) {
  visit("step", metrics.step);
  visit("loss", metrics.loss);
  visit("val_loss", metrics.valLoss);
  visit("grad_norm", metrics.gradNorm);
  visit("lr", metrics.learningRate);
  visit("tokens_per_second", metrics.tokensPerSecond);
  visit("mfu", metrics.mfu);
  visit("data_wait", metrics.dataWait);
  visit("memory_bytes", metrics.memoryBytes);
  visit("resident_bytes", metrics.residentBytes);
  visit("consumed_tokens", metrics.consumedTokens);
  visit("time", metrics.time);
}

struct JsonPutter {
  Json &object;
  void operator()(const char *key, int64_t value) const { object[key] = value; }
  void operator()(const char *key, double value) const { object[key] = number(value); }
  void operator()(const char *key, const std::optional<double> &value) const {
    if (value)
      object[key] = number(*value);
  }
};

struct ValueCollector {
  std::vector<std::pair<std::string, double>> &values;
  void operator()(const char *key, int64_t value) const {
    values.emplace_back(key, static_cast<double>(value));
  }
  void operator()(const char *key, double value) const { values.emplace_back(key, value); }
  void operator()(const char *key, const std::optional<double> &value) const {
    if (value)
      values.emplace_back(key, *value);
  }
};

/// Takes the members it finds out of the object; keeps the first error.
struct JsonTaker {
  Json &object;
  absl::Status &status;
  template <typename Member> void operator()(const char *key, Member &member) const {
    auto found = object.find(key);
    bool isOptional = std::is_same_v<Member, std::optional<double>>;
    if (found == object.end()) {
      if (!isOptional)
        status.Update(absl::InvalidArgumentError(absl::StrCat("\"", key, "\" is missing")));
      return;
    }
    status.Update(readNumber(*found, key, member));
    object.erase(found);
  }
};

} // namespace

std::vector<std::pair<std::string, double>> namedValues(const StepMetrics &metrics) {
  std::vector<std::pair<std::string, double>> values;
  forEachMember(metrics, ValueCollector{values});
  values.erase(values.begin()); // the step
  values.insert(values.end(), metrics.others.begin(), metrics.others.end());
  return values;
}

std::string jsonLine(const StepMetrics &metrics) {
  Json object = Json::object();
  forEachMember(metrics, JsonPutter{object});
  for (const auto &[key, value] : metrics.others)
    object[key] = number(value);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<StepMetrics> parseJsonLine(std::string_view line) {
  Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object())
    return absl::InvalidArgumentError("not a JSON object");
  StepMetrics metrics;
  absl::Status status;
  forEachMember(metrics, JsonTaker{object, status});
  if (!status.ok())
    return status;
  for (const auto &[key, value] : object.items()) {
    double plain = 0;
    if (absl::Status other = readNumber(value, key, plain); !other.ok())
      return other;
    metrics.others.emplace_back(key, plain);
  }
  return metrics;
}

absl::StatusOr<std::vector<StepMetrics>> readMetrics(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return errno == ENOENT
               ? absl::NotFoundError(absl::StrCat(path, ": no such file"))
               : absl::UnavailableError(absl::StrCat(path, ": cannot open: ", std::strerror(errno)));
  std::vector<StepMetrics> records;
  std::string line;
  for (int64_t lineNumber = 1; std::getline(file, line); ++lineNumber) {
    bool isTorn = file.eof();
    if (isTorn)
      break;
    absl::StatusOr<StepMetrics> record = parseJsonLine(line);
    if (!record.ok())
      return absl::InvalidArgumentError(absl::StrCat(path, ":", lineNumber, ": ", record.status().message()));
    if (!records.empty() && record->step <= records.back().step)
      return absl::InvalidArgumentError(absl::StrCat(path, ":", lineNumber, ": step ", record->step,
                                                     " does not follow step ", records.back().step));
    records.push_back(std::move(*record));
  }
  if (file.bad())
    return absl::UnavailableError(absl::StrCat(path, ": cannot read: ", std::strerror(errno)));
  return records;
}

} // namespace weft
