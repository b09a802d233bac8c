//===- TensorBoardEvent.cpp - The events that TensorBoard reads -----------===//
//
// Numbers of fields: Event {wall_time 1, step 2, file_version 3, summary 5, session_log 7}, Summary {value
// 1}, Value {tag 1, simple_value 2}, SessionLog {status 1}. Each field is a key (number x 8 + wire type) and
// its value: a varint (0), 8 bytes (1), a length and bytes (2) or 4 bytes (5).
//
//===----------------------------------------------------------------------===//
#include "runtime/metrics/TensorBoardEvent.h"

#include <cstring>

namespace weft {
namespace {

enum WireType : uint64_t { Varint = 0, Bytes8 = 1, Delimited = 2, Bytes4 = 5 };

constexpr uint64_t sessionStart = 1;

void putVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void putKey(std::string &out, uint64_t field, WireType type) { putVarint(out, field << 3 | type); }

template <typename T> void putFixed(std::string &out, uint64_t field, WireType type, T value) {
  putKey(out, field, type);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void putBytes(std::string &out, uint64_t field, std::string_view value) {
  putKey(out, field, Delimited);
  putVarint(out, value.size());
  out.append(value);
}

} // namespace

TensorBoardEvent::TensorBoardEvent(double wallTime) { putFixed(fields, 1, Bytes8, wallTime); }

void TensorBoardEvent::setStep(int64_t step) {
  putKey(fields, 2, Varint);
  putVarint(fields, static_cast<uint64_t>(step));
}

void TensorBoardEvent::setFileVersion(std::string_view version) { putBytes(fields, 3, version); }

void TensorBoardEvent::setStart() {
  std::string log;
  putKey(log, 1, Varint);
  putVarint(log, sessionStart);
  putBytes(fields, 7, log);
}

void TensorBoardEvent::addScalar(std::string_view tag, float value) {
  std::string one;
  putBytes(one, 1, tag);
  putFixed(one, 2, Bytes4, value);
  putBytes(summary, 1, one);
}

std::string TensorBoardEvent::bytes() const {
  std::string all = fields;
  if (!summary.empty())
    putBytes(all, 5, summary);
  return all;
}

} // namespace weft
