//===- SafetensorsHeader.cpp - The table of contents of a safetensors file ===//
//
// The JSON is read by events, straight into entries: nothing is built for input that the format does not
// allow, the nesting is bounded by the states below, and a name that comes twice is seen. The ranges are then
// checked as a whole: sorted, each begins where the one before ends, from the header's end to the file's end.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/SafetensorsHeader.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace weft::checkpoint {
namespace {
using Json = nlohmann::json;

struct TypeRow {
  SafetensorsType type;
  std::string_view name;
  int64_t bits;
  std::optional<DType> dtype;
};
constexpr std::array<TypeRow, 22> kTypes = {{{SafetensorsType::F64, "F64", 64, DType::F64},
                                             {SafetensorsType::F32, "F32", 32, DType::F32},
                                             {SafetensorsType::F16, "F16", 16, DType::F16},
                                             {SafetensorsType::BF16, "BF16", 16, DType::BF16},
                                             {SafetensorsType::I64, "I64", 64, DType::I64},
                                             {SafetensorsType::I32, "I32", 32, DType::I32},
                                             {SafetensorsType::Bool, "BOOL", 8, DType::I1},
                                             {SafetensorsType::I16, "I16", 16, std::nullopt},
                                             {SafetensorsType::I8, "I8", 8, std::nullopt},
                                             {SafetensorsType::U64, "U64", 64, std::nullopt},
                                             {SafetensorsType::U32, "U32", 32, std::nullopt},
                                             {SafetensorsType::U16, "U16", 16, std::nullopt},
                                             {SafetensorsType::U8, "U8", 8, std::nullopt},
                                             {SafetensorsType::C64, "C64", 64, std::nullopt},
                                             {SafetensorsType::F8E5M2, "F8_E5M2", 8, std::nullopt},
                                             {SafetensorsType::F8E4M3, "F8_E4M3", 8, std::nullopt},
                                             {SafetensorsType::F8E8M0, "F8_E8M0", 8, std::nullopt},
                                             {SafetensorsType::F8E5M2FNUZ, "F8_E5M2FNUZ", 8, std::nullopt},
                                             {SafetensorsType::F8E4M3FNUZ, "F8_E4M3FNUZ", 8, std::nullopt},
                                             {SafetensorsType::F6E3M2, "F6_E3M2", 6, std::nullopt},
                                             {SafetensorsType::F6E2M3, "F6_E2M3", 6, std::nullopt},
                                             {SafetensorsType::F4, "F4", 4, std::nullopt}}};
const TypeRow &row(SafetensorsType type) { return kTypes[static_cast<size_t>(type)]; }

std::string typeNames() {
  return absl::StrJoin(kTypes, " ", [](std::string *text, const TypeRow &type) { text->append(type.name); });
}

constexpr std::string_view kMetadata = "__metadata__";
/// No tensor of any framework comes near; bounds what a hostile header can make us keep.
constexpr size_t kMostDimensions = 64;

absl::Status broken(const std::string &file, const std::string &what) {
  return absl::DataLossError(
      absl::StrCat(file, ": not a valid safetensors file: ", what, ". Write it again, or use another file."));
}

/// Reads the JSON by events. Each handler returns false, with `problem` set, to stop the parser.
class HeaderReader : public nlohmann::json_sax<Json> {
public:
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
  std::string problem;

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("true or false"); }
  bool number_float(number_float_t, const string_t &) override { return unexpected("a fraction"); }
  bool binary(binary_t &) override { return unexpected("binary data"); }
  bool number_integer(number_integer_t value) override {
    return value < 0 ? fail("a negative number " + std::to_string(value) + where()) : number(value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max()))
      return fail("the number " + std::to_string(value) + " is too large" + where());
    return number(static_cast<int64_t>(value));
  }

  bool string(string_t &value) override {
    if (state == State::MetadataValue) {
      metadata[field] = std::move(value);
      state = State::Metadata;
      return true;
    }
    if (state != State::TypeValue)
      return unexpected("a string");
    const std::optional<SafetensorsType> type = safetensorsTypeFromName(value);
    if (!type)
      return fail("dtype " + quoted(value) + where() + " is none of the format (" + typeNames() + ")");
    entries.back().type = *type;
    state = State::Tensor;
    return true;
  }

  bool start_object(std::size_t) override {
    if (state == State::Start)
      state = State::Names;
    else if (state == State::TensorValue)
      state = State::Tensor;
    else if (state == State::MetadataObject)
      state = State::Metadata;
    else
      return unexpected("an object");
    return true;
  }

  bool key(string_t &value) override {
    if (state == State::Names)
      return startEntry(value);
    if (state == State::Metadata) {
      if (metadata.count(value))
        return fail("metadata " + quoted(value) + " comes twice");
      field = value;
      state = State::MetadataValue;
      return true;
    }
    return startField(value);
  }

  bool end_object() override {
    if (state == State::Tensor && !(hasType && hasShape && hasRange))
      return fail(std::string(!hasType    ? "dtype"
                              : !hasShape ? "shape"
                                          : "data_offsets") +
                  " is missing" + where());
    state = state == State::Names ? State::End : State::Names;
    return true;
  }

  bool start_array(std::size_t) override {
    if (state != State::ShapeValue && state != State::RangeValue)
      return unexpected("a list");
    state = state == State::ShapeValue ? State::Shape : State::Range;
    return true;
  }

  bool end_array() override {
    if (state == State::Range && rangeCount != 2)
      return fail("data_offsets has " + std::to_string(rangeCount) + " numbers instead of 2" + where());
    state = State::Tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string &, const Json::exception &) override {
    return fail("the header is not JSON at its byte " + std::to_string(position));
  }

