//===- SentencePieceModel.h - The SentencePiece library -------------------===//
//
// What the tokenizer asks of the library, without its header: that one declares an absl::string_view of its
// own, which no file that includes Abseil can bear. Errors are texts for the same reason; empty means none.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_SENTENCEPIECEMODEL_H
#define WEFT_RUNTIME_TOKENIZER_SENTENCEPIECEMODEL_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

class SentencePieceModel {
public:
  SentencePieceModel();
  ~SentencePieceModel();
  SentencePieceModel(SentencePieceModel &&) noexcept;
  SentencePieceModel &operator=(SentencePieceModel &&) noexcept;

  /// `bytes`: a serialized ModelProto.
  std::string load(std::string_view bytes);

  /// Appends the ids of well-formed text.
  std::string encode(std::string_view text, std::vector<int32_t> &ids) const;

  int32_t size() const;
  std::string spelling(int32_t id) const;
  /// The text of one id as the first of a text.
  std::string firstText(int32_t id) const;
  bool isByte(int32_t id) const;
  bool isUnknown(int32_t id) const;
  bool isControl(int32_t id) const;
  /// -1: none.
  int32_t endId() const;

private:
  struct Library;
  std::unique_ptr<Library> library;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_SENTENCEPIECEMODEL_H
