#include "tools/weft-trials/VolatileFiles.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace weft::trials {

VolatileFiles::~VolatileFiles() {
  for (const auto &[descriptor, bytes] : neverSynced) {
    flush(descriptor, bytes);
    FileSystem::close(descriptor);
  }
}

int64_t VolatileFiles::write(int descriptor, const void *data, size_t size) {
  std::lock_guard lock(mutex);
  pending[descriptor].append(static_cast<const char *>(data), size);
  return static_cast<int64_t>(size);
}

int VolatileFiles::fsync(int descriptor) {
  std::string bytes;
  {
    std::lock_guard lock(mutex);
    const auto found = pending.find(descriptor);
    if (found != pending.end() && skipsFsync)
      return 0;
    if (found != pending.end())
      bytes = std::move(pending.extract(found).mapped());
  }
  const int flushed = flush(descriptor, bytes);
  return flushed < 0 ? flushed : FileSystem::fsync(descriptor);
}

int VolatileFiles::close(int descriptor) {
  std::lock_guard lock(mutex);
  if (const auto found = pending.find(descriptor); found != pending.end())
    neverSynced.emplace(::dup(descriptor), std::move(pending.extract(found).mapped()));
  return FileSystem::close(descriptor);
}

/// 0, or -errno.
int VolatileFiles::flush(int descriptor, const std::string &bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const int64_t count = FileSystem::write(descriptor, bytes.data() + at, bytes.size() - at);
    if (count < 0)
      return static_cast<int>(count);
    at += static_cast<size_t>(count);
  }
  return 0;
}

} // namespace weft::trials
