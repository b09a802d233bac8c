//===- ResumeComparison.cpp - What changed since the checkpoint -----------===//
//
// Values are compared as text, since the text of a value is exact. Lists of maps of equal length are compared
// element by element, because their keys have rules of their own (a path may change, a weight may not).
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ResumeComparison.h"

#include "runtime/config/Schema.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft {

namespace {
/// One key in both runs. An object is null where the key does not count.
struct Compared {
  const Key &key;
  std::string path;
  const void *saved;
  const void *current;
  bool isCanonical; ///< both runs add by the canonical tree
};
} // namespace

static void compareKey(const Compared &compared, std::vector<ResumeDifference> &differences) {
  auto render = [&](const void *object) { return object ? renderField(compared.key, object) : "not used"; };
  std::string saved = render(compared.saved);
  std::string current = render(compared.current);
  if (saved != current)
    differences.push_back({compared.path, saved, current, compared.key.mayChangeOnResume,
                           compared.isCanonical && compared.key.isKeptByCanonical
                               ? "train.reduction is canonical, so no bit changes"
                               : compared.key.onChange});
}

/// True when both lists have the same length, and so their elements were compared instead.
static bool compareElements(const Compared &compared, std::vector<ResumeDifference> &differences) {
  if (!compared.key.elements || !compared.saved || !compared.current)
    return false;
  // Only read: the fields are not written through.
  auto saved = std::get<RecordsField>(compared.key.fieldIn(const_cast<void *>(compared.saved)));
  auto current = std::get<RecordsField>(compared.key.fieldIn(const_cast<void *>(compared.current)));
  size_t size = saved.size(saved.member);
  if (size != current.size(current.member))
    return false;
  for (size_t i = 0; i < size; ++i)
    for (const Key &element : *compared.key.elements) {
      const Compared inner = {element, absl::StrCat(compared.path, "[", i, "].", element.path),
                              saved.at(saved.member, i), current.at(current.member, i), compared.isCanonical};
      if (!compareElements(inner, differences))
        compareKey(inner, differences);
    }
  return true;
}

std::vector<ResumeDifference> compareForResume(const Config &saved, const Config &current) {
  std::vector<ResumeDifference> differences;
  const bool isCanonical = saved.train.reduction == ReductionKind::Canonical &&
                           current.train.reduction == ReductionKind::Canonical;
  for (const Key &key : configSchema()) {
    Compared compared{key, key.path, isUsed(key, saved) ? &saved : nullptr,
                      isUsed(key, current) ? &current : nullptr, isCanonical};
    if (!compareElements(compared, differences))
      compareKey(compared, differences);
  }
  return differences;
}

std::string ResumeDifference::message(const std::string &checkpoint) const {
  std::string text =
      absl::StrCat("resume: ", path, " is ", current, " in this run and ", saved, " in checkpoint ",
                   checkpoint, effect.empty() ? "" : absl::StrCat(": ", effect), ".");
  if (allowed)
    return text;
  if (saved == "not used" || current == "not used")
    return absl::StrCat(text, " Go back to the config of the checkpoint, or start a new run.");
  // Brackets, braces and quotes are the shell's too.
  bool needsQuotes =
      saved.find_first_of("[]{}\" *?") != std::string::npos || path.find('[') != std::string::npos;
  const char *quote = needsQuotes ? "'" : "";
  return absl::StrCat(text, " Use --set ", quote, path, "=", saved, quote, ", or start a new run.");
}

absl::Status refusalOf(const std::vector<ResumeDifference> &differences, const std::string &checkpoint) {
  std::vector<std::string> refused;
  for (const ResumeDifference &difference : differences)
    if (!difference.allowed)
      refused.push_back(difference.message(checkpoint));
  if (refused.empty())
    return absl::OkStatus();
  return withExitCode(absl::FailedPreconditionError(absl::StrJoin(refused, "\n")), ExitCode::Config);
}

} // namespace weft
