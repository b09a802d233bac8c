//===- TokenizerSpeed.cpp - weft tokenizer speed --------------------------===//
//
// Each file is one text. What is timed is the encoding alone, of all texts, from memory to memory; with
// several threads each encodes all of them. The shortest of several times counts: other load only adds.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/TokenizerSpeed.h"

#include "runtime/data/TextReader.h"
#include "runtime/metrics/HumanFormat.h"
#include "runtime/support/FileText.h"
#include "tools/weft/TokenizerOptions.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>

namespace weft {
namespace {

struct SpeedOptions {
  std::vector<std::string> paths;
  TokenizerOptions tokenizer;
  std::string output;
  int threads = 1;
  int repeats = 1;
};

absl::StatusOr<std::string> readText(const std::string &path) {
  absl::StatusOr<std::unique_ptr<TextReader>> reader = TextReader::open(path);
  if (!reader.ok())
    return reader.status();
  constexpr size_t pieceBytes = size_t{1} << 20;
  std::string text;
  while (true) {
    const size_t before = text.size();
    text.resize(before + pieceBytes);
    absl::StatusOr<size_t> count = (*reader)->read(std::span(text).subspan(before));
    if (!count.ok())
      return count.status();
    text.resize(before + *count);
    if (*count == 0)
      return text;
  }
}

struct Encoded {
  std::vector<int32_t> ids;
  absl::Status status;
};

Encoded encodeAll(const Tokenizer &tokenizer, const std::vector<std::string> &texts) {
  Encoded encoded;
  const std::unique_ptr<Tokenizer::Scratch> scratch = tokenizer.makeScratch();
  for (const std::string &text : texts)
    if (encoded.status.ok())
      encoded.status = tokenizer.encode(text, {}, encoded.ids, *scratch);
  return encoded;
}

/// The ids, and the seconds until the last thread has them.
Encoded encodeTimed(const Tokenizer &tokenizer, const std::vector<std::string> &texts, int threadCount,
                    double &seconds) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Encoded> others(static_cast<size_t>(threadCount - 1));
  std::vector<std::thread> threads;
  for (Encoded &other : others)
    threads.emplace_back([&] { other = encodeAll(tokenizer, texts); });
  Encoded encoded = encodeAll(tokenizer, texts);
  for (std::thread &thread : threads)
    thread.join();
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return encoded;
}

void measure(const SpeedOptions &options) {
  const std::unique_ptr<Tokenizer> tokenizer = openTokenizer(options.tokenizer);
  std::vector<std::string> texts;
  int64_t bytes = 0;
  for (const std::string &path : options.paths) {
    absl::StatusOr<std::string> text = readText(path);
    if (!text.ok())
      failCommand(withExitCode(text.status(), ExitCode::Data));
    bytes += static_cast<int64_t>(text->size());
    texts.push_back(*std::move(text));
  }
  Encoded encoded;
  double shortest = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    double seconds = 0;
    encoded = encodeTimed(*tokenizer, texts, options.threads, seconds);
    shortest = std::min(shortest, seconds);
  }
  if (!encoded.status.ok())
    failCommand(withExitCode(encoded.status, ExitCode::Data));
  if (!options.output.empty())
    if (absl::Status status = writeFileAtomically(
            options.output, std::string_view(reinterpret_cast<const char *>(encoded.ids.data()),
                                             encoded.ids.size() * sizeof(int32_t)));
        !status.ok())
      failCommand(withExitCode(status, ExitCode::Data));
  const double perSecond = static_cast<double>(bytes) * options.threads / std::max(shortest, 1e-9);
  std::printf("%s of text, %s tokens: %.4f s with %d thread%s, %s/s\n", formatBytes(bytes).c_str(),
              formatCount(static_cast<int64_t>(encoded.ids.size())).c_str(), shortest, options.threads,
              options.threads == 1 ? "" : "s each", formatBytes(static_cast<int64_t>(perSecond)).c_str());
}

} // namespace

void addTokenizerSpeed(CLI::App &tokenizer) {
  CLI::App *command = tokenizer.add_subcommand("speed", "Print how fast texts are encoded");
  auto options = std::make_shared<SpeedOptions>();
  command->add_option("FILE", options->tokenizer.tokenizer, "The file of a tokenizer, or bytes")->required();
  command->add_option("TEXT", options->paths, "Text files, each one text; .gz and .zst too")->required();
  addTokenizerFileOptions(*command, options->tokenizer);
  command->add_option("-o,--output", options->output, "Write the ids, as little-endian 32-bit integers");
  command->add_option("--threads", options->threads, "Threads, of which each encodes all texts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_option("--repeats", options->repeats, "Times to encode; the shortest counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command->callback([options] { measure(*options); });
}

} // namespace weft
