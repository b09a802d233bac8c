//===- SentencePieceModel.cpp - The SentencePiece library -----------------===//
//
// Forwards to the library, which is safe to use from many threads once a model is loaded.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/SentencePieceModel.h"

#include <sentencepiece_processor.h>

namespace weft {

struct SentencePieceModel::Library {
  sentencepiece::SentencePieceProcessor processor;
};

SentencePieceModel::SentencePieceModel() : library(std::make_unique<Library>()) {}
SentencePieceModel::~SentencePieceModel() = default;
SentencePieceModel::SentencePieceModel(SentencePieceModel &&) noexcept = default;
SentencePieceModel &SentencePieceModel::operator=(SentencePieceModel &&) noexcept = default;

std::string SentencePieceModel::load(std::string_view bytes) {
  const auto status = library->processor.LoadFromSerializedProto(bytes);
  return status.ok() ? "" : status.ToString();
}

std::string SentencePieceModel::encode(std::string_view text, std::vector<int32_t> &ids) const {
  std::vector<int> found;
  const auto status = library->processor.Encode(text, &found);
  ids.insert(ids.end(), found.begin(), found.end());
  return status.ok() ? "" : status.ToString();
}

int32_t SentencePieceModel::size() const { return library->processor.GetPieceSize(); }

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
