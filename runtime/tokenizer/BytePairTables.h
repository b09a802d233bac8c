//===- BytePairTables.h - A vocabulary as encoding needs it ---------------===//
//
// Only merges that can happen are kept. When two neighbors merge, all that came before happened inside their
// bytes as if nothing were around them; so it can happen only if it is what encoding the joined spelling
// alone ends with. Each token that merging can give has exactly one such merge, its origin, and the rank of
// the merge is the token's. A file that lists ranks and one that lists merges become the same tables.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_BYTEPAIRTABLES_H
#define WEFT_RUNTIME_TOKENIZER_BYTEPAIRTABLES_H

#include "runtime/tokenizer/Backtracking.h"
#include "runtime/tokenizer/BytePairEncoding.h"
#include "runtime/tokenizer/Merging.h"
#include "runtime/tokenizer/TokenTable.h"

#include <array>

namespace weft {

struct BytePairEncoding::Tables {
  Tables(std::vector<std::string> spellings, const Options &options);

  /// The symbols that a piece begins as.
  void symbolsOf(std::string_view piece, std::vector<int32_t> &symbols) const;

  /// Finds each token's origin by encoding its spelling, and keeps these merges.
  template <class Ranks> void keepPossibleMerges(const Ranks &ranks);

  Options options;
  /// Differs between any two of one process: a scratch remembers whose pieces it has.
  uint64_t identity;
  std::vector<std::string> tokens;
  TokenTable spelled;
  /// The tokens that a piece of their spelling becomes.
  TokenTable wholePieces;
  MergeTable merges;
  std::vector<TokenOrigin> origins;
  /// How many symbols each id is made of.
  std::vector<int32_t> widths;
  /// Of the bytes: symbols, or what characters fall back to; TokenTable::none where there is no such token.
  std::array<int32_t, 256> byteIds;
  bool hasAllBytes = false;
  /// With all bytes: the ranks of two symbols by their bytes.
  std::vector<int32_t> byteRanks;
  /// With all bytes, where ranks allow it: how long pieces are encoded.
  Backtracking backtracking;

private:
  void findByteIds();
  int32_t widthOf(int32_t id) const;
  void addCharacter(std::string_view character, std::vector<int32_t> &symbols, bool &isUnknownPending) const;
};

template <class Ranks> void BytePairEncoding::Tables::keepPossibleMerges(const Ranks &ranks) {
  MergeBuffers buffers;
  std::vector<int32_t> symbols;
  std::vector<int32_t> merged, reached;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    if (tokens[i].empty() || spelled.find(tokens[i]) != id)
      continue;
    symbols.clear();
    symbolsOf(tokens[i], symbols);
    Merging<Ranks> merging(ranks, widths, buffers);
    const bool isReached = merging.merge(symbols) == 1 && symbols.front() == id;
    if (isReached && merging.last().rank != MergeTable::never) {
      origins[i] = {merging.last().rank, merging.last().left, merging.last().right};
      merged.push_back(id);
    }
    if (isReached)
      reached.push_back(id);
    if (isReached || options.ignoreMerges)
      wholePieces.insert(tokens[i], id);
  }
  const auto rankOf = [this](int32_t id) { return origins[static_cast<size_t>(id)].rank; };
  std::sort(merged.begin(), merged.end(), [&](int32_t a, int32_t b) { return rankOf(a) < rankOf(b); });
  merges = MergeTable(merged.size());
  for (int32_t id : merged) {
    TokenOrigin &origin = origins[static_cast<size_t>(id)];
    origin.rank = merges.append(origin.left, origin.right, id);
  }
  if (!hasAllBytes)
    return;
  for (size_t pair = 0; pair < byteRanks.size(); ++pair)
    byteRanks[pair] = merges.rankOf(byteIds[pair >> 8], byteIds[pair & 255]);
  backtracking = Backtracking(tokens, std::move(reached), origins);
}

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_BYTEPAIRTABLES_H
