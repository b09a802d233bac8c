#include "runtime/tokenizer/ReplaceFields.h"

#include <utility>

namespace weft {

absl::StatusOr<ReplaceFields> ReplaceFields::read(const JsonFields &fields) {
  absl::StatusOr<TextPattern> pattern = TextPattern::read(fields);
  absl::StatusOr<std::string> content = fields.text("content");
  for (const absl::Status &status :
       {fields.expectOnly({"type", "pattern", "content"}), pattern.status(), content.status()})
    if (!status.ok())
      return status;
  if (!pattern->regexText().empty() && content->find('$') != std::string::npos)
    return fields.refuse("content",
                         "\"$\" refers to groups of a regular expression, which are not supported");
  return ReplaceFields{*std::move(pattern), *std::move(content)};
}

} // namespace weft
