//===- LinkObject.cpp - The linker, in this process ------------------------===//
//
// lld reads a file in memory and writes into a pipe: both have paths while their descriptors are open, and
// nothing of them is left whenever this process ends. (Into a regular file lld would write by way of a
// temporary one beside it, and beside a file in memory there is no place.)
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/NativeCode.h"

#include "absl/strings/str_cat.h"

#include "lld/Common/Driver.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace weft {
namespace {

class Descriptor {
public:
  explicit Descriptor(int number = -1) : number(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  void close() {
    if (number >= 0)
      ::close(number);
    number = -1;
  }
  std::string path() const { return absl::StrCat("/proc/self/fd/", number); }
  int number;
};

bool writeAll(int descriptor, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes = bytes.drop_front(static_cast<size_t>(count));
  }
  return true;
}

/// All that comes until the last writer closes.
std::string readAll(int descriptor) {
  std::string bytes;
  char block[1 << 16];
  for (;;) {
    ssize_t count = ::read(descriptor, block, sizeof(block));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return bytes;
    bytes.append(block, static_cast<size_t>(count));
  }
}

} // namespace

absl::StatusOr<std::string> linkSharedObject(llvm::StringRef object) {
  Descriptor input(::memfd_create("weft-object", MFD_CLOEXEC));
  int ends[2];
  if (input.number < 0 || !writeAll(input.number, object) || ::pipe2(ends, O_CLOEXEC) != 0)
    return absl::ErrnoToStatus(errno, "generated kernels: no file in memory (memfd_create) or no pipe");
  Descriptor readEnd(ends[0]), writeEnd(ends[1]);
  std::string linked;
  std::thread reader([&] { linked = readAll(readEnd.number); });
  const std::string from = input.path(), to = writeEnd.path();
  const char *arguments[] = {
      "ld.lld", "-shared", "--threads=1", "--hash-style=sysv", "--build-id=none", "-z", "noexecstack",
      "-z",     "now",     "-o",          to.c_str(),          from.c_str()};
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  writeEnd.close();
  reader.join();
  if (result.retCode != 0)
    return absl::InternalError(absl::StrCat("generated kernels: linking failed: ", messages));
  return linked;
}

} // namespace weft
