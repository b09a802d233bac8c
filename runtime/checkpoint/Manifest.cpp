//===- Manifest.cpp - What a checkpoint folder holds ----------------------===//
//
// Writing a manifest, and the rules that hold between its parts, for writer and reader alike. One tensor or
// file is one line, so that people and line-wise tools can read it.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/Manifest.h"
#include "runtime/checkpoint/SafetensorsHeader.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <tuple>

namespace weft::checkpoint {
namespace {
using Json = nlohmann::ordered_json;

Json toJson(const FileRecord &file) {
  return {{"name", file.name}, {"bytes", file.bytes}, {"xxh64", blocksText(file.blocks)}};
}

Json toJson(const PieceRecord &piece) {
  return {{"file", piece.file},
          {"offset", piece.slice.offset},
          {"size", piece.slice.size},
          {"begin", piece.begin},
          {"end", piece.end}};
}

Json toJson(const TensorRecord &tensor) {
  Json pieces = Json::array();
  for (const PieceRecord &piece : tensor.pieces)
    pieces.push_back(toJson(piece));
  return {{"name", tensor.name},
          {"dtype", std::string(name(tensor.type.dtype))},
          {"shape", tensor.type.shape},
          {"placement", tensor.placement},
          {"pieces", std::move(pieces)}};
}

template <typename Record> std::string lines(const std::vector<Record> &records) {
  std::string text;
  for (const Record &record : records)
    absl::StrAppend(&text, text.empty() ? "\n" : ",\n", toJson(record).dump());
  return text;
}

bool isPlainName(const std::string &name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

std::string checkPiece(const TensorRecord &tensor, const PieceRecord &piece,
                       const absl::flat_hash_map<std::string, int64_t> &fileBytes) {
  const auto file = fileBytes.find(piece.file);
  if (file == fileBytes.end())
    return absl::StrCat("lies in file '", piece.file, "', which is not listed");
  if (piece.begin < 0 || piece.end < piece.begin || piece.end > file->second)
    return absl::StrCat("bytes ", piece.begin, " to ", piece.end, " lie outside of ", piece.file);
  const int64_t bytes = piece.slice.elements() * byteSize(tensor.type.dtype);
  if (piece.end - piece.begin != bytes)
    return absl::StrCat("slice ", piece.slice.str(), " needs ", bytes, " bytes, ", piece.end - piece.begin,
                        " are recorded");
  return "";
}

std::string checkTensor(const TensorRecord &tensor,
                        const absl::flat_hash_map<std::string, int64_t> &fileBytes) {
  if (!tensorBytes(tensor.type.shape, byteSize(tensor.type.dtype)))
    return "its shape overflows";
  if (tensor.pieces.empty())
    return "nothing of it is stored";
  std::vector<Slice> slices;
  for (const PieceRecord &piece : tensor.pieces)
    slices.push_back(piece.slice);
  if (std::string problem = checkCover(tensor.type.shape, slices); !problem.empty())
    return problem;
  for (const PieceRecord &piece : tensor.pieces)
    if (std::string problem = checkPiece(tensor, piece, fileBytes); !problem.empty())
      return problem;
  return "";
}

/// A tensor's piece, by its place in a file.
struct PlacedPiece {
  std::string_view file, tensor;
  int64_t begin, end;
};

/// No byte of a file belongs to two tensors.
std::string checkPlaces(const std::vector<TensorRecord> &tensors) {
  std::vector<PlacedPiece> places;
  for (const TensorRecord &tensor : tensors)
    for (const PieceRecord &piece : tensor.pieces)
      if (piece.begin < piece.end)
        places.push_back({piece.file, tensor.name, piece.begin, piece.end});
  std::sort(places.begin(), places.end(), [](const PlacedPiece &a, const PlacedPiece &b) {
    return std::tie(a.file, a.begin) < std::tie(b.file, b.begin);
  });
  for (size_t i = 1; i < places.size(); ++i)
    if (const PlacedPiece &a = places[i - 1], &b = places[i]; a.file == b.file && b.begin < a.end)
      return absl::StrCat("tensors '", absl::string_view(a.tensor.data(), a.tensor.size()), "' and '",
                          absl::string_view(b.tensor.data(), b.tensor.size()), "' share bytes of ",
                          absl::string_view(a.file.data(), a.file.size()));
  return "";
}

std::string checkFile(const FileRecord &file, int64_t blockBytes) {
  if (!isPlainName(file.name) || file.name == kManifestName)
    return absl::StrCat("'", file.name, "' is not a name for a file of tensors");
  if (file.bytes < 0)
    return absl::StrCat("file '", file.name, "' has a negative size");
  if (blockBytes > 0 && !areBlocksOf(file.blocks, file.bytes, blockBytes))
    return absl::StrCat("file '", file.name, "' of ", file.bytes, " bytes is not cut into blocks of ",
                        blockBytes);
  return "";
}
} // namespace

std::string checkManifest(const Manifest &manifest) {
  if (manifest.state.step < 0)
    return absl::StrCat("step ", manifest.state.step, " is negative");
  if (!manifest.state.values.is_object())
    return "the state's values are not an object";
  absl::flat_hash_map<std::string, int64_t> fileBytes;
  for (const FileRecord &file : manifest.files) {
    if (std::string problem = checkFile(file, manifest.blockBytes); !problem.empty())
      return problem;
    if (!fileBytes.emplace(file.name, file.bytes).second)
      return absl::StrCat("file '", file.name, "' comes twice");
  }
  for (size_t i = 0; i < manifest.tensors.size(); ++i) {
    const TensorRecord &tensor = manifest.tensors[i];
    if (i > 0 && tensor.name == manifest.tensors[i - 1].name)
      return absl::StrCat("tensor '", tensor.name, "' comes twice");
    if (i > 0 && tensor.name < manifest.tensors[i - 1].name)
      return absl::StrCat("tensor '", tensor.name, "' is not in its place in the order of names");
    if (std::string problem = checkTensor(tensor, fileBytes); !problem.empty())
      return absl::StrCat("tensor '", tensor.name, "': ", problem);
  }
  return checkPlaces(manifest.tensors);
}

std::string withManifestChecksum(std::string_view rest, int64_t version) {
  std::string text = absl::StrCat("{\"format\": \"weft checkpoint\", \"version\": ", version,
                                  ", \"xxh64\": \"", checksumText(checksumOf(rest)), "\",\n");
  text += rest;
  return text;
}

absl::StatusOr<std::string> formatRankRecord(const RankRecord &record) {
  try {
    return absl::StrCat("{\"file\": ", toJson(record.file).dump(), ",\n\"tensors\": [", lines(record.tensors),
                        "\n]}\n");
  } catch (const nlohmann::json::exception &) {
    return absl::InvalidArgumentError("checkpoint: a tensor's name is not UTF-8");
  }
}

absl::StatusOr<std::string> formatManifest(const Manifest &manifest, int64_t mostBytes) {
  try {
    // JSON has no NaN and no infinity: what reads back otherwise than it was given is refused, not changed.
    const nlohmann::json given = {{"text", manifest.state.text}, {"values", manifest.state.values}};
    const nlohmann::json read = nlohmann::json::parse(given.dump());
    if (read != given)
      return absl::InvalidArgumentError(absl::StrCat(
          "checkpoint state: ", nlohmann::json::diff(given, read).at(0).at("path").get<std::string>(),
          " cannot be written as JSON (is it a number that is not finite?)"));
    std::string rest = absl::StrCat(
        "\"step\": ", manifest.state.step, ",\n\"text\": ", given["text"].dump(1),
        ",\n\"values\": ", given["values"].dump(1), ",\n\"block_bytes\": ", manifest.blockBytes,
        ",\n\"files\": [", lines(manifest.files), "\n],\n\"tensors\": [", lines(manifest.tensors), "\n]}\n");
    std::string text = withManifestChecksum(rest);
    if (static_cast<int64_t>(text.size()) > mostBytes)
      return absl::ResourceExhaustedError(
          absl::StrCat("checkpoint: its manifest takes ", text.size(), " bytes, readers take ", mostBytes,
                       "; this many pieces or blocks do not fit into one checkpoint of this format"));
    return text;
  } catch (const nlohmann::json::exception &) {
    return absl::InvalidArgumentError("checkpoint state: a text, a key or a tensor's name is not UTF-8");
  }
}

} // namespace weft::checkpoint
