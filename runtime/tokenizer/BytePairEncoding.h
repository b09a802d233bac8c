//===- BytePairEncoding.h - Pieces of text to token ids -------------------===//
//
// The one engine behind every byte-pair vocabulary. A piece begins as symbols (its bytes or its characters);
// as long as two neighbors may merge, those of the lowest rank do, the leftmost first. The ids are those that
// this rule gives, however they are found: whole pieces and pieces seen lately are looked up, short ones are
// merged by scanning, long ones with a queue (n log n, no recursion, memory proportional to the piece).
// Immutable: one object serves all threads, each with a scratch of its own.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_BYTEPAIRENCODING_H
#define WEFT_RUNTIME_TOKENIZER_BYTEPAIRENCODING_H

#include "runtime/tokenizer/Splitter.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

class BytePairEncoding {
public:
  struct Merge {
    int32_t left;
    int32_t right;
    int32_t result;
  };

  enum class Symbols {
    Bytes,      ///< every byte is a symbol: the token of that one byte
    Characters, ///< every character is: the token of its UTF-8 bytes
  };

  struct Options {
    Symbols symbols = Symbols::Bytes;
    /// A whole piece that is a token is that token, whatever merging would give.
    bool ignoreMerges = false;
    /// A character without a token becomes the tokens spelled <0x00> to <0xFF> of its bytes, if all are
    /// there.
    bool byteFallback = false;
    /// Neighboring symbols without a token give one `unknown` together.
    bool fuseUnknown = false;
    /// The id of a symbol without a token. Absent: such symbols give no id.
    std::optional<int32_t> unknown;
  };

  /// The buffers of one thread, and the ids of pieces that it met lately.
  class Scratch {
  public:
    Scratch();
    ~Scratch();
    Scratch(Scratch &&) noexcept;
    Scratch &operator=(Scratch &&) noexcept;

  private:
    friend class BytePairEncoding;
    struct Parts;
    std::unique_ptr<Parts> parts;
  };

  /// tokens[i]: the bytes of id i; empty: no piece of text becomes that id (a hole, a special token). merges
  /// in ascending rank; `result` must be spelled as left and right joined. Errors name the index in `merges`.
  static absl::StatusOr<BytePairEncoding> create(std::vector<std::string> tokens, std::vector<Merge> merges,
                                                 Options options);

  /// As tiktoken files say it: ids are ranks, and two neighbors merge whenever they are spelled like a token.
  /// All 256 single bytes must be tokens, a whole piece that is a token is that token.
  static absl::StatusOr<BytePairEncoding> createFromRanks(std::vector<std::string> tokens);

  ~BytePairEncoding();
  BytePairEncoding(BytePairEncoding &&) noexcept;
  BytePairEncoding &operator=(BytePairEncoding &&) noexcept;

  /// Appends the ids of one piece: any bytes, any length.
  void encode(std::string_view piece, std::vector<int32_t> &ids, Scratch &scratch) const;

  /// Appends the ids of all pieces of `text`; faster than piece by piece. `splitterScratch` is what the
  /// splitter's makeScratch() gave.
  absl::Status encode(std::string_view text, const Splitter &splitter, Splitter::Scratch *splitterScratch,
                      std::vector<int32_t> &ids, Scratch &scratch) const;

  /// The token spelled like this.
  std::optional<int32_t> idOf(std::string_view bytes) const;

  /// Ids are 0 .. tokenCount() - 1.
  int32_t tokenCount() const;
  /// As they were given; valid as long as the encoding.
  std::string_view bytesOf(int32_t id) const;

private:
  struct Tables;
  class Encoder;
  explicit BytePairEncoding(std::unique_ptr<const Tables> tables);

  std::unique_ptr<const Tables> tables;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_BYTEPAIRENCODING_H
