//===- BytePairTables.cpp - A vocabulary as encoding needs it -------------===//
//
// Spellings to symbols, the tables around them, and the two ways in which files say what merges.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/BytePairTables.h"

#include "runtime/tokenizer/CharacterTable.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <atomic>

namespace weft {
namespace {

constexpr size_t mostTokens = (size_t{1} << Merging<MergeTable>::rankBits) - 1;

uint64_t nextIdentity() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

size_t characterLength(std::string_view text, size_t position) {
  return CharacterTable::get().at(text, position).bytes;
}

int32_t countCharacters(std::string_view text) {
  int32_t count = 0;
  for (size_t position = 0; position < text.size(); position += characterLength(text, position))
    ++count;
  return count;
}

/// Of a file that lists ranks: two tokens merge when a token is spelled like both.
class SpellingRanks {
public:
  SpellingRanks(const std::vector<std::string> &tokens, const TokenTable &spelled)
      : tokens(tokens), spelled(spelled) {}

  int32_t rankOf(int32_t left, int32_t right) const {
    joined = tokens[static_cast<size_t>(left)];
    joined += tokens[static_cast<size_t>(right)];
    const int32_t id = spelled.find(joined);
    return id == TokenTable::none ? MergeTable::never : id;
  }
  int32_t resultOf(int32_t rank) const { return rank; }

private:
  const std::vector<std::string> &tokens;
  const TokenTable &spelled;
  mutable std::string joined;
};

std::string inQuotes(std::string_view bytes) {
  return absl::StrCat("\"", absl::CHexEscape(std::string(bytes)), "\"");
}

absl::Status checkCount(size_t tokens) {
  if (tokens <= mostTokens)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a vocabulary of ", tokens, " tokens: at most ", mostTokens, " are supported"));
}

absl::Status checkMerge(const std::vector<std::string> &tokens, const BytePairEncoding::Merge &merge,
                        size_t index) {
  for (int32_t id : {merge.left, merge.right, merge.result})
    if (id < 0 || static_cast<size_t>(id) >= tokens.size())
      return absl::InvalidArgumentError(absl::StrCat(
          "merge ", index, ": id ", id, " is outside of the vocabulary of ", tokens.size(), " ids"));
  const std::string &left = tokens[static_cast<size_t>(merge.left)];
  const std::string &right = tokens[static_cast<size_t>(merge.right)];
  const std::string &result = tokens[static_cast<size_t>(merge.result)];
  if (!left.empty() && !right.empty() && left + right == result)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("merge ", index, ": ", inQuotes(left), " and ",
                                                 inQuotes(right), " do not make ", inQuotes(result)));
}

} // namespace

BytePairEncoding::Tables::Tables(std::vector<std::string> spellings, const Options &options)
    : options(options), identity(nextIdentity()), tokens(std::move(spellings)), spelled(tokens.size()),
      wholePieces(tokens.size()), merges(0), origins(tokens.size()) {
  for (size_t i = 0; i < tokens.size(); ++i)
    if (!tokens[i].empty())
      spelled.insert(tokens[i], static_cast<int32_t>(i));
  findByteIds();
  widths.resize(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i)
    widths[i] = widthOf(static_cast<int32_t>(i));
}

void BytePairEncoding::Tables::findByteIds() {
  const bool areBytes = options.symbols == Symbols::Bytes;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string spelling =
        areBytes ? std::string(1, static_cast<char>(byte)) : absl::StrFormat("<0x%02X>", byte);
    byteIds[static_cast<size_t>(byte)] =
        areBytes || options.byteFallback ? spelled.find(spelling) : TokenTable::none;
  }
  hasAllBytes = areBytes && std::ranges::find(byteIds, TokenTable::none) == byteIds.end();
  if (hasAllBytes)
    byteRanks.resize(size_t{1} << 16);
}

int32_t BytePairEncoding::Tables::widthOf(int32_t id) const {
  const std::string &spelling = tokens[static_cast<size_t>(id)];
  if (options.symbols == Symbols::Bytes)
    return static_cast<int32_t>(std::max<size_t>(spelling.size(), 1));
  const bool isOneSymbol = id == options.unknown || std::ranges::find(byteIds, id) != byteIds.end();
  return isOneSymbol ? 1 : std::max(countCharacters(spelling), 1);
}

