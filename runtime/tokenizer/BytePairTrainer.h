//===- BytePairTrainer.h - A byte-level vocabulary from texts -------------===//
//
// Byte-pair encoding learned: again and again the most frequent pair of neighbors within the pieces of the
// texts becomes a token. The result is a function of the texts and the options alone, and is what BpeTrainer
// of Hugging Face tokenizers gives: of pairs equally frequent the one with the lower ids comes first; special
// tokens have the first ids, the 256 bytes follow in the order of their characters.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_BYTEPAIRTRAINER_H
#define WEFT_RUNTIME_TOKENIZER_BYTEPAIRTRAINER_H

#include "runtime/tokenizer/Splitter.h"

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// How often each piece of the texts comes.
class PieceCounts {
public:
  explicit PieceCounts(const Splitter &splitter) : splitter(splitter), scratch(splitter.makeScratch()) {}

  absl::Status add(std::string_view text);
  const absl::flat_hash_map<std::string, int64_t> &counts() const { return pieces; }

private:
  const Splitter &splitter;
  std::unique_ptr<Splitter::Scratch> scratch;
  absl::flat_hash_map<std::string, int64_t> pieces;
};

struct BytePairTrainerOptions {
  /// Special tokens, bytes and merged tokens together. Fewer come out when no pair is left.
  size_t vocabularySize = 32000;
  /// Pairs that come less often do not merge.
  int64_t leastCount = 0;
  /// As they are written in text. They are the first ids, in this order, once each.
  std::vector<std::string> specialTokens;
  /// Called with the size of the vocabulary now and then.
  std::function<void(size_t)> onProgress;
};

struct TrainedVocabulary {
  /// The spelling of each id in the byte alphabet (ByteAlphabet.h); of special tokens, their name.
  std::vector<std::string> tokens;
  /// Ids in ascending rank.
  std::vector<std::pair<int32_t, int32_t>> merges;
  size_t specialTokens = 0; ///< that begin `tokens`
};

TrainedVocabulary trainBytePairs(const PieceCounts &counts, const BytePairTrainerOptions &options);

/// The file tokenizer.json of a vocabulary whose texts were split by the named pattern (wellKnownPattern, in
/// the dialect of that file: Oniguruma).
std::string writeTokenizerJson(const TrainedVocabulary &vocabulary, std::string_view patternName);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_BYTEPAIRTRAINER_H
