//===- BytePairTrainer.cpp - A byte-level vocabulary from texts -----------===//
//
// A queue has the pairs with the pieces that they are in. A merge changes the counts of the pairs beside it,
// not the queue: what comes up with a count that is no longer true is put back with the one that is. Pieces
// are in an order of their own, so that the order of a hash map does not matter.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/BytePairTrainer.h"

#include "runtime/tokenizer/ByteAlphabet.h"

#include <algorithm>
#include <array>
#include <queue>

namespace weft {

absl::Status PieceCounts::add(std::string_view text) {
  std::array<Splitter::Piece, 256> found;
  for (size_t position = 0;;) {
    absl::StatusOr<size_t> count = splitter.split(text, position, found, scratch.get());
    if (!count.ok())
      return count.status();
    for (const Splitter::Piece &piece : std::span(found).first(*count))
      ++pieces[absl::string_view(text.data() + piece.begin, piece.end - piece.begin)];
    if (*count < found.size())
      return absl::OkStatus();
    position = found.back().end;
  }
}

namespace {

using Pair = std::pair<int32_t, int32_t>;

struct Word {
  std::vector<int32_t> symbols;
  int64_t count;
};

/// A pair with the words that it came into since it was last taken.
struct Candidate {
  int64_t count;
  Pair pair;
  std::vector<uint32_t> words;
};

/// Whether `a` comes up after `b`.
struct ComesLater {
  bool operator()(const Candidate &a, const Candidate &b) const {
    return a.count != b.count ? a.count < b.count : a.pair > b.pair;
  }
};

class Trainer {
public:
  Trainer(const PieceCounts &counts, const BytePairTrainerOptions &options) : options(options) {
    addAlphabet();
    addWords(counts);
  }

  TrainedVocabulary train() {
    countPairs();
    while (vocabulary.tokens.size() < options.vocabularySize && !queue.empty()) {
      Candidate top = takeTop();
      const int64_t count = pairCounts[top.pair];
      if (top.count != count) {
        top.count = count;
        queue.push(std::move(top));
        continue;
      }
      if (count < 1 || count < options.leastCount)
        break;
      merge(top);
      if (options.onProgress && vocabulary.tokens.size() % 256 == 0)
        options.onProgress(vocabulary.tokens.size());
    }
    keepLastOfEachMerge();
    return std::move(vocabulary);
  }

private:
  int32_t idOf(const std::string &token) {
    const auto [found, isNew] = ids.emplace(token, static_cast<int32_t>(vocabulary.tokens.size()));
    if (isNew)
      vocabulary.tokens.push_back(token);
    return found->second;
  }

  void addAlphabet() {
    for (const std::string &special : options.specialTokens)
      idOf(special);
    vocabulary.specialTokens = vocabulary.tokens.size();
    std::vector<std::string> characters;
    for (int byte = 0; byte < 256; ++byte)
      characters.push_back(toByteAlphabet(std::string(1, static_cast<char>(byte))));
    std::vector<std::string> ordered = characters;
    // UTF-8 sorts as the characters do.
    std::sort(ordered.begin(), ordered.end());
    for (const std::string &character : ordered)
      idOf(character);
    for (size_t byte = 0; byte < 256; ++byte)
      byteIds[byte] = idOf(characters[byte]);
  }

  void addWords(const PieceCounts &counts) {
    std::vector<std::pair<std::string_view, int64_t>> pieces(counts.counts().begin(), counts.counts().end());
    std::sort(pieces.begin(), pieces.end());
    for (const auto &[piece, count] : pieces) {
      Word word{{}, count};
      for (char byte : piece)
        word.symbols.push_back(byteIds[static_cast<unsigned char>(byte)]);
      words.push_back(std::move(word));
    }
  }

  void countPairs() {
    for (size_t i = 0; i < words.size(); ++i)
      for (size_t k = 0; k + 1 < words[i].symbols.size(); ++k)
        change({words[i].symbols[k], words[i].symbols[k + 1]}, i, 1);
    enqueueNew();
  }

  /// The pair comes once more, or once less, in a word.
  void change(Pair pair, size_t word, int sign) {
    pairCounts[pair] += sign * words[word].count;
    if (sign < 0)
      return;
    std::vector<uint32_t> &in = newIn[pair];
    if (in.empty() || in.back() != word)
      in.push_back(static_cast<uint32_t>(word));
  }

  void enqueueNew() {
    for (auto &[pair, in] : newIn)
      if (const int64_t count = pairCounts[pair]; count > 0)
        queue.push({count, pair, std::move(in)});
    newIn.clear();
  }

  Candidate takeTop() {
    Candidate top = std::move(const_cast<Candidate &>(queue.top()));
    queue.pop();
    return top;
  }

  void merge(const Candidate &top) {
    const auto spelling = [this](int32_t id) { return vocabulary.tokens[static_cast<size_t>(id)]; };
    const int32_t result = idOf(spelling(top.pair.first) + spelling(top.pair.second));
    vocabulary.merges.push_back(top.pair);
    for (uint32_t word : top.words)
      mergeIn(word, top.pair, result);
    enqueueNew();
  }

  void mergeIn(size_t word, Pair pair, int32_t result) {
    std::vector<int32_t> &symbols = words[word].symbols;
    size_t written = 0;
    for (size_t i = 0; i < symbols.size(); ++i, ++written) {
      const bool isHere = i + 1 < symbols.size() && symbols[i] == pair.first && symbols[i + 1] == pair.second;
      if (!isHere) {
        symbols[written] = symbols[i];
        continue;
      }
      if (written > 0) {
        change({symbols[written - 1], pair.first}, word, -1);
        change({symbols[written - 1], result}, word, 1);
      }
      if (i + 2 < symbols.size()) {
        change({pair.second, symbols[i + 2]}, word, -1);
        change({result, symbols[i + 2]}, word, 1);
      }
      symbols[written] = result;
      ++i;
    }
    symbols.resize(written);
  }

  /// A pair that comes up again, after another way to spell its neighbor, merges where its last place is.
  void keepLastOfEachMerge() {
    absl::flat_hash_map<Pair, bool> seen;
    std::vector<Pair> kept;
    for (size_t i = vocabulary.merges.size(); i-- > 0;)
      if (seen.emplace(vocabulary.merges[i], true).second)
        kept.push_back(vocabulary.merges[i]);
    std::reverse(kept.begin(), kept.end());
    vocabulary.merges = std::move(kept);
  }

  const BytePairTrainerOptions &options;
  TrainedVocabulary vocabulary;
  absl::flat_hash_map<std::string, int32_t> ids;
  std::array<int32_t, 256> byteIds{};
  std::vector<Word> words;
  absl::flat_hash_map<Pair, int64_t> pairCounts;
  absl::flat_hash_map<Pair, std::vector<uint32_t>> newIn;
  std::priority_queue<Candidate, std::vector<Candidate>, ComesLater> queue;
};

} // namespace

TrainedVocabulary trainBytePairs(const PieceCounts &counts, const BytePairTrainerOptions &options) {
  return Trainer(counts, options).train();
}

} // namespace weft
