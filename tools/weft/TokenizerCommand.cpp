//===- TokenizerCommand.cpp - weft tokenizer encode|decode|show -----------===//
//
// Text and ids pass through standard input and output. With --records one process answers many texts: each is
// its length as four bytes, the lowest first, and then that many bytes; ids are their count as four bytes,
// and then four bytes each.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/TokenizerCommand.h"

#include "runtime/metrics/HumanFormat.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "tools/weft/Command.h"
#include "tools/weft/TokenizerOptions.h"
#include "tools/weft/TokenizerSpeed.h"

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>

namespace weft {

namespace {
struct TokenizerCommandOptions {
  TokenizerOptions tokenizer;
  bool isRecords = false;
  EncodeOptions encode;
  std::vector<int32_t> ids;
};
} // namespace

[[noreturn]] static void failData(const absl::Status &status) {
  failCommand(withExitCode(status, ExitCode::Data));
}

static void write(const void *bytes, size_t count) {
  if (std::fwrite(bytes, 1, count, stdout) != count)
    failData(absl::DataLossError("standard output: cannot be written"));
}

static std::string readAll() {
  std::string all;
  std::array<char, size_t{1} << 16> chunk{};
  while (const size_t count = std::fread(chunk.data(), 1, chunk.size(), stdin))
    all.append(chunk.data(), count);
  return all;
}

/// The four-byte number that comes next; nothing at the end.
static std::optional<uint32_t> readNumber() {
  std::array<unsigned char, 4> bytes{};
  const size_t count = std::fread(bytes.data(), 1, bytes.size(), stdin);
  if (count == 0)
    return std::nullopt;
  if (count != bytes.size())
    failData(absl::DataLossError("standard input: ends within a record"));
  return uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24;
}

static void appendNumber(std::string &out, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8)
    out += static_cast<char>(number >> shift);
}

/// The bytes of a record whose size was read; grows with what is there, whatever the size promises.
static void readRecord(uint64_t size, std::string &record) {
  constexpr uint64_t step = uint64_t{1} << 24;
  record.clear();
  while (record.size() < size) {
    const size_t kept = record.size();
    record.resize(kept + static_cast<size_t>(std::min(step, size - kept)));
    if (std::fread(record.data() + kept, 1, record.size() - kept, stdin) != record.size() - kept)
      failData(absl::DataLossError("standard input: ends within a record"));
  }
}

static void encodeRecords(const Tokenizer &tokenizer, const EncodeOptions &options) {
  std::unique_ptr<Tokenizer::Scratch> scratch = tokenizer.makeScratch();
  std::string text;
  std::string out;
  std::vector<int32_t> ids;
  while (const std::optional<uint32_t> size = readNumber()) {
    readRecord(*size, text);
    ids.clear();
    if (absl::Status status = tokenizer.encode(text, options, ids, *scratch); !status.ok())
      failData(status);
    out.clear();
    appendNumber(out, static_cast<uint32_t>(ids.size()));
    for (int32_t id : ids)
      appendNumber(out, static_cast<uint32_t>(id));
    write(out.data(), out.size());
  }
}

static void encode(const TokenizerCommandOptions &options) {
  std::unique_ptr<Tokenizer> tokenizer = openTokenizer(options.tokenizer);
  if (options.isRecords)
    return encodeRecords(*tokenizer, options.encode);
  absl::StatusOr<std::vector<int32_t>> ids = tokenizer->encode(readAll(), options.encode);
  if (!ids.ok())
    failData(ids.status());
  std::string line;
  for (int32_t id : *ids)
    absl::StrAppend(&line, line.empty() ? "" : " ", id);
  line += '\n';
  write(line.data(), line.size());
}

static std::string decodeIds(const Tokenizer &tokenizer, const std::vector<int32_t> &ids) {
  absl::StatusOr<std::string> text = tokenizer.decode(ids);
  if (!text.ok())
    failData(text.status());
  return *std::move(text);
}

