//===- ResidentMemoryTest.cpp - What this process holds in memory ---------===//
#include "runtime/metrics/ResidentMemory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace weft {
namespace {

TEST(ResidentMemory, CountsAnonymousAndSharedPagesAndNotFiles) {
  EXPECT_EQ(
      *residentBytesOf(
          "Name:\tweft\nVmRSS:\t  900 kB\nRssAnon:\t     100 kB\nRssFile:\t 700 kB\nRssShmem:\t  20 kB\n"),
      120 * 1024);
}

TEST(ResidentMemory, GrowsWithWhatIsTouched) {
  int64_t before = *residentBytes();
  constexpr size_t size = size_t{32} << 20;
  std::unique_ptr<char[]> block(new char[size]);
  std::memset(block.get(), 1, size);
  int64_t after = *residentBytes();
  EXPECT_EQ(block[size / 2], 1);
  EXPECT_GE(after - before, static_cast<int64_t>(size) - (1 << 20));
}

TEST(ResidentMemory, AKernelWithoutTheFiguresIsNamed) {
  EXPECT_EQ(residentBytesOf("Name:\tweft\n").status().message(),
            "/proc/self/status: has no RssAnon and RssShmem; they need Linux 4.5 or newer");
}

} // namespace
} // namespace weft
