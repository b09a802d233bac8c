#include "runtime/object/LoadedObject.h"
#include "tests/unit/object/TestObjects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <elf.h>
#include <filesystem>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <vector>

namespace weft::testing {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const LoadedObject> load(const std::string &bytes) {
  absl::StatusOr<std::shared_ptr<const LoadedObject>> object = LoadedObject::load(bytes);
  EXPECT_EQ(object.status(), absl::OkStatus());
  return *std::move(object);
}

std::vector<float> runUnary(GeneratedFunction &function, const std::vector<float> &x, int64_t begin,
                            int64_t end) {
  std::vector<float> result(x.size(), -7);
  const void *operands[] = {x.data()};
  void *results[] = {result.data()};
  function(operands, results, begin, end);
  return result;
}

TEST(LoadedObject, ItsFunctionsRun) {
  std::shared_ptr<const LoadedObject> object = load(objectBytes("kernels"));
  GeneratedFunction *alternate = object->find("weft_alternate"); // by a table that the loader has relocated
  ASSERT_NE(alternate, nullptr);
  EXPECT_THAT(runUnary(*alternate, {10, 20, 30, 40}, 1, 3), ElementsAre(-7, 19, 31, -7));
  EXPECT_EQ(object->find("weft_missing"), nullptr);
  EXPECT_EQ(object->find("memcpy"), nullptr); // of the process, not of the object
}

TEST(LoadedObject, WhatItImportsComesFromTheProcess) {
  for (const char *name : {"imports", "linked"}) {
    std::shared_ptr<const LoadedObject> object = load(objectBytes(name));
    EXPECT_THAT(runUnary(*object->find("weft_exp"), {0, 1, 2}, 1, 3),
                ElementsAre(-7, std::exp(1.0f), std::exp(2.0f)));
  }
}

TEST(LoadedObject, EqualBytesAreLoadedOnce) {
  const std::string bytes = objectBytes("kernels"), copy = bytes;
  std::vector<std::shared_ptr<const LoadedObject>> objects(8);
  std::vector<std::thread> threads;
  for (auto &object : objects)
    threads.emplace_back([&] { object = load(&object == &objects[0] ? bytes : copy); });
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &object : objects)
    EXPECT_EQ(object, objects[0]);
  EXPECT_NE(load(objectBytes("imports")), objects[0]);
}

/// The system's loader knows an object by its path, and descriptors repeat.
TEST(LoadedObject, AfterOneIsUnloadedTheNextHasItsOwnFunctions) {
  auto descriptors = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  const auto before = descriptors();
  for (int round = 0; round < 3; ++round) {
    for (const char *name : {"kernels", "imports"}) {
      std::shared_ptr<const LoadedObject> object = load(objectBytes(name));
      EXPECT_EQ(object->find("weft_alternate") != nullptr, std::string(name) == "kernels");
      EXPECT_EQ(object->find("weft_exp") != nullptr, std::string(name) == "imports");
    }
    std::shared_ptr<const LoadedObject> first = load(objectBytes("kernels")),
                                        second = load(objectBytes("imports"));
    EXPECT_EQ(first->find("weft_exp"), nullptr);
    EXPECT_EQ(second->find("weft_alternate"), nullptr);
  }
  EXPECT_EQ(descriptors(), before);
}

TEST(LoadedObject, WhatIsNotAcceptedIsNotLoaded) {
  EXPECT_EQ(LoadedObject::load(objectBytes("constructor")).status().message(),
            "it runs code while it is loaded (DT_INIT_ARRAY: a constructor)");
}

/// From now on this process gets EPERM for a system call, where `argument` has `bit`, or anyway.
void refuseSystemCall(uint32_t call, uint32_t argument, uint32_t bit) {
  const auto argumentAt = static_cast<uint32_t>(offsetof(seccomp_data, args) + sizeof(uint64_t) * argument);
  sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
                         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argumentAt),
                         BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bit, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog filter{std::size(rules), rules};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    std::_Exit(77);
}

[[noreturn]] void loadAndTell() {
  absl::Status status = LoadedObject::load(objectBytes("kernels")).status();
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::_Exit(status.ok() ? 1 : 0);
}

TEST(LoadedObject, ASystemWithoutFilesInMemoryIsToldWithTheRemedy) {
  EXPECT_EXIT(
      {
        refuseSystemCall(SYS_memfd_create, 1, MFD_CLOEXEC);
        loadAndTell();
      },
      ::testing::ExitedWithCode(0),
      "FAILED_PRECONDITION: generated kernels cannot be loaded: memfd_create: Operation not permitted. They "
      "are "
      "machine code in memory, .* no rule of the system \\(seccomp, SELinux, AppArmor\\) may keep this "
      "process from memfd_create");
}

TEST(LoadedObject, ASystemThatMapsNoCodeFromMemoryIsToldWithTheRemedy) {
  EXPECT_EXIT(
      {
        refuseSystemCall(SYS_mmap, 2, PROT_EXEC);
        loadAndTell();
      },
      ::testing::ExitedWithCode(0),
      "FAILED_PRECONDITION: generated kernels cannot be loaded: /proc/self/fd/[0-9]+: failed to map segment "
      "from "
      "shared object.* /proc must be mounted");
}

} // namespace
} // namespace weft::testing
