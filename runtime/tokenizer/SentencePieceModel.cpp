//===- SentencePieceModel.cpp - The SentencePiece library -----------------===//
//
// Forwards to the library, which is safe to use from many threads once a model is loaded. A model without
// byte fallback is given one, so that runs of unknown characters take linear time; a run of the ids that only
// the library knows is one unknown token, as it is one to the model itself.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/SentencePieceModel.h"

#include "runtime/tokenizer/SentencePieceFallback.h"

#include <sentencepiece_processor.h>

namespace weft {

struct SentencePieceModel::Library {
  sentencepiece::SentencePieceProcessor processor;
  /// Those of the model itself.
  int32_t pieces = 0;
  int32_t unknown = 0;
};

SentencePieceModel::SentencePieceModel() : library(std::make_unique<Library>()) {}
SentencePieceModel::~SentencePieceModel() = default;
SentencePieceModel::SentencePieceModel(SentencePieceModel &&) noexcept = default;
SentencePieceModel &SentencePieceModel::operator=(SentencePieceModel &&) noexcept = default;

/// Whether the model has a piece called like that of a byte, be it one or not. One that is not could not be
/// told from the byte: such a model stays as it is.
static bool hasPieceOfByte(const sentencepiece::SentencePieceProcessor &processor) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string piece = fallbackPiece(static_cast<unsigned char>(byte));
    if (processor.IdToPiece(processor.PieceToId(piece)) == piece)
      return true;
  }
  return false;
}

std::string SentencePieceModel::load(std::string_view bytes) {
  sentencepiece::SentencePieceProcessor &processor = library->processor;
  if (const auto status = processor.LoadFromSerializedProto(bytes); !status.ok())
    return status.ToString();
  library->pieces = processor.GetPieceSize();
  // The library refuses models that have not exactly one unknown piece.
  library->unknown = 0;
  while (!processor.IsUnknown(library->unknown))
    ++library->unknown;
  if (hasPieceOfByte(processor) || processor.LoadFromSerializedProto(withByteFallback(bytes)).ok())
    return "";
  // Its self-tests lie behind what withByteFallback does not read.
  const auto status = processor.LoadFromSerializedProto(bytes);
  return status.ok() ? "" : status.ToString();
}

std::string SentencePieceModel::encode(std::string_view text, std::vector<int32_t> &ids) const {
  std::vector<int> found;
  const auto status = library->processor.Encode(text, &found);
  bool followsUnknown = false;
  for (int id : found) {
    const bool isFallback = id >= library->pieces;
    if (!isFallback)
      ids.push_back(id);
    else if (!followsUnknown)
      ids.push_back(library->unknown);
    followsUnknown = isFallback;
  }
  return status.ok() ? "" : status.ToString();
}

int32_t SentencePieceModel::size() const { return library->pieces; }

std::string SentencePieceModel::spelling(int32_t id) const { return library->processor.IdToPiece(id); }

std::string SentencePieceModel::firstText(int32_t id) const {
  std::string text;
  const auto status = library->processor.Decode(std::vector<int>{id}, &text);
  return status.ok() ? text : "";
}

bool SentencePieceModel::isByte(int32_t id) const { return library->processor.IsByte(id); }

bool SentencePieceModel::isUnknown(int32_t id) const { return library->processor.IsUnknown(id); }

bool SentencePieceModel::isControl(int32_t id) const { return library->processor.IsControl(id); }

int32_t SentencePieceModel::endId() const { return library->processor.eos_id(); }

} // namespace weft
