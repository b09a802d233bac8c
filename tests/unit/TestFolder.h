//===- TestFolder.h - A folder that lives as long as a test ---------------===//
//
// Every file that a unit test writes lies in one of these: tests run side by side, each in a process of its
// own, so that a name that two of them choose is a file that one takes from the other. In memory where there
// is such a place, since most of a small save is waiting for the disk.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_TESTFOLDER_H
#define WEFT_TESTS_UNIT_TESTFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <unistd.h>

namespace weft {

/// The bytes of a file; empty where there is none.
inline std::string contentsOf(const std::string &path) {
  std::ostringstream contents;
  contents << std::ifstream(path, std::ios::binary).rdbuf();
  return contents.str();
}

class TestFolder {
public:
  TestFolder() {
    const bool inMemory = ::access("/dev/shm", W_OK) == 0;
    std::string name =
        (inMemory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
        "weft-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      std::abort();
    root = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  TestFolder(const TestFolder &) = delete;
  TestFolder &operator=(const TestFolder &) = delete;

  const std::string &path() const { return root.native(); }
  std::string path(const std::string &name) const { return (root / name).string(); }
  std::string operator/(const std::string &name) const { return path(name); }

  /// Makes the folders that lead there, too. Returns the path.
  std::string write(const std::string &name, std::string_view contents) const {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(path(name), std::ios::binary) << contents;
    return path(name);
  }

  std::string read(const std::string &name) const { return contentsOf(path(name)); }

  bool has(const std::string &name) const { return std::filesystem::exists(root / name); }

  /// How many files and folders lie directly in this one.
  std::ptrdiff_t entries() const { return std::distance(std::filesystem::directory_iterator(root), {}); }

  /// `text` with the path of this folder taken out.
  template <typename Text> std::string relative(const Text &text) const {
    std::string result(text);
    std::string prefix = root.string() + "/";
    for (size_t at; (at = result.find(prefix)) != std::string::npos;)
      result.erase(at, prefix.size());
    return result;
  }

  std::filesystem::path root;
};

} // namespace weft

#endif // WEFT_TESTS_UNIT_TESTFOLDER_H