private:
  enum class State {
    Start,
    Names,
    TensorValue,
    Tensor,
    TypeValue,
    ShapeValue,
    Shape,
    RangeValue,
    Range,
    MetadataObject,
    Metadata,
    MetadataValue,
    End
  };

  static std::string quoted(const std::string &text) {
    constexpr size_t most = 200;
    return "'" + (text.size() <= most ? text : text.substr(0, most) + "...") + "'";
  }
  std::string where() const {
    const bool inTensor = state != State::Start && state != State::Names && state != State::MetadataObject &&
                          state != State::Metadata && state != State::MetadataValue;
    return inTensor && !entries.empty() ? " in tensor " + quoted(entries.back().name) : "";
  }
  bool fail(std::string what) {
    problem = std::move(what);
    return false;
  }
  bool unexpected(const std::string &what) {
    if (state == State::MetadataObject || state == State::MetadataValue)
      return fail("__metadata__ is not a map from strings to strings");
    return fail(what + " where none belongs" + where());
  }

  bool startEntry(const std::string &name) {
    if (name == kMetadata) {
      if (std::exchange(hasMetadata, true))
        return fail("__metadata__ comes twice");
      state = State::MetadataObject;
      return true;
    }
    if (!names.insert(name).second)
      return fail("tensor " + quoted(name) + " comes twice");
    entries.emplace_back().name = name;
    hasType = hasShape = hasRange = false;
    rangeCount = 0;
    state = State::TensorValue;
    return true;
  }

  bool startField(const std::string &name) {
    bool *seen = name == "dtype"          ? &hasType
                 : name == "shape"        ? &hasShape
                 : name == "data_offsets" ? &hasRange
                                          : nullptr;
    if (!seen)
      return fail("unknown key " + quoted(name) + where());
    if (std::exchange(*seen, true))
      return fail(quoted(name) + " comes twice" + where());
    state = seen == &hasType ? State::TypeValue : seen == &hasShape ? State::ShapeValue : State::RangeValue;
    return true;
  }

  bool number(int64_t value) {
    if (state == State::Shape) {
      if (entries.back().shape.size() == kMostDimensions)
        return fail("more than " + std::to_string(kMostDimensions) + " dimensions" + where());
      entries.back().shape.push_back(value);
      return true;
    }
    if (state != State::Range)
      return unexpected("a number");
    if (rangeCount < 2)
      (rangeCount == 0 ? entries.back().begin : entries.back().end) = value;
    ++rangeCount;
    return true;
  }

  State state = State::Start;
  absl::flat_hash_set<std::string> names;
  std::string field;
  bool hasMetadata = false, hasType = false, hasShape = false, hasRange = false;
  size_t rangeCount = 0;
};

