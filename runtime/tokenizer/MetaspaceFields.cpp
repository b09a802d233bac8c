//===- MetaspaceFields.cpp - Metaspace as files write it ------------------===//
//
// Older files say add_prefix_space, newer ones prepend_scheme; `false` must agree with `never`.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/MetaspaceFields.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/CharacterTable.h"

namespace weft {

absl::StatusOr<MetaspaceFields> MetaspaceFields::read(const JsonFields &fields) {
  if (absl::Status status = fields.expectOnly(
          {"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"});
      !status.ok())
    return status;
  absl::StatusOr<std::string> replacement = fields.text("replacement");
  absl::StatusOr<std::string> scheme = fields.textOr("prepend_scheme", "always");
  absl::StatusOr<bool> splits = fields.flagOr("split", true);
  absl::StatusOr<bool> addsSpace = fields.flagOr("add_prefix_space", true);
  for (const absl::Status &status :
       {replacement.status(), scheme.status(), splits.status(), addsSpace.status()})
    if (!status.ok())
      return status;
  const bool isOneCharacter =
      !replacement->empty() && CharacterTable::get().at(*replacement, 0).bytes == replacement->size();
  if (!isOneCharacter)
    return fields.error("replacement", concat("expected one character, not \"", *replacement, "\""));
  if (*scheme != "always" && *scheme != "first" && *scheme != "never")
    return fields.error("prepend_scheme", concat("\"", *scheme, "\" is none of always, first, never"));
  if (!*addsSpace && *scheme != "never")
    return fields.error("add_prefix_space",
                        concat("false, but prepend_scheme is \"", *scheme, "\" and not \"never\""));
  return MetaspaceFields{*std::move(replacement), *std::move(scheme), *splits};
}

} // namespace weft
