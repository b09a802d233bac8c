//===- CompressedJsonlFuzzer.cpp - Any bytes as a compressed corpus -------===//
//
// The first byte says what the others become: a file as they are, or as gzip or Zstandard, whole or with one
// byte changed or cut off. The file is then read as text and as JSONL, in pieces. A whole file must give back
// what was compressed; a damaged one an error with a message, or text; and the pieces of either must be its
// text.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/EncodedPieces.h"
#include "runtime/data/SourcePieces.h"
#include "runtime/data/TextReader.h"
#include "runtime/tokenizer/BytesTokenizer.h"
#include "tests/fuzz/Require.h"

#include <cstring>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

using namespace weft;

namespace {
/// A bomb is read no further.
constexpr size_t mostText = size_t{4} << 20;

std::string gzip(std::string_view text) {
  z_stream stream{};
  require(deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
          "deflateInit2");
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflate");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

/// A file in memory that has a path.
class MemoryFile {
public:
  explicit MemoryFile(std::string_view contents) : descriptor(::memfd_create("fuzz", 0)) {
    require(descriptor >= 0, "memfd_create");
    require(::write(descriptor, contents.data(), contents.size()) == static_cast<ssize_t>(contents.size()),
            "write");
  }
  ~MemoryFile() { ::close(descriptor); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
  int descriptor;
};

/// The text of the file; nothing when it is longer than what is read of a bomb.
absl::StatusOr<std::optional<std::string>> readAll(const std::string &path) {
  absl::StatusOr<std::unique_ptr<TextReader>> reader = TextReader::open(path);
  if (!reader.ok())
    return reader.status();
  std::string text;
  std::string part(5000, '\0');
  while (text.size() <= mostText) {
    absl::StatusOr<size_t> count = (*reader)->read(part);
    if (!count.ok())
      return count.status();
    if (*count == 0)
      return text;
    text.append(part, 0, *count);
  }
  return std::nullopt;
}

/// Reads the file in pieces, encodes each, and returns their text.
absl::StatusOr<std::string> readPieces(const std::string &path, SourceFormat format) {
  BytesTokenizer tokenizer;
  SourceFile file{path, format, 0, 0};
  absl::StatusOr<PieceReader> reader =
      PieceReader::open(file, {}, [&](std::string_view text) { return tokenizer.independentPrefix(text); });
  if (!reader.ok())
    return reader.status();
  PieceEncoder encoder(tokenizer, TokenType::U16, "text");
  std::string text;
  while (true) {
    SourcePiece piece;
    if (absl::Status status = reader->next(piece); !status.ok())
      return status;
    text += piece.text;
    EncodedPieces encoded;
    absl::Status status = encoder.encode(piece, encoded);
    require(status.ok() || !status.message().empty(), "an error without a message");
    if (piece.endsFile)
      return text;
  }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string_view rest(reinterpret_cast<const char *>(data) + 1, size - 1);
  int kind = data[0] % 3;
  bool isDamaged = data[0] >= 128;
  std::string contents = kind == 0 ? std::string(rest) : kind == 1 ? gzip(rest) : zstd(rest);
  if (isDamaged && kind != 0 && rest.size() >= 3) {
    size_t at =
        (size_t{static_cast<uint8_t>(rest[0])} << 8 | static_cast<uint8_t>(rest[1])) % contents.size();
    if (rest[2] == 0)
      contents.resize(at);
    else
      contents[at] ^= rest[2];
  }
  MemoryFile file(contents);
  absl::StatusOr<std::optional<std::string>> text = readAll(file.path());
  require(text.ok() || !text.status().message().empty(), "an error without a message");
  if (kind != 0 && !isDamaged)
    require(text.ok() && *text == rest, "another text than was compressed");
  if (text.ok() && !*text)
    return 0;
  for (SourceFormat format : {SourceFormat::Text, SourceFormat::Jsonl}) {
    absl::StatusOr<std::string> pieces = readPieces(file.path(), format);
    require(pieces.ok() == text.ok(), "text and pieces do not fail together");
    require(!pieces.ok() || *pieces == **text, "the pieces are not the text");
  }
  return 0;
}