/// The ranges as the format counts them, from the start of the data: no overlap, no hole, nothing behind the
/// last.
std::string checkRanges(const std::vector<SafetensorsEntry> &entries, int64_t dataBytes) {
  int64_t at = 0;
  for (const SafetensorsEntry &entry : entries) {
    if (entry.end < entry.begin)
      return absl::StrCat("tensor '", entry.name, "' ends before it begins");
    const std::optional<int64_t> bytes = tensorBytes(entry.shape, entry.type);
    if (!bytes)
      return absl::StrCat("the shape of tensor '", entry.name, "' ",
                          tensorBytes(entry.shape, bitSize(entry.type)) ? "does not fill whole bytes"
                                                                        : "overflows");
    if (entry.end - entry.begin != *bytes)
      return absl::StrCat("tensor '", entry.name, "' has ", entry.end - entry.begin,
                          " bytes, its type and shape need ", *bytes);
    if (entry.begin < at)
      return absl::StrCat("tensor '", entry.name, "' overlaps the one before it");
    if (entry.begin > at)
      return absl::StrCat(entry.begin - at, " bytes before tensor '", entry.name, "' belong to no tensor");
    at = entry.end;
  }
  if (at > dataBytes)
    return absl::StrCat("it was cut short: the tensors need ", at, " bytes, ", dataBytes, " are there");
  if (at < dataBytes)
    return absl::StrCat(dataBytes - at, " bytes behind the last tensor belong to no tensor");
  return "";
}
} // namespace

std::string_view name(SafetensorsType type) { return row(type).name; }
int64_t bitSize(SafetensorsType type) { return row(type).bits; }
std::optional<DType> toDType(SafetensorsType type) { return row(type).dtype; }

std::optional<SafetensorsType> safetensorsTypeFromName(std::string_view name) {
  for (const TypeRow &entry : kTypes)
    if (entry.name == name)
      return entry.type;
  return std::nullopt;
}

SafetensorsType toSafetensors(DType type) {
  for (const TypeRow &entry : kTypes)
    if (entry.dtype == type)
      return entry.type;
  return SafetensorsType::U8;
}

std::optional<int64_t> tensorBytes(const std::vector<int64_t> &shape, int64_t elementBytes) {
  int64_t bytes = elementBytes;
  bool overflows = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    overflows |= __builtin_mul_overflow(bytes, size, &bytes);
  }
  // A product that overflows on the way to a size of 0 is refused too: other readers would disagree on it.
  return overflows ? std::nullopt : std::optional<int64_t>(bytes);
}

std::optional<int64_t> tensorBytes(const std::vector<int64_t> &shape, SafetensorsType type) {
  const std::optional<int64_t> bits = tensorBytes(shape, bitSize(type)); // as if a bit were a byte
  return bits && *bits % 8 == 0 ? std::optional<int64_t>(*bits / 8) : std::nullopt;
}

absl::StatusOr<int64_t> parseSafetensorsLength(std::string_view start, int64_t fileBytes,
                                               const std::string &file) {
  if (fileBytes < kSafetensorsLengthBytes || start.size() < static_cast<size_t>(kSafetensorsLengthBytes))
    return broken(file, absl::StrCat("it has ", fileBytes, " bytes, a header needs at least 8"));
  uint64_t length = 0;
  for (size_t byte = 0; byte < 8; ++byte)
    length |= static_cast<uint64_t>(static_cast<unsigned char>(start[byte])) << (8 * byte);
  if (length > static_cast<uint64_t>(kMostSafetensorsHeaderBytes))
    return broken(file, absl::StrCat("its header would have ", length, " bytes, at most ",
                                     kMostSafetensorsHeaderBytes, " are allowed"));
  if (static_cast<int64_t>(length) > fileBytes - kSafetensorsLengthBytes)
    return broken(file,
                  absl::StrCat("it was cut short: its header has ", length, " bytes, the file ", fileBytes));
  return static_cast<int64_t>(length);
}

