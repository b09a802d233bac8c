//===- TestFolder.h - A folder that lives as long as a test ---------------===//
//
// Tests write their files into a fresh folder and compare messages that name files by their path relative to
// it.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_DATA_TESTFOLDER_H
#define WEFT_TESTS_UNIT_DATA_TESTFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace weft {

class TestFolder {
public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      std::abort();
    root = name;
  }
  ~TestFolder() { std::filesystem::remove_all(root); }

  std::string path(const std::string &name) const { return (root / name).string(); }

  std::string write(const std::string &name, std::string_view contents) const {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(path(name), std::ios::binary) << contents;
    return path(name);
  }

  std::string read(const std::string &name) const {
    std::ostringstream contents;
    contents << std::ifstream(path(name), std::ios::binary).rdbuf();
    return contents.str();
  }

  bool has(const std::string &name) const { return std::filesystem::exists(root / name); }

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

#endif // WEFT_TESTS_UNIT_DATA_TESTFOLDER_H
