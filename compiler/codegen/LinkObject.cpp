//===- LinkObject.cpp - The linker, in this process ------------------------===//
//
// lld reads and writes files: both are memory files, which have paths while their descriptors are open.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/NativeCode.h"

#include "absl/strings/str_cat.h"

#include "lld/Common/Driver.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace weft {
namespace {

/// A file without a name.
class MemoryFile {
public:
  explicit MemoryFile(const char *purpose) : descriptor(::memfd_create(purpose, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  std::string path() const { return absl::StrCat("/proc/self/fd/", descriptor); }

  bool write(llvm::StringRef bytes) const {
    while (!bytes.empty()) {
      ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
      if (count <= 0)
        return false;
      bytes = bytes.drop_front(static_cast<size_t>(count));
    }
    return true;
  }

  bool read(std::string &bytes) const {
    struct stat info{};
    if (::fstat(descriptor, &info) != 0)
      return false;
    bytes.resize(static_cast<size_t>(info.st_size));
    return ::pread(descriptor, bytes.data(), bytes.size(), 0) == info.st_size;
  }

private:
  int descriptor;
};

} // namespace

absl::StatusOr<std::string> linkSharedObject(llvm::StringRef object) {
  MemoryFile input("weft-object"), output("weft-shared-object");
  if (!input.write(object))
    return absl::ResourceExhaustedError("generated kernels: no memory for a file in memory (memfd_create)");
  const std::string from = input.path(), to = output.path();
  const char *arguments[] = {"ld.lld",
                             "-shared",
                             "--no-mmap-output-file",
                             "--threads=1",
                             "--hash-style=gnu",
                             "-z",
                             "noexecstack",
                             "-z",
                             "now",
                             "--build-id=none",
                             "--no-undefined-version",
                             "--gc-sections",
                             "-o",
                             to.c_str(),
                             from.c_str()};
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return absl::InternalError(absl::StrCat("generated kernels: linking failed: ", messages));
  std::string linked;
  if (!output.read(linked))
    return absl::InternalError("generated kernels: the linked object cannot be read back");
  return linked;
}

} // namespace weft
