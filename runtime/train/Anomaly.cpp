//===- Anomaly.cpp - Losses that are not finite, and losses that jump -----===//
//
// A value is not finite when all bits of its exponent are set.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/Anomaly.h"

#include "runtime/train/ValueDump.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace weft {
namespace {

template <typename Bits>
std::optional<double> scan(const void *data, int64_t count, Bits exponent, Bits mantissa) {
  const Bits *values = static_cast<const Bits *>(data);
  for (int64_t i = 0; i < count; ++i) {
    if ((values[i] & exponent) != exponent)
      continue;
    if ((values[i] & mantissa) != 0)
      return std::numeric_limits<double>::quiet_NaN();
    bool negative = (values[i] >> (8 * sizeof(Bits) - 1)) != 0;
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  return std::nullopt;
}

} // namespace

std::optional<double> firstNonFinite(const TensorType &type, const void *data) {
  switch (type.dtype) {
  case DType::BF16:
    return scan<uint16_t>(data, type.elements(), 0x7f80, 0x007f);
  case DType::F16:
    return scan<uint16_t>(data, type.elements(), 0x7c00, 0x03ff);
  case DType::F32:
    return scan<uint32_t>(data, type.elements(), 0x7f800000, 0x007fffff);
  case DType::F64:
    return scan<uint64_t>(data, type.elements(), 0x7ff0000000000000, 0x000fffffffffffff);
  default:
    return std::nullopt;
  }
}

absl::StatusOr<std::optional<FirstNonFinite>> findFirstNonFinite(Executor &executor, StepProgram &step,
                                                                 const ScalarState &before,
                                                                 const std::vector<int64_t> &startTimes) {
  const Program &program = executor.executable().programs[step.handle().index];
  std::optional<FirstNonFinite> first;
  size_t item = 0;
  uint32_t done = 0; // commands of the item
  before.restore();
  executor.setObserver([&](const CommandRecord &record) {
    while (done == program.actions[program.schedule[item].action].commandCount) {
      ++item;
      done = 0;
    }
    const int64_t time = startTimes[item] + done++;
    if (first || record.call == nullptr || !hasItsResults(*record.call))
      return;
    for (size_t i = 0; i < record.call->results.size(); ++i)
      if (std::optional<double> value = firstNonFinite(record.call->results[i], record.results[i])) {
        first = {placeOf(executor.executable(), record.program, record.action, record.command),
                 record.call->name, record.microbatch, *value, time};
        return;
      }
  });
  absl::Status status = step.run();
  executor.setObserver(nullptr);
  if (!status.ok())
    return status;
  return first;
}

absl::StatusOr<int> rankOfFirst(Communicator &communicator, const std::optional<FirstNonFinite> &mine) {
  const int64_t order = mine ? mine->order : std::numeric_limits<int64_t>::max();
  std::vector<int64_t> orders(static_cast<size_t>(communicator.size()));
  if (absl::Status status = communicator.allGather(std::as_bytes(std::span(&order, 1)),
                                                   std::as_writable_bytes(std::span(orders)));
      !status.ok())
    return status;
  return static_cast<int>(std::min_element(orders.begin(), orders.end()) - orders.begin());
}

std::string describe(const FirstNonFinite &first) {
  std::string text = absl::StrCat(first.location, " (", first.kernel);
  if (first.microbatch != kNone)
    absl::StrAppend(&text, ", microbatch ", first.microbatch);
  return absl::StrCat(text, ") gave ", std::isnan(first.value) ? "nan" : first.value > 0 ? "inf" : "-inf");
}

std::string describeSamples(const TrainingData &data, const Config &config, int64_t step, uint32_t microbatch,
                            int64_t dataRank) {
  constexpr int64_t most = 8;
  int64_t first = step * config.train.globalBatch, count = config.train.globalBatch;
  if (microbatch != kNone) {
    first += dataRank * (config.train.globalBatch / config.parallel.dataRanks()) +
             int64_t{microbatch} * config.train.microBatch;
    count = config.train.microBatch;
  }
  std::string text = absl::StrCat("samples ", first, " to ", first + count - 1, ":");
  for (int64_t i = 0; i < std::min(count, most); ++i)
    absl::StrAppend(&text, "\n  ", first + i, ": ", data.describe(Split::Training, first + i));
  if (count > most)
    absl::StrAppend(&text, "\n  and ", count - most, " more");
  return text;
}

SpikeDetector::SpikeDetector(const SpikeConfig &config, std::vector<double> losses)
    : config(config), window(std::move(losses)) {}

std::optional<double> SpikeDetector::add(double loss) {
  if (config.factor <= 0 || !std::isfinite(loss))
    return std::nullopt;
  const size_t size = static_cast<size_t>(config.window);
  if (window.size() > size)
    window.erase(window.begin(), window.end() - static_cast<int64_t>(size));
  double mean = 0;
  for (double other : window)
    mean += other / static_cast<double>(window.size());
  const bool spike = window.size() == size && loss > config.factor * mean;
  if (window.size() == size)
    window.erase(window.begin());
  window.push_back(loss);
  return spike ? std::optional<double>(mean) : std::nullopt;
}

} // namespace weft
