//===- BytePairEncoding.cpp - Pieces of text to token ids -----------------===//
//
// From the cheapest to the dearest: a short piece that this thread met lately, a piece that is a token,
// merging. Ids are written into room made ahead, so that a piece costs no check of the vector's size.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/BytePairEncoding.h"

#include "runtime/tokenizer/BytePairTables.h"

#include <array>
#include <utility>

namespace weft {
namespace {

/// Short pieces and their ids, where these are few. A new piece takes the place of an old one.
class PieceCache {
public:
  static constexpr size_t mostIds = 3;
  struct Entry {
    ShortPiece piece;
    std::array<int32_t, mostIds> ids{};
    int32_t count = 0;
  };

  PieceCache() : entries(entryCount) {}
  Entry &entryOf(uint64_t hash) { return entries[hash & (entryCount - 1)]; }
  void clear() { entries.assign(entryCount, Entry()); }

private:
  static constexpr size_t entryCount = size_t{1} << 13;
  std::vector<Entry> entries;
};

/// Appends to a vector that is longer than what was written until the end. How much longer depends on what
/// this writer wrote, not on what was there: a million writers of one id each take time for a million ids.
class IdWriter {
public:
  explicit IdWriter(std::vector<int32_t> &ids) : ids(ids), begun(ids.size()), used(begun) {}
  ~IdWriter() { ids.resize(used); }
  IdWriter(const IdWriter &) = delete;
  IdWriter &operator=(const IdWriter &) = delete;

  /// Where the next `count` ids may be written.
  int32_t *room(size_t count) {
    if (ids.size() - used < count)
      ids.resize(used + std::max(count, used - begun));
    return ids.data() + used;
  }
  void advance(size_t count) { used += count; }

private:
  std::vector<int32_t> &ids;
  size_t begun;
  size_t used;
};

} // namespace

struct BytePairEncoding::Scratch::Parts {
  uint64_t identity = 0;
  PieceCache cache;
  MergeBuffers merging;
  std::vector<int32_t> symbols;
};

BytePairEncoding::Scratch::Scratch() : parts(std::make_unique<Parts>()) {}
BytePairEncoding::Scratch::~Scratch() = default;
BytePairEncoding::Scratch::Scratch(Scratch &&) noexcept = default;
BytePairEncoding::Scratch &BytePairEncoding::Scratch::operator=(Scratch &&) noexcept = default;

BytePairEncoding::BytePairEncoding(std::unique_ptr<const Tables> tables) : tables(std::move(tables)) {}
BytePairEncoding::~BytePairEncoding() = default;
BytePairEncoding::BytePairEncoding(BytePairEncoding &&) noexcept = default;
BytePairEncoding &BytePairEncoding::operator=(BytePairEncoding &&) noexcept = default;

/// Encodes with one scratch into one vector.
class BytePairEncoding::Encoder {
public:
  Encoder(const Tables &tables, Scratch::Parts &scratch, std::vector<int32_t> &ids)
      : tables(tables), scratch(scratch), writer(ids) {
    if (std::exchange(scratch.identity, tables.identity) != tables.identity)
      scratch.cache.clear();
  }

  void addShort(std::string_view piece, const ShortPiece &key) {
    const uint64_t hash = key.hash();
    PieceCache::Entry &entry = scratch.cache.entryOf(hash);
    if (entry.piece == key) {
      int32_t *out = writer.room(PieceCache::mostIds);
      std::copy(entry.ids.begin(), entry.ids.end(), out);
      writer.advance(static_cast<size_t>(entry.count));
      return;
    }
    PieceCache::Entry fresh{.piece = key};
    if (const int32_t whole = tables.wholePieces.find(key, hash); whole != TokenTable::none) {
      fresh.ids[0] = whole;
      fresh.count = 1;
      *writer.room(1) = whole;
      writer.advance(1);
    } else {
      const std::span<const int32_t> merged = merge(piece);
      append(merged);
      if (merged.size() > PieceCache::mostIds)
        return;
      std::copy(merged.begin(), merged.end(), fresh.ids.begin());
      fresh.count = static_cast<int32_t>(merged.size());
    }
    entry = fresh;
  }

