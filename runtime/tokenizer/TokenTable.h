//===- TokenTable.h - Bytes to the id of the token spelled so -------------===//
//
// Open addressing, half empty, with the short spellings inside the slots: a look-up that succeeds reads one
// or two lines of memory.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_TOKENTABLE_H
#define WEFT_RUNTIME_TOKENIZER_TOKENTABLE_H

#include "runtime/tokenizer/ShortPiece.h"

#include "absl/container/flat_hash_map.h"

#include <string>
#include <vector>

namespace weft {

class TokenTable {
public:
  static constexpr int32_t none = -1;

  /// Room for `count` tokens.
  explicit TokenTable(size_t count) : slots(std::bit_ceil(2 * count + 2)), mask(slots.size() - 1) {}

  /// The bytes must outlive the table. Of two tokens with the same bytes the first stays, and false comes
  /// back.
  bool insert(std::string_view bytes, int32_t id) {
    if (bytes.size() > ShortPiece::longest)
      return longTokens.emplace(bytes, id).second;
    const ShortPiece piece = ShortPiece::of(bytes);
    size_t index = piece.hash() & mask;
    for (; slots[index].id != none; index = (index + 1) & mask)
      if (slots[index].piece == piece)
        return false;
    slots[index] = {piece, id};
    return true;
  }

  /// `none` when no token is spelled so.
  int32_t find(const ShortPiece &piece, uint64_t hash) const {
    for (size_t index = hash & mask; slots[index].id != none; index = (index + 1) & mask)
      if (slots[index].piece == piece)
        return slots[index].id;
    return none;
  }
  int32_t find(std::string_view bytes) const {
    if (bytes.size() <= ShortPiece::longest) {
      const ShortPiece piece = ShortPiece::of(bytes);
      return find(piece, piece.hash());
    }
    const auto found = longTokens.find(bytes);
    return found == longTokens.end() ? none : found->second;
  }

private:
  struct Slot {
    ShortPiece piece;
    int32_t id = none;
  };
  std::vector<Slot> slots;
  size_t mask;
  absl::flat_hash_map<std::string_view, int32_t> longTokens;
};

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_TOKENTABLE_H
