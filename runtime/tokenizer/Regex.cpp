//===- Regex.cpp - The regular expressions that tokenizer files carry -----===//
//
// PCRE2 in UTF mode with Unicode properties. The machine code pushes what it may come back to on a stack of
// its own, which is mapped once per thread and touched only as far as a match needs it. Patterns that it has
// no machine code for run in the interpreter, which keeps its frames on the heap.
//
//===----------------------------------------------------------------------===//
#define PCRE2_CODE_UNIT_WIDTH 8

#include "runtime/tokenizer/Regex.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/CharacterTable.h"
#include "runtime/tokenizer/RegexTranslation.h"

#include "absl/status/status.h"

#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace weft {
namespace {

constexpr size_t jitStackStart = size_t{64} << 10;
constexpr std::array<size_t, 3> jitStackLimits = {size_t{1} << 30, size_t{1} << 27, size_t{1} << 22};
constexpr uint32_t heapLimitKibibytes = uint32_t{1} << 20;

/// How often a match may come back from a choice: enough for any pattern whose time is linear, and an end for
/// one whose time is exponential.
uint32_t matchLimit(size_t textBytes) {
  constexpr uint64_t always = 10'000'000;
  constexpr uint64_t perByte = 64;
  return static_cast<uint32_t>(
      std::min<uint64_t>(std::numeric_limits<uint32_t>::max(), always + perByte * textBytes));
}

std::string messageOf(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char *>(text.data());
}

} // namespace

struct Regex::Code {
  pcre2_code *code = nullptr;
  bool isMachineCode = false;
  std::string pattern;

  ~Code() { pcre2_code_free(code); }
};

struct Regex::Scratch::Parts {
  pcre2_match_data *matchData = nullptr;
  pcre2_match_context *context = nullptr;
  pcre2_jit_stack *stack = nullptr;

  /// Gives machine code its stack when the first pattern runs.
  void prepareStack() {
    for (size_t limit : jitStackLimits)
      if (stack == nullptr)
        stack = pcre2_jit_stack_create(jitStackStart, limit, nullptr);
    pcre2_jit_stack_assign(context, nullptr, stack);
  }

  Parts() = default;
  Parts(const Parts &) = delete;
  Parts &operator=(const Parts &) = delete;
  ~Parts() {
    pcre2_match_data_free(matchData);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
};

Regex::Scratch::Scratch() : parts(std::make_unique<Parts>()) {
  parts->matchData = pcre2_match_data_create(1, nullptr);
  parts->context = pcre2_match_context_create(nullptr);
  if (parts->context == nullptr)
    return;
  pcre2_set_depth_limit(parts->context, std::numeric_limits<uint32_t>::max());
  pcre2_set_heap_limit(parts->context, heapLimitKibibytes);
}

Regex::Scratch::~Scratch() = default;
Regex::Scratch::Scratch(Scratch &&) noexcept = default;
Regex::Scratch &Regex::Scratch::operator=(Scratch &&) noexcept = default;

Regex::Regex(std::unique_ptr<const Code> code) : code(std::move(code)) {}
Regex::~Regex() = default;
Regex::Regex(Regex &&) noexcept = default;
Regex &Regex::operator=(Regex &&) noexcept = default;

absl::StatusOr<Regex> Regex::compile(std::string_view pattern, RegexDialect dialect) {
  absl::StatusOr<std::string> translated = translateRegex(pattern, dialect);
  if (!translated.ok())
    return translated.status();
  std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), &pcre2_compile_context_free);
  if (context == nullptr)
    return absl::ResourceExhaustedError("no memory to compile a pattern");
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_bsr(context.get(), PCRE2_BSR_UNICODE);
  pcre2_set_parens_nest_limit(context.get(), 200);
  int error = 0;
  PCRE2_SIZE offset = 0;
  const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NO_AUTO_CAPTURE |
                           PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_UTF_CHECK;
  auto compiled = std::make_unique<Code>();
  compiled->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated->data()), translated->size(),
                                 options, &error, &offset, context.get());
  if (compiled->code == nullptr)
    return absl::InvalidArgumentError(
        concat("the pattern \"", pattern, "\" cannot run here: ", messageOf(error)));
  compiled->isMachineCode = pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE) == 0;
  compiled->pattern = std::string(pattern);
  return Regex(std::move(compiled));
}

absl::StatusOr<std::optional<Regex::Match>> Regex::search(std::string_view text, size_t from,
                                                          Scratch &scratch) const {
  Scratch::Parts &parts = *scratch.parts;
  if (parts.matchData == nullptr || parts.context == nullptr)
    return absl::ResourceExhaustedError("no memory to match a pattern");
  if (parts.stack == nullptr)
    parts.prepareStack();
  pcre2_set_match_limit(parts.context, matchLimit(text.size()));
  const auto *subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  const int result = code->isMachineCode ? pcre2_jit_match(code->code, subject, text.size(), from,
                                                           PCRE2_NO_UTF_CHECK, parts.matchData, parts.context)
                                         : pcre2_match(code->code, subject, text.size(), from,
                                                       PCRE2_NO_UTF_CHECK, parts.matchData, parts.context);
  if (result == PCRE2_ERROR_NOMATCH)
    return std::optional<Match>();
  if (result < 0)
    return absl::ResourceExhaustedError(concat("the pattern \"", code->pattern, "\" on a text of ",
                                               text.size(), " bytes: ", messageOf(result)));
  const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(parts.matchData);
  return std::optional<Match>(Match{bounds[0], bounds[1]});
}

absl::Status Regex::forEachSegment(std::string_view text, Scratch &scratch,
                                   absl::FunctionRef<absl::Status(size_t, size_t, bool)> segment) const {
  const CharacterTable &table = CharacterTable::get();
  size_t from = 0;
  size_t reported = 0;
  std::optional<size_t> lastEnd;
  while (from <= text.size()) {
    absl::StatusOr<std::optional<Match>> found = search(text, from, scratch);
    if (!found.ok())
      return found.status();
    if (!found->has_value())
      break;
    const Match match = **found;
    if (match.begin == match.end && lastEnd == match.end) {
      from += from < text.size() ? table.at(text, from).bytes : 1;
      continue;
    }
    from = match.end;
    lastEnd = match.end;
    if (reported != match.begin)
      if (absl::Status status = segment(reported, match.begin, false); !status.ok())
        return status;
    if (absl::Status status = segment(match.begin, match.end, true); !status.ok())
      return status;
    reported = match.end;
  }
  return reported == text.size() ? absl::OkStatus() : segment(reported, text.size(), false);
}

} // namespace weft