  void addLong(std::string_view piece) {
    const int32_t whole = tables.wholePieces.find(piece);
    append(whole != TokenTable::none ? std::span(&whole, 1) : merge(piece));
  }

  void add(std::string_view piece) {
    if (piece.empty())
      return;
    if (piece.size() <= ShortPiece::longest)
      addShort(piece, ShortPiece::of(piece));
    else
      addLong(piece);
  }

private:
  /// Longer pieces are encoded from left to right.
  static constexpr size_t longestMerged = 24;

  void append(std::span<const int32_t> ids) {
    std::copy(ids.begin(), ids.end(), writer.room(ids.size()));
    writer.advance(ids.size());
  }

  /// Valid until the next call.
  std::span<const int32_t> merge(std::string_view piece) {
    std::vector<int32_t> &symbols = scratch.symbols;
    symbols.clear();
    if (piece.size() > longestMerged && tables.backtracking.isUsable()) {
      tables.backtracking.encode(piece, tables.tokens, tables.merges, tables.origins, scratch.merging.isStart,
                                 symbols);
      return symbols;
    }
    tables.symbolsOf(piece, symbols);
    Merging<MergeTable> merging(tables.merges, tables.widths, scratch.merging);
    if (!tables.hasAllBytes || symbols.size() > Merging<MergeTable>::mostScanned)
      return std::span(symbols).first(merging.merge(symbols));
    std::array<int32_t, Merging<MergeTable>::mostScanned> ranks;
    for (size_t i = 0; i + 1 < piece.size(); ++i)
      ranks[i] = tables.byteRanks[size_t{static_cast<unsigned char>(piece[i])} << 8 |
                                  static_cast<unsigned char>(piece[i + 1])];
    return std::span(symbols).first(merging.mergeByScanning(symbols, ranks.data()));
  }

  const Tables &tables;
  Scratch::Parts &scratch;
  IdWriter writer;
};

void BytePairEncoding::encode(std::string_view piece, std::vector<int32_t> &ids, Scratch &scratch) const {
  Encoder(*tables, *scratch.parts, ids).add(piece);
}

absl::Status BytePairEncoding::encode(std::string_view text, const Splitter &splitter,
                                      Splitter::Scratch *splitterScratch, std::vector<int32_t> &ids,
                                      Scratch &scratch) const {
  Encoder encoder(*tables, *scratch.parts, ids);
  std::array<Splitter::Piece, 256> pieces;
  size_t position = 0;
  while (true) {
    absl::StatusOr<size_t> count = splitter.split(text, position, pieces, splitterScratch);
    if (!count.ok())
      return count.status();
    for (const Splitter::Piece &piece : std::span(pieces).first(*count)) {
      const size_t length = piece.end - piece.begin;
      const std::string_view bytes = text.substr(piece.begin, length);
      if (length <= ShortPiece::longest && piece.begin + 16 <= text.size())
        encoder.addShort(bytes, ShortPiece::ofReadable(bytes.data(), length));
      else
        encoder.add(bytes);
    }
    if (*count < pieces.size())
      return absl::OkStatus();
    position = pieces.back().end;
  }
}

std::optional<int32_t> BytePairEncoding::idOf(std::string_view bytes) const {
  const int32_t id = bytes.empty() ? TokenTable::none : tables->spelled.find(bytes);
  return id == TokenTable::none ? std::nullopt : std::optional(id);
}

std::string_view BytePairEncoding::bytesOf(int32_t id) const {
  return tables->tokens[static_cast<size_t>(id)];
}

int32_t BytePairEncoding::tokenCount() const { return static_cast<int32_t>(tables->tokens.size()); }

} // namespace weft
