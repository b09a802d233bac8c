//===- ManifestReader.cpp - Reading manifest.json -------------------------===//
//
// Version first (a newer format may differ in everything else), then the checksum, then JSON with bounded
// nesting and no key twice, then each field with its type, no unknown ones, then the rules of Manifest.cpp.
// Versions differ in where checksums stand: with the pieces in version 1, with the files in version 2.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/Checksum.h"
#include "runtime/checkpoint/Manifest.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace weft::checkpoint {
namespace {
using Json = nlohmann::json;

/// The run's own values may nest; nothing of ours comes near.
constexpr int kMostNesting = 64;

absl::Status broken(const std::string &file, const std::string &what) {
  return absl::DataLossError(absl::StrCat(file, ": broken manifest: ", what, ". Use another checkpoint."));
}

/// Takes `prefix` off the front of `text`; false when it is not there.
bool take(std::string_view &text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix)
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Checks the first line; returns what follows it, and the version.
absl::StatusOr<std::string_view> checkFirstLine(std::string_view text, const std::string &file,
                                                int64_t &version) {
  if (!take(text, "{\"format\": \"weft checkpoint\", \"version\": "))
    return broken(file, "it does not begin as the manifest of a weft checkpoint");
  const std::string digits(text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size())));
  if (!absl::SimpleAtoi(digits, &version))
    return broken(file, "its version is not a number");
  if (version < 1 || version > kManifestVersion)
    return absl::UnimplementedError(absl::StrCat(file, ": checkpoint format version ", version,
                                                 ", this weft reads versions 1 to ", kManifestVersion,
                                                 ". Use the weft that wrote it, or a newer one."));
  text.remove_prefix(digits.size());
  const bool named = take(text, ", \"xxh64\": \"");
  const std::optional<uint64_t> checksum = named ? checksumFromText(text.substr(0, 16)) : std::nullopt;
  if (!checksum)
    return broken(file, "its checksum is missing");
  text.remove_prefix(16);
  if (!take(text, "\",\n"))
    return broken(file, "its first line is damaged");
  if (checksumOf(text) != *checksum)
    return broken(file, "its checksum does not match: it was changed or cut short");
  return text;
}

/// JSON without repeated keys and with bounded nesting; else `problem` says why not.
Json parseStrictly(const std::string &text, std::string &problem) {
  std::vector<absl::flat_hash_set<std::string>> keys;
  const auto check = [&](int depth, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      problem = absl::StrCat("key '", value.get<std::string>(), "' comes twice");
    if (depth > kMostNesting)
      problem = absl::StrCat("more than ", kMostNesting, " levels of nesting");
    return depth <= kMostNesting;
  };
  if (text.find('\0') != std::string::npos) {
    problem = "there is a zero byte in it";
    return {};
  }
  Json json = Json::parse(text, check, /*allow_exceptions=*/false);
  if (problem.empty() && json.is_discarded())
    problem = "it is not JSON";
  return json;
}

/// Reads fields of objects; keeps the first problem, and gives empty values after it.
class FieldReader {
public:
  std::string problem;

  /// An object with exactly these keys.
  bool hasKeys(const Json &json, std::initializer_list<const char *> keys, const std::string &what) {
    if (!json.is_object())
      return fail(absl::StrCat(what, " is not an object"));
    for (const char *key : keys)
      if (!json.contains(key))
        return fail(absl::StrCat(what, " has no '", key, "'"));
    if (json.size() != keys.size())
      for (const auto &item : json.items())
        if (std::find(keys.begin(), keys.end(), item.key()) == keys.end())
          return fail(absl::StrCat(what, " has an unknown key '", item.key(), "'"));
    return true;
  }

  std::string text(const Json &json, const std::string &what) {
    if (json.is_string())
      return json.get<std::string>();
    fail(absl::StrCat(what, " is not text"));
    return "";
  }

