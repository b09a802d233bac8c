//===- ResidentMemory.cpp - What this process holds in memory -------------===//
//
// /proc/self/status is a page of text; it is read into the stack and searched for two lines.
//
//===----------------------------------------------------------------------===//
#include "runtime/metrics/ResidentMemory.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string>
#include <unistd.h>

namespace weft {
namespace {

constexpr const char *statusFile = "/proc/self/status";

std::optional<int64_t> kibibytesOf(std::string_view status, std::string_view name) {
  size_t at = status.find(name);
  if (at == std::string_view::npos)
    return std::nullopt;
  std::string_view rest = status.substr(at + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  int64_t value = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc())
    return std::nullopt;
  return value;
}

} // namespace

absl::StatusOr<int64_t> residentBytesOf(std::string_view status) {
  std::optional<int64_t> anonymous = kibibytesOf(status, "\nRssAnon:");
  std::optional<int64_t> shared = kibibytesOf(status, "\nRssShmem:");
  if (!anonymous || !shared)
    return absl::UnavailableError(
        absl::StrCat(statusFile, ": has no RssAnon and RssShmem; they need Linux 4.5 or newer"));
  return (*anonymous + *shared) * 1024;
}

absl::StatusOr<int64_t> residentBytes() {
  int descriptor = ::open(statusFile, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return absl::UnavailableError(absl::StrCat(statusFile, ": cannot open: ", std::strerror(errno)));
  char text[8192];
  size_t size = 0;
  ssize_t count = 0;
  while (size < sizeof(text) && (count = ::read(descriptor, text + size, sizeof(text) - size)) > 0)
    size += static_cast<size_t>(count);
  ::close(descriptor);
  return residentBytesOf(std::string_view(text, size));
}

} // namespace weft
