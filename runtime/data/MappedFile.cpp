//===- MappedFile.cpp - A whole file as read-only memory ------------------===//
//
// The descriptor is closed at once: the mapping keeps the file.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/MappedFile.h"

#include "runtime/data/FileError.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weft {

absl::StatusOr<MappedFile> MappedFile::open(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return fileError(path, "open", errno);
  struct stat info;
  if (::fstat(descriptor, &info) != 0) {
    int error = errno;
    ::close(descriptor);
    return fileError(path, "read its size", error);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return absl::InvalidArgumentError(absl::StrCat(path, ": is not a regular file"));
  }
  size_t size = static_cast<size_t>(info.st_size);
  void *address = nullptr;
  int error = 0;
  if (size != 0) {
    address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    error = address == MAP_FAILED ? errno : 0;
  }
  ::close(descriptor);
  if (error != 0)
    return fileError(path, "map into memory", error);
  return MappedFile({static_cast<const std::byte *>(address), size});
}

MappedFile::MappedFile(MappedFile &&other) noexcept : contents(std::exchange(other.contents, {})) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(contents, other.contents);
  return *this;
}

MappedFile::~MappedFile() {
  if (!contents.empty())
    ::munmap(const_cast<std::byte *>(contents.data()), contents.size());
}

} // namespace weft