  int64_t integer(const Json &json, const std::string &what) {
    const bool fits = json.is_number_integer() &&
                      (!json.is_number_unsigned() ||
                       json.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
    if (fits)
      return json.get<int64_t>();
    fail(absl::StrCat(what, " is not a whole number of 64 bits"));
    return 0;
  }

  std::vector<int64_t> integers(const Json &json, const std::string &what) {
    std::vector<int64_t> result;
    for (const Json &element : list(json, what))
      result.push_back(integer(element, what));
    return result;
  }

  const Json &list(const Json &json, const std::string &what) {
    static const Json empty = Json::array();
    if (json.is_array())
      return json;
    fail(absl::StrCat(what, " is not a list"));
    return empty;
  }

  bool fail(std::string what) {
    if (problem.empty())
      problem = std::move(what);
    return false;
  }
};

/// Reads the records of files and tensors, as a version of the format has them.
class RecordReader : public FieldReader {
public:
  /// Files have blocks of so many bytes; 0: version 1, where pieces have the checksums.
  explicit RecordReader(int64_t blockBytes) : blockBytes(blockBytes) {}

  FileRecord file(const Json &json);
  TensorRecord tensor(const Json &json);
  /// Gives files the blocks that pieces of version 1 are.
  void placeBlocks(std::vector<FileRecord> &files);

private:
  PieceRecord piece(const Json &json, const std::string &tensor);

  int64_t blockBytes;
  absl::flat_hash_map<std::string, std::vector<Block>> pieceBlocks; ///< by file
};

FileRecord RecordReader::file(const Json &json) {
  const bool isSound = blockBytes > 0 ? hasKeys(json, {"name", "bytes", "xxh64"}, "a file")
                                      : hasKeys(json, {"name", "bytes"}, "a file");
  if (!isSound)
    return {};
  FileRecord file{text(json["name"], "a file's name"), integer(json["bytes"], "a file's size"), {}};
  if (blockBytes == 0 || file.bytes < 0)
    return file;
  const std::string checksums = text(json["xxh64"], "the checksums of a file");
  std::optional<std::vector<Block>> blocks = blocksFromText(checksums, file.bytes, blockBytes);
  if (!blocks)
    fail(absl::StrCat("file '", file.name, "' of ", file.bytes,
                      " bytes has not 16 hexadecimal digits for each block of ", blockBytes));
  file.blocks = std::move(blocks).value_or(std::vector<Block>());
  return file;
}

PieceRecord RecordReader::piece(const Json &json, const std::string &tensor) {
  const std::string what = absl::StrCat("a piece of tensor '", tensor, "'");
  const bool isSound = blockBytes > 0
                           ? hasKeys(json, {"file", "offset", "size", "begin", "end"}, what)
                           : hasKeys(json, {"file", "offset", "size", "begin", "end", "xxh64"}, what);
  if (!isSound)
    return {};
  PieceRecord piece;
  piece.file = text(json["file"], what);
  piece.slice.offset = integers(json["offset"], what);
  piece.slice.size = integers(json["size"], what);
  piece.begin = integer(json["begin"], what);
  piece.end = integer(json["end"], what);
  if (blockBytes > 0)
    return piece;
  const std::optional<uint64_t> checksum = checksumFromText(text(json["xxh64"], what));
  if (!checksum)
    fail(absl::StrCat("the checksum of ", what, " is not 16 hexadecimal digits"));
  else if (piece.begin < piece.end)
    pieceBlocks[piece.file].push_back({piece.begin, piece.end, *checksum});
  return piece;
}

TensorRecord RecordReader::tensor(const Json &json) {
  if (!hasKeys(json, {"name", "dtype", "shape", "placement", "pieces"}, "a tensor"))
    return {};
  TensorRecord tensor;
  tensor.name = text(json["name"], "a tensor's name");
  const std::string dtype = text(json["dtype"], "a tensor's dtype");
  if (const std::optional<DType> type = dtypeFromName(dtype))
    tensor.type.dtype = *type;
  else
    fail(absl::StrCat("tensor '", tensor.name, "' has an unknown dtype '", dtype, "'"));
  tensor.type.shape = integers(json["shape"], absl::StrCat("the shape of tensor '", tensor.name, "'"));
  tensor.placement = text(json["placement"], absl::StrCat("the placement of tensor '", tensor.name, "'"));
  for (const Json &record : list(json["pieces"], "a tensor's pieces"))
    tensor.pieces.push_back(piece(record, tensor.name));
  return tensor;
}

void RecordReader::placeBlocks(std::vector<FileRecord> &files) {
  for (FileRecord &file : files)
    if (const auto found = pieceBlocks.find(file.name); found != pieceBlocks.end()) {
      file.blocks = std::move(found->second);
      std::sort(file.blocks.begin(), file.blocks.end(),
                [](const Block &a, const Block &b) { return a.begin < b.begin; });
      pieceBlocks.erase(found);
    }
}
} // namespace

