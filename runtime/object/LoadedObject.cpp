#include "runtime/object/LoadedObject.h"

#include "runtime/object/ObjectFile.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace weft {
namespace {

// Linux 6.3: the file itself can never be started as a program. A system may insist on it
// (vm.memfd_noexec=2).
constexpr unsigned kNoExecSeal = 0x0008;

absl::Status notAllowed(const std::string &what) {
  return absl::FailedPreconditionError(absl::StrCat(
      "generated kernels cannot be loaded: ", what,
      ". They are machine code in memory, mapped from /proc/self/fd: /proc must be mounted, and "
      "no rule of the system (seccomp, SELinux, AppArmor) may keep this process from memfd_create "
      "and from mapping such a file as executable. Without them, and with the same bits: compile "
      "with launch.fusion=blocks"));
}

absl::Status failed(const char *call) {
  const int error = errno;
  const bool isShort = error == ENOMEM || error == ENOSPC || error == EMFILE || error == ENFILE;
  const std::string what = absl::StrCat(call, ": ", std::strerror(error));
  return isShort ? absl::ResourceExhaustedError(absl::StrCat("generated kernels cannot be loaded: ", what))
                 : notAllowed(what);
}

struct LoadedObjects {
  std::mutex mutex;
  std::vector<std::weak_ptr<const LoadedObject>> all;
};

/// Lives until the process ends: objects may be unloaded late.
LoadedObjects &loadedObjects() {
  static auto *objects = new LoadedObjects;
  return *objects;
}

} // namespace

absl::StatusOr<std::shared_ptr<const LoadedObject>> LoadedObject::load(std::string_view bytes) {
  absl::StatusOr<std::vector<std::string>> names = readObject(bytes);
  if (!names.ok())
    return names.status();
  LoadedObjects &objects = loadedObjects();
  std::lock_guard lock(objects.mutex);
  std::erase_if(objects.all, [](const auto &object) { return object.expired(); });
  for (const std::weak_ptr<const LoadedObject> &object : objects.all)
    if (std::shared_ptr<const LoadedObject> known = object.lock(); known && known->bytes() == bytes)
      return known;
  std::shared_ptr<LoadedObject> object(new LoadedObject);
  if (absl::Status status = object->fill(bytes); !status.ok())
    return status;
  if (absl::Status status = object->open(*names); !status.ok())
    return status;
  objects.all.push_back(object);
  return object;
}

/// Puts the bytes where the system's loader can have them, and nobody can change them.
absl::Status LoadedObject::fill(std::string_view bytes) {
  descriptor = ::memfd_create("weft-kernels", MFD_CLOEXEC | MFD_ALLOW_SEALING | kNoExecSeal);
  if (descriptor < 0 && errno == EINVAL) // an older Linux
    descriptor = ::memfd_create("weft-kernels", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0)
    return failed("memfd_create");
  for (size_t written = 0; written < bytes.size();) {
    const ssize_t count = ::write(descriptor, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno != EINTR)
      return failed("write");
    written += count > 0 ? static_cast<size_t>(count) : 0;
  }
  if (::fcntl(descriptor, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return failed("fcntl(F_ADD_SEALS)");
  void *start = ::mmap(nullptr, bytes.size(), PROT_READ, MAP_SHARED, descriptor, 0);
  if (start == MAP_FAILED)
    return failed("mmap");
  image = start;
  size = bytes.size();
  return absl::OkStatus();
}

absl::Status LoadedObject::open(const std::vector<std::string> &names) {
  handle = ::dlopen(absl::StrCat("/proc/self/fd/", descriptor).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char *error = ::dlerror();
    return notAllowed(error != nullptr ? error : "dlopen");
  }
  for (const std::string &name : names) {
    void *address = ::dlsym(handle, name.c_str());
    if (address == nullptr)
      return absl::InvalidArgumentError(
          absl::StrCat("its function '", name, "' is not found: its table of hashes is damaged"));
    functions.emplace(name, reinterpret_cast<GeneratedFunction *>(address));
  }
  return absl::OkStatus();
}

LoadedObject::~LoadedObject() {
  if (handle != nullptr)
    ::dlclose(handle);
  if (image != nullptr)
    ::munmap(image, size);
  if (descriptor >= 0)
    ::close(descriptor);
}

GeneratedFunction *LoadedObject::find(const std::string &symbol) const {
  auto found = functions.find(symbol);
  return found == functions.end() ? nullptr : found->second;
}

} // namespace weft