void BytePairEncoding::Tables::symbolsOf(std::string_view piece, std::vector<int32_t> &symbols) const {
  if (hasAllBytes) {
    for (char byte : piece)
      symbols.push_back(byteIds[static_cast<unsigned char>(byte)]);
    return;
  }
  bool isUnknownPending = false;
  for (size_t position = 0; position < piece.size();) {
    const size_t length = options.symbols == Symbols::Bytes ? 1 : characterLength(piece, position);
    addCharacter(piece.substr(position, length), symbols, isUnknownPending);
    position += length;
  }
  if (isUnknownPending)
    symbols.push_back(*options.unknown);
}

/// An unknown symbol is held back until a known one comes: those that follow it may join it.
void BytePairEncoding::Tables::addCharacter(std::string_view character, std::vector<int32_t> &symbols,
                                            bool &isUnknownPending) const {
  if (const int32_t id = spelled.find(character); id != TokenTable::none) {
    if (std::exchange(isUnknownPending, false))
      symbols.push_back(*options.unknown);
    symbols.push_back(id);
    return;
  }
  const auto idOfByte = [this](char byte) { return byteIds[static_cast<unsigned char>(byte)]; };
  if (options.byteFallback && options.symbols == Symbols::Characters &&
      std::ranges::none_of(character, [&](char byte) { return idOfByte(byte) == TokenTable::none; })) {
    std::ranges::transform(character, std::back_inserter(symbols), idOfByte);
    return;
  }
  if (!options.unknown)
    return;
  if (isUnknownPending && !options.fuseUnknown)
    symbols.push_back(*options.unknown);
  isUnknownPending = true;
}

absl::StatusOr<BytePairEncoding> BytePairEncoding::create(std::vector<std::string> tokens,
                                                          std::vector<Merge> merges, Options options) {
  for (size_t count : {tokens.size(), merges.size()})
    if (absl::Status status = checkCount(count); !status.ok())
      return status;
  if (options.unknown && (*options.unknown < 0 || static_cast<size_t>(*options.unknown) >= tokens.size()))
    return absl::InvalidArgumentError(absl::StrCat(
        "the unknown token ", *options.unknown, " is outside of the vocabulary of ", tokens.size(), " ids"));
  auto tables = std::make_unique<Tables>(std::move(tokens), options);
  const auto isAsItIs = [&](int32_t id) {
    return id == options.unknown || (options.symbols == Symbols::Characters &&
                                     std::ranges::find(tables->byteIds, id) != tables->byteIds.end());
  };
  // Of two merges of the same pair the last counts: it is entered first, from behind.
  MergeTable listed(merges.size());
  std::vector<Merge> unique;
  MergeTable seen(merges.size());
  for (size_t i = merges.size(); i-- > 0;) {
    const Merge &merge = merges[i];
    if (absl::Status status = checkMerge(tables->tokens, merge, i); !status.ok())
      return status;
    if (isAsItIs(merge.left) || isAsItIs(merge.right) || isAsItIs(merge.result))
      return absl::InvalidArgumentError(absl::StrCat(
          "merge ", i, ": the unknown token and tokens of bytes that characters fall back to do not merge"));
    const auto rank = static_cast<int32_t>(unique.size());
    if (seen.append(merge.left, merge.right, merge.result) == rank)
      unique.push_back(merge);
  }
  for (size_t i = unique.size(); i-- > 0;)
    listed.append(unique[i].left, unique[i].right, unique[i].result);
  tables->keepPossibleMerges(listed);
  return BytePairEncoding(std::move(tables));
}

absl::StatusOr<BytePairEncoding> BytePairEncoding::createFromRanks(std::vector<std::string> tokens) {
  if (absl::Status status = checkCount(tokens.size()); !status.ok())
    return status;
  Options options;
  options.ignoreMerges = true;
  auto tables = std::make_unique<Tables>(std::move(tokens), options);
  for (size_t byte = 0; byte < 256; ++byte)
    if (tables->byteIds[byte] == TokenTable::none)
      return absl::InvalidArgumentError(
          absl::StrFormat("no token for the byte 0x%02X: all 256 single bytes must be tokens", byte));
  for (size_t i = 0; i < tables->tokens.size(); ++i)
    if (const int32_t first =
            tables->tokens[i].empty() ? static_cast<int32_t>(i) : tables->spelled.find(tables->tokens[i]);
        first != static_cast<int32_t>(i))
      return absl::InvalidArgumentError(
          absl::StrCat("tokens ", first, " and ", i, " are both ", inQuotes(tables->tokens[i])));
  tables->keepPossibleMerges(SpellingRanks(tables->tokens, tables->spelled));
  return BytePairEncoding(std::move(tables));
}

} // namespace weft
