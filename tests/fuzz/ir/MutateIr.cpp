//===- MutateIr.cpp - Changes that keep IR close to valid -------------------===//
//
// Single bytes changed at random hardly ever parse. A text is cut into tokens (words, numbers, single signs,
// blanks); a change replaces one by another of its kind.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/ir/ExerciseIr.h"

#include <array>
#include <cctype>
#include <vector>

namespace weft::testing {
namespace {
uint64_t next(uint64_t &state) { // SplitMix64
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

constexpr std::array kNumbers = {"0",     "1",          "2",
                                 "3",     "7",          "64",
                                 "65537", "4294967296", "9223372036854775807",
                                 "-1",    "1.0e+30",    "0x7FF8000000000000",
                                 "0.5"};
constexpr std::array kTypes = {"f32", "bf16", "f16", "f64", "i1", "i32", "i64", "f8E4M3FN", "index"};
constexpr std::array kWords = {"nn.add",  "nn.reduce",  "nn.cast",    "nn.einsum", "sum",
                               "max",     "min",        "silu",       "relu",      "per_microbatch",
                               "causal",  "sched.load", "nn.reshape", "input",     "output",
                               "carried", "nn.yield",   "nn.carry"};

bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '%' || c == '@';
}

/// Digits of a shape (4x8xf32) are tokens of their own.
std::vector<std::string> tokenize(std::string_view text) {
  std::vector<std::string> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (std::isdigit(static_cast<unsigned char>(text[at])))
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])))
        ++end;
    else if (text[at] != 'x' && isWord(text[at]))
      while (end < text.size() && isWord(text[end]))
        ++end;
    tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

template <typename List> std::string pick(uint64_t &state, const List &list) {
  return std::string(list[next(state) % list.size()]);
}

void replaceToken(std::vector<std::string> &tokens, uint64_t &state) {
  std::string &token = tokens[next(state) % tokens.size()];
  if (std::isdigit(static_cast<unsigned char>(token[0])))
    token = next(state) % 3 == 0 ? pick(state, kNumbers) : std::to_string(next(state) % 9);
  else if (next(state) % 3 == 0)
    token = next(state) % 2 ? pick(state, kTypes) : pick(state, kWords);
  else
    token = std::string(tokens[next(state) % tokens.size()]);
}

std::string join(const std::vector<std::string> &parts, const char *separator) {
  std::string text;
  for (const std::string &part : parts)
    text += part + separator;
  return text;
}

std::string changeLines(const std::string &text, uint64_t &state) {
  std::vector<std::string> lines(1);
  for (char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  size_t from = next(state) % lines.size(), to = next(state) % lines.size();
  std::string line = lines[from];
  if (next(state) % 3 != 0)
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(from));
  if (next(state) % 3 != 0)
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(std::min(to, lines.size())), line);
  return join(lines, "\n");
}
} // namespace

std::string mutateIr(std::string_view text, uint64_t seed) {
  uint64_t state = seed;
  std::string changed(text);
  for (uint64_t changes = 1 + next(state) % 4; changes > 0 && !changed.empty(); --changes) {
    if (next(state) % 5 == 0) {
      changed = changeLines(changed, state);
      continue;
    }
    std::vector<std::string> tokens = tokenize(changed);
    replaceToken(tokens, state);
    changed = join(tokens, "");
  }
  return changed;
}

} // namespace weft::testing
