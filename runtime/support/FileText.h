//===- FileText.h - Files, whole ------------------------------------------===//
//
// Reading a file at once with a limit on its size, and writing one so that a reader sees the old or the
// new content, never a part. Errors name the file, the cause and what helps.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_FILETEXT_H
#define WEFT_RUNTIME_SUPPORT_FILETEXT_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

/// The content of a regular file of at most `maxBytes`. NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT (a
/// folder, or too large) or DATA_LOSS (a failing read), each with the message `PATH: what`.
absl::StatusOr<std::string> readFileText(const std::string &path, size_t maxBytes);

/// Writes `path`.tmp, flushes it to the disk, and renames it over `path`. On an error the old file is as it
/// was and the temporary one is gone; of a writer that is killed the next one takes it over. Writers of one
/// file take turns.
absl::Status writeFileAtomically(const std::string &path, std::string_view content);

} // namespace weft

#endif // WEFT_RUNTIME_SUPPORT_FILETEXT_H
