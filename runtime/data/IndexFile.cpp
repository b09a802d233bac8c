//===- IndexFile.cpp - The .idx half of a Megatron indexed dataset --------===//
//
// Checks come in the order of the file: header, size, sequences, documents. The layout is that of
// Megatron-LM's IndexedDataset, version 1, whose writer always stores sequences one behind the other; a file
// that does not is broken.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/IndexFile.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <optional>

namespace weft {
namespace {

constexpr char magic[9] = {'M', 'M', 'I', 'D', 'I', 'D', 'X', 0, 0};
constexpr uint64_t version = 1;
constexpr size_t headerBytes = 34;
constexpr int64_t bytesPerSequence = 12;
constexpr int64_t bytesPerDocument = 8;

template <typename T> T loadAt(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::optional<TokenType> tokenTypeOfCode(uint8_t code) {
  switch (static_cast<TokenType>(code)) {
  case TokenType::U8:
  case TokenType::I8:
  case TokenType::I16:
  case TokenType::I32:
  case TokenType::I64:
  case TokenType::U16:
    return static_cast<TokenType>(code);
  }
  return std::nullopt;
}

absl::Status checkHeader(std::span<const std::byte> bytes, const std::string &file) {
  if (bytes.size() < sizeof(magic) || std::memcmp(bytes.data(), magic, sizeof(magic)) != 0)
    return absl::DataLossError(absl::StrCat(
        file, ": is not an index file: it does not begin with MMIDIDX. Make one with `weft data prepare`."));
  if (bytes.size() < headerBytes)
    return absl::DataLossError(absl::StrCat(file, ": truncated: ", bytes.size(),
                                            " bytes, the header alone has ", headerBytes,
                                            ". Prepare the data again."));
  if (uint64_t found = loadAt<uint64_t>(bytes, 9); found != version)
    return absl::FailedPreconditionError(
        absl::StrCat(file, ": index version ", found, ", this program reads version ", version));
  uint8_t code = loadAt<uint8_t>(bytes, 17);
  if (!tokenTypeOfCode(code))
    return absl::FailedPreconditionError(
        absl::StrCat(file, ": token type code ", static_cast<int>(code),
                     " is not an integer type. Known: 1 u8, 2 i8, 3 i16, 4 i32, 5 i64, 8 u16."));
  return absl::OkStatus();
}

absl::Status checkSize(std::span<const std::byte> bytes, uint64_t sequences, uint64_t documentIndices,
                       const std::string &file) {
  // Counts that cannot fit are refused before they are multiplied.
  uint64_t size = bytes.size();
  bool plausible = sequences <= size / bytesPerSequence && documentIndices <= size / bytesPerDocument;
  uint64_t expected =
      plausible ? headerBytes + sequences * bytesPerSequence + documentIndices * bytesPerDocument : 0;
  if (!plausible || size < expected)
    return absl::DataLossError(absl::StrCat(file, ": truncated: ", size, " bytes are too few for ", sequences,
                                            " sequences and ", documentIndices,
                                            " document indices. Prepare the data again."));
  if (size == expected + sequences && sequences != 0)
    return absl::FailedPreconditionError(absl::StrCat(
        file, ": a multimodal index: it has a mode for each of its sequences, and only text is read"));
  if (size != expected)
    return absl::DataLossError(absl::StrCat(file, ": ", size - expected, " bytes too many for ", sequences,
                                            " sequences and ", documentIndices,
                                            " document indices. Prepare the data again."));
  if (documentIndices == 0)
    return absl::DataLossError(absl::StrCat(file, ": no document indices: at least the 0 is missing"));
  return absl::OkStatus();
}

std::string binOf(const std::string &file) {
  return file.ends_with(".idx") ? file.substr(0, file.size() - 4) + ".bin" : file + "'s .bin";
}

} // namespace

int64_t byteSize(TokenType type) {
  switch (type) {
  case TokenType::U8:
  case TokenType::I8:
    return 1;
  case TokenType::I16:
  case TokenType::U16:
    return 2;
  case TokenType::I32:
    return 4;
  case TokenType::I64:
    return 8;
  }
  return 0;
}

std::string_view name(TokenType type) {
  switch (type) {
  case TokenType::U8:
    return "u8";
  case TokenType::I8:
    return "i8";
  case TokenType::I16:
    return "i16";
  case TokenType::U16:
    return "u16";
  case TokenType::I32:
    return "i32";
  case TokenType::I64:
    return "i64";
  }
  return "";
}

TokenType tokenTypeFor(int32_t vocabularySize) {
  return vocabularySize < 65500 ? TokenType::U16 : TokenType::I32;
}

int64_t IndexView::sequenceStart(int64_t i) const { return load<int64_t>(pointers, i) / byteSize(type); }

int64_t IndexView::documentStart(int64_t d) const {
  const int64_t sequence = documentBegin(d);
  return sequence < sequenceCount ? sequenceStart(sequence) : tokenCount;
}

int64_t IndexView::documentOfToken(int64_t token) const {
  // The last document whose first token is not beyond `token`; empty documents before it share that first
  // token.
  int64_t low = 0;
  int64_t high = documentCount;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    int64_t sequence = documentBegin(middle);
    bool starts = sequence < sequenceCount && sequenceStart(sequence) <= token;
    (starts ? low : high) = middle;
  }
  return low;
}

absl::StatusOr<IndexView> parseIndex(std::span<const std::byte> bytes, int64_t binBytes,
                                     const std::string &file) {
  if (absl::Status status = checkHeader(bytes, file); !status.ok())
    return status;
  uint64_t sequences = loadAt<uint64_t>(bytes, 18);
  uint64_t documentIndices = loadAt<uint64_t>(bytes, 26);
  if (absl::Status status = checkSize(bytes, sequences, documentIndices, file); !status.ok())
    return status;

  IndexView view;
  view.type = *tokenTypeOfCode(loadAt<uint8_t>(bytes, 17));
  view.sequenceCount = static_cast<int64_t>(sequences);
  view.documentCount = static_cast<int64_t>(documentIndices) - 1;
  view.lengths = bytes.data() + headerBytes;
  view.pointers = view.lengths + sequences * sizeof(int32_t);
  view.documentIndices = view.pointers + sequences * sizeof(int64_t);

  int64_t end = 0;
  int64_t tokenBytes = byteSize(view.type);
  for (int64_t i = 0; i < view.sequenceCount; ++i) {
    int64_t length = view.sequenceLength(i);
    int64_t pointer = IndexView::load<int64_t>(view.pointers, i);
    if (length < 0)
      return absl::DataLossError(absl::StrCat(file, ": sequence ", i, " has length ", length));
    if (pointer != end)
      return absl::DataLossError(absl::StrCat(file, ": sequence ", i, " begins at byte ", pointer,
                                              ", the one before ends at byte ", end, ": they ",
                                              pointer < end ? "overlap" : "leave a gap"));
    end += length * tokenBytes;
    if (end > binBytes)
      return absl::DataLossError(absl::StrCat(file, ": sequence ", i, " ends at byte ", end, " of ",
                                              binOf(file), ", which has ", binBytes,
                                              " bytes. Prepare the data again."));
  }
  if (end != binBytes)
    return absl::DataLossError(absl::StrCat(file, ": describes ", end, " bytes of ", binOf(file),
                                            ", which has ", binBytes,
                                            ": the two do not belong together. Prepare the data again."));
  view.tokenCount = end / tokenBytes;

  int64_t previous = 0;
  for (int64_t d = 0; d <= view.documentCount; ++d) {
    int64_t begin = view.documentBegin(d);
    bool isFirst = d == 0;
    bool isLast = d == view.documentCount;
    if (begin < previous || begin > view.sequenceCount || (isFirst && begin != 0) ||
        (isLast && begin != view.sequenceCount))
      return absl::DataLossError(absl::StrCat(file, ": document index ", d, " is ", begin,
                                              ": they must ascend from 0 to ", view.sequenceCount));
    previous = begin;
  }
  return view;
}

std::vector<std::byte> indexBytes(TokenType type, std::span<const int32_t> sequenceLengths,
                                  std::span<const int64_t> documentBegins) {
  std::vector<std::byte> bytes;
  bytes.reserve(headerBytes + sequenceLengths.size() * bytesPerSequence +
                (documentBegins.size() + 1) * bytesPerDocument);
  auto put = [&](auto value) {
    const std::byte *from = reinterpret_cast<const std::byte *>(&value);
    bytes.insert(bytes.end(), from, from + sizeof(value));
  };
  for (char letter : magic)
    put(letter);
  put(version);
  put(static_cast<uint8_t>(type));
  put(static_cast<uint64_t>(sequenceLengths.size()));
  put(static_cast<uint64_t>(documentBegins.size() + 1));
  for (int32_t length : sequenceLengths)
    put(length);
  int64_t pointer = 0;
  for (int32_t length : sequenceLengths) {
    put(pointer);
    pointer += length * byteSize(type);
  }
  for (int64_t begin : documentBegins)
    put(begin);
  put(static_cast<int64_t>(sequenceLengths.size()));
  return bytes;
}

} // namespace weft