static void decodeRecords(const Tokenizer &tokenizer) {
  std::string record;
  std::vector<int32_t> ids;
  while (const std::optional<uint32_t> count = readNumber()) {
    readRecord(uint64_t{*count} * 4, record);
    ids.clear();
    for (size_t i = 0; i < record.size(); i += 4) {
      const auto byteAt = [&](size_t at) { return uint32_t{static_cast<unsigned char>(record[i + at])}; };
      ids.push_back(static_cast<int32_t>(byteAt(0) | byteAt(1) << 8 | byteAt(2) << 16 | byteAt(3) << 24));
    }
    const std::string text = decodeIds(tokenizer, ids);
    std::string size;
    appendNumber(size, static_cast<uint32_t>(text.size()));
    write(size.data(), size.size());
    write(text.data(), text.size());
  }
}

static void decode(const TokenizerCommandOptions &options) {
  std::unique_ptr<Tokenizer> tokenizer = openTokenizer(options.tokenizer);
  if (options.isRecords)
    return decodeRecords(*tokenizer);
  std::vector<int32_t> ids;
  const std::string all = readAll();
  constexpr std::string_view spaces = " \t\r\n";
  for (size_t begin = 0; (begin = all.find_first_not_of(spaces, begin)) != std::string::npos;) {
    const size_t end = std::min(all.find_first_of(spaces, begin), all.size());
    const std::string word = all.substr(begin, end - begin);
    int32_t id = -1;
    if (!absl::SimpleAtoi(word, &id))
      failData(absl::InvalidArgumentError(absl::StrCat("\"", absl::CHexEscape(word), "\" is no id")));
    ids.push_back(id);
    begin = end;
  }
  const std::string text = decodeIds(*tokenizer, ids);
  write(text.data(), text.size());
}

static void show(const TokenizerCommandOptions &options) {
  std::unique_ptr<Tokenizer> tokenizer = openTokenizer(options.tokenizer);
  for (int32_t id : options.ids) {
    absl::StatusOr<std::string_view> bytes = tokenizer->bytesOf(id);
    if (!bytes.ok())
      failData(bytes.status());
    std::printf("%d  \"%s\"\n", id, absl::Utf8SafeCEscape(std::string(*bytes)).c_str());
  }
  if (!options.ids.empty())
    return;
  std::printf("%s\n", options.tokenizer.tokenizer.c_str());
  std::printf("  vocabulary        %s ids\n", formatCount(tokenizer->vocabularySize()).c_str());
  std::printf("  end of document   %d\n", tokenizer->endOfDocument());
  std::printf("  checksum          %016llx\n", static_cast<unsigned long long>(tokenizer->checksum()));
}

static CLI::App *addWithFile(CLI::App &app, const char *name, const char *what,
                             const std::shared_ptr<TokenizerCommandOptions> &options) {
  CLI::App *command = app.add_subcommand(name, what);
  command
      ->add_option(
          "FILE", options->tokenizer.tokenizer,
          "tokenizer.json, tekken.json, a tiktoken file or a SentencePiece model; recognized by content")
      ->required();
  addTokenizerFileOptions(*command, options->tokenizer);
  return command;
}

void addTokenizerCommand(CLI::App &app) {
  CLI::App *tokenizer = app.add_subcommand("tokenizer", "Look into a tokenizer: ids of a text, text of ids");
  tokenizer->require_subcommand(1);
  auto options = std::make_shared<TokenizerCommandOptions>();
  constexpr const char *recordsHelp = "Many texts: each its length as 4 bytes (lowest first) and its bytes; "
                                      "ids: their count, then 4 bytes each";

  CLI::App *encoding =
      addWithFile(*tokenizer, "encode", "Print the ids of the text on standard input", options);
  encoding->add_flag("--records", options->isRecords, recordsHelp);
  encoding->add_flag("--special", options->encode.readsSpecialTokens,
                     "Names of special tokens in the text become these tokens");
  encoding->add_flag("--add-special", options->encode.addsSpecialTokens,
                     "Add the tokens that the file puts around a text");
  encoding->callback([options] { encode(*options); });

  CLI::App *decoding =
      addWithFile(*tokenizer, "decode", "Print the text of the ids on standard input", options);
  decoding->add_flag("--records", options->isRecords, recordsHelp);
  decoding->callback([options] { decode(*options); });

  CLI::App *showing =
      addWithFile(*tokenizer, "show", "Print the figures of a tokenizer, or single tokens", options);
  showing->add_option("ID", options->ids, "Print the text of these tokens instead");
  showing->callback([options] { show(*options); });
  addTokenizerSpeed(*tokenizer);
}

} // namespace weft