absl::StatusOr<SafetensorsHeader> parseSafetensorsHeader(std::string_view json, int64_t fileBytes,
                                                         const std::string &file) {
  if (json.empty() || json.front() != '{')
    return broken(file, "its header does not begin with '{'");
  // The parser would take a zero byte for the end of the text, and ignore what follows.
  if (json.find('\0') != std::string_view::npos)
    return broken(file, "there is a zero byte in its header");
  HeaderReader reader;
  if (!Json::sax_parse(json.begin(), json.end(), &reader))
    return broken(file, reader.problem);

  SafetensorsHeader header;
  header.entries = std::move(reader.entries);
  header.metadata = std::move(reader.metadata);
  header.dataStart = kSafetensorsLengthBytes + static_cast<int64_t>(json.size());
  header.dataEnd = fileBytes;
  std::sort(header.entries.begin(), header.entries.end(), [](const auto &a, const auto &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  if (std::string problem = checkRanges(header.entries, fileBytes - header.dataStart); !problem.empty())
    return broken(file, problem);
  for (SafetensorsEntry &entry : header.entries) {
    entry.begin += header.dataStart;
    entry.end += header.dataStart;
  }
  return header;
}

absl::StatusOr<SafetensorsHeader> layOutSafetensors(std::vector<SafetensorsEntry> entries,
                                                    std::map<std::string, std::string> metadata,
                                                    const std::string &file) {
  std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) {
    return std::pair(-bitSize(a.type), a.name) < std::pair(-bitSize(b.type), b.name);
  });
  absl::flat_hash_set<std::string> names;
  int64_t at = 0;
  for (SafetensorsEntry &entry : entries) {
    if (entry.name == kMetadata || !names.insert(entry.name).second)
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": tensor name '", entry.name,
                       entry.name == kMetadata ? "' is reserved by the format" : "' comes twice",
                       ". Give each tensor a name of its own."));
    const std::optional<int64_t> bytes = tensorBytes(entry.shape, entry.type);
    entry.begin = at;
    if (!bytes || __builtin_add_overflow(at, *bytes, &at))
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": the shape of tensor '", entry.name, "' overflows. Split the tensor."));
    entry.end = at;
  }

  SafetensorsHeader header;
  header.entries = std::move(entries);
  header.metadata = std::move(metadata);
  try {
    header.dataStart = static_cast<int64_t>(formatSafetensorsHeader(header).size());
  } catch (const Json::exception &) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": a tensor name or metadata text is not UTF-8. Rename it."));
  }
  if (header.dataStart - kSafetensorsLengthBytes > kMostSafetensorsHeaderBytes)
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": too many tensors for one file: their header would have ", header.dataStart,
                     " bytes. Split the file."));
  if (__builtin_add_overflow(at, header.dataStart, &header.dataEnd))
    return absl::InvalidArgumentError(absl::StrCat(file, ": more than 2^63 bytes. Split the file."));
  for (SafetensorsEntry &entry : header.entries) {
    entry.begin += header.dataStart;
    entry.end += header.dataStart;
  }
  return header;
}

std::string formatSafetensorsHeader(const SafetensorsHeader &header) {
  std::string json = "{";
  if (!header.metadata.empty())
    json += Json(std::string(kMetadata)).dump() + ":" + Json(header.metadata).dump();
  for (const SafetensorsEntry &entry : header.entries) {
    if (json.size() > 1)
      json += ",";
    absl::StrAppend(&json, Json(entry.name).dump(), ":{\"dtype\":\"",
                    absl::string_view(row(entry.type).name.data()), "\",\"shape\":", Json(entry.shape).dump(),
                    ",\"data_offsets\":[", entry.begin - header.dataStart, ",", entry.end - header.dataStart,
                    "]}");
  }
  json += "}";
  json.append((8 - json.size() % 8) % 8, ' '); // The data begins aligned to 8 bytes.

  std::string text;
  for (size_t byte = 0; byte < 8; ++byte)
    text.push_back(static_cast<char>(static_cast<uint64_t>(json.size()) >> (8 * byte)));
  return text + json;
}

} // namespace weft::checkpoint
