//===- SourceFiles.cpp - The files that a path names as a corpus ----------===//
//
// Folders are walked without exceptions; whatever cannot be read is an error, for a corpus with a silent hole
// is worse than none.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/SourceFiles.h"

#include "runtime/data/FileError.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> suffixesOfText = {".txt", ".text", ".md",  ".markdown",
                                                            ".rst", ".tex",  ".adoc"};

std::string_view withoutCompressionSuffix(std::string_view name) {
  for (std::string_view suffix : {".gz", ".zst"})
    if (name.ends_with(suffix))
      return name.substr(0, name.size() - suffix.size());
  return name;
}

bool isJsonl(std::string_view name) {
  name = withoutCompressionSuffix(name);
  return name.ends_with(".jsonl") || name.ends_with(".ndjson");
}

bool isTakenFromFolders(std::string_view name) {
  if (isJsonl(name))
    return true;
  name = withoutCompressionSuffix(name);
  return std::any_of(suffixesOfText.begin(), suffixesOfText.end(),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

absl::StatusOr<SourceFile> describeFile(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return fileError(path, "read its size", errno);
  SourceFormat format = isJsonl(path) ? SourceFormat::Jsonl : SourceFormat::Text;
  int64_t modified = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  return SourceFile{path, format, info.st_size, modified};
}

absl::Status folderError(const std::string &path, const std::error_code &error) {
  return fileError(path, "list the folder", error.value());
}

} // namespace

std::string textSuffixes() {
  std::string list;
  for (std::string_view suffix : suffixesOfText)
    list.append(list.empty() ? "" : " ").append(suffix);
  return list;
}

absl::StatusOr<std::vector<SourceFile>> findSourceFiles(const std::string &path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (error)
    return fileError(path, "open", error.value());
  std::vector<std::string> paths;
  if (fs::is_directory(status)) {
    fs::recursive_directory_iterator entry(path, error);
    if (error)
      return folderError(path, error);
    while (entry != fs::recursive_directory_iterator()) {
      std::string name = entry->path().filename().string();
      bool isFolder = entry->is_directory(error) && !error;
      if (isFolder && name.starts_with('.'))
        entry.disable_recursion_pending();
      if (!name.starts_with('.') && isTakenFromFolders(name) && entry->is_regular_file(error) && !error)
        paths.push_back(entry->path().string());
      entry.increment(error);
      if (error)
        return folderError(path, error);
    }
    if (paths.empty())
      return absl::NotFoundError(
          absl::StrCat(path, ": the folder holds no text. Taken are files that end in ", textSuffixes(),
                       " .jsonl .ndjson, each also with .gz or .zst."));
    std::sort(paths.begin(), paths.end());
  } else if (fs::is_regular_file(status)) {
    paths.push_back(path);
  } else {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is neither a file nor a folder"));
  }

  std::vector<SourceFile> files;
  for (const std::string &one : paths) {
    absl::StatusOr<SourceFile> file = describeFile(one);
    if (!file.ok())
      return file.status();
    files.push_back(std::move(*file));
  }
  return files;
}

} // namespace weft