absl::StatusOr<RankRecord> parseRankRecord(const std::string &text) {
  std::string problem;
  const Json json = parseStrictly(text, problem);
  RecordReader reader(kBlockBytes);
  RankRecord record;
  if (problem.empty() && reader.hasKeys(json, {"file", "tensors"}, "the record")) {
    record.file = reader.file(json["file"]);
    for (const Json &tensor : reader.list(json["tensors"], "tensors"))
      record.tensors.push_back(reader.tensor(tensor));
  }
  problem = problem.empty() ? reader.problem : problem;
  if (!problem.empty())
    return absl::DataLossError(absl::StrCat("the record of what a rank saved is broken: ", problem));
  return record;
}

/// The block size that the manifest states; 0 after a problem, which the reader has.
static int64_t readBlockBytes(const Json &json, FieldReader &reader) {
  const int64_t bytes = reader.integer(json["block_bytes"], "block_bytes");
  if (bytes < 1)
    reader.fail(absl::StrCat("blocks of ", bytes, " bytes cannot be"));
  return std::max<int64_t>(bytes, 0);
}

absl::StatusOr<Manifest> parseManifest(std::string_view text, const std::string &file) {
  int64_t version = 0;
  absl::StatusOr<std::string_view> rest = checkFirstLine(text, file, version);
  if (!rest.ok())
    return rest.status();
  std::string problem;
  Json json = parseStrictly(absl::StrCat("{", absl::string_view(rest->data(), rest->size())), problem);
  if (!problem.empty())
    return broken(file, problem);

  FieldReader fields;
  Manifest manifest;
  const bool hasKeys =
      version == 1 ? fields.hasKeys(json, {"step", "text", "values", "files", "tensors"}, "the manifest")
                   : fields.hasKeys(json, {"step", "text", "values", "block_bytes", "files", "tensors"},
                                    "the manifest");
  if (!hasKeys)
    return broken(file, fields.problem);
  manifest.blockBytes = version == 1 ? 0 : readBlockBytes(json, fields);
  manifest.state.step = fields.integer(json["step"], "step");
  if (!json["text"].is_object())
    return broken(file, "text is not an object");
  for (const auto &item : json["text"].items())
    manifest.state.text[item.key()] = fields.text(item.value(), absl::StrCat("text '", item.key(), "'"));
  manifest.state.values = std::move(json["values"]);
  if (!fields.problem.empty())
    return broken(file, fields.problem);

  RecordReader records(manifest.blockBytes);
  for (const Json &record : records.list(json["files"], "files"))
    manifest.files.push_back(records.file(record));
  for (const Json &record : records.list(json["tensors"], "tensors"))
    manifest.tensors.push_back(records.tensor(record));
  records.placeBlocks(manifest.files);
  problem = records.problem.empty() ? checkManifest(manifest) : records.problem;
  if (!problem.empty())
    return broken(file, problem);
  return manifest;
}

} // namespace weft::checkpoint
