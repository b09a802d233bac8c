//===- Paths.cpp - Paths relative to the run file -------------------------===//
//
// Purely by text: whether a file exists is the business of whoever opens it, and of their message.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/Paths.h"

#include "runtime/config/ScalarSyntax.h"

#include "absl/strings/str_cat.h"

#include <filesystem>

namespace weft {

absl::StatusOr<std::string> readPath(const ConfigNode &node, const std::string &folder) {
  absl::StatusOr<std::string> text = readText(node);
  if (!text.ok() || text->empty())
    return absl::InvalidArgumentError(
        absl::StrCat("expected a path, got ", text.ok() ? "an empty text" : node.describe(), "."));
  if (text->find('\0') != std::string::npos)
    return absl::InvalidArgumentError("a path cannot hold a zero byte.");
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(std::filesystem::path(folder) / *text, error);
  if (error)
    return absl::InvalidArgumentError(absl::StrCat("cannot be made absolute: ", error.message(), "."));
  return absolute.lexically_normal().string();
}

} // namespace weft
