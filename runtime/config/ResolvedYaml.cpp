//===- ResolvedYaml.cpp - A run with nothing left open --------------------===//
//
// Writes the Config back as YAML, one key a line, the origin of each value behind it. This is what run
// folders, checkpoints and executables store.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/ConfigLoader.h"
#include "runtime/config/Schema.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace weft {

namespace {
class Writer {
public:
  explicit Writer(const LoadedConfig &loaded) : loaded(loaded) {}

  std::string write() {
    absl::StrAppend(&text, "# weft ", WEFT_VERSION, ", config version ", configVersion,
                    ": every value that counts in this run, and where it came from.\n");
    for (const Key &key : configSchema())
      if (isUsed(key, loaded.config) && !isUnsetPath(key))
        writeKey(key);
    return std::move(text);
  }

private:
  /// A file that is not given has no path to write: an empty one would be refused when it is read again.
  bool isUnsetPath(const Key &key) const { return key.isPath && renderField(key, &loaded.config) == "\"\""; }

  /// Opens the sections of a path that are not open yet, and returns the indentation of its last name.
  size_t openSections(const std::vector<std::string> &names) {
    size_t shared = 0;
    while (shared < open.size() && shared + 1 < names.size() && open[shared] == names[shared])
      ++shared;
    open.resize(shared);
    for (size_t i = shared; i + 1 < names.size(); ++i) {
      absl::StrAppend(&text, std::string(2 * i, ' '), names[i], ":\n");
      open.push_back(names[i]);
    }
    return 2 * (names.size() - 1);
  }

  void writeLine(const std::string &start, const Key &key, const void *object, const std::string &path) {
    std::string line = absl::StrCat(start, ": ", renderField(key, object));
    constexpr size_t commentColumn = 48;
    if (line.size() < commentColumn)
      line.resize(commentColumn, ' ');
    absl::StrAppend(&text, line, "  # ", originText(key, path), "\n");
  }

  std::string originText(const Key &key, const std::string &path) const {
    if (auto given = loaded.origins.find(path); given != loaded.origins.end())
      return singleLine(given->second.str());
    return key.derivedFrom.empty() ? "default" : absl::StrCat("default: ", key.derivedFrom);
  }

  /// A file may have a line break in its name, a comment may not.
  static std::string singleLine(std::string origin) {
    for (char &c : origin)
      if (static_cast<unsigned char>(c) < 0x20)
        c = '?';
    return origin;
  }

  void writeKey(const Key &key) {
    std::vector<std::string> names = absl::StrSplit(key.path, '.');
    size_t indent = openSections(names);
    std::string start = absl::StrCat(std::string(indent, ' '), names.back());
    // Only read: the field is not written through.
    void *config = const_cast<Config *>(&loaded.config);
    Field field = key.fieldIn(config);
    const auto *records = std::get_if<RecordsField>(&field);
    if (!records || records->size(records->member) == 0) {
      writeLine(start, key, config, key.path);
      return;
    }
    absl::StrAppend(&text, start, ":\n");
    for (size_t i = 0; i < records->size(records->member); ++i) {
      const char *dash = "- ";
      for (const Key &element : *key.elements) {
        writeLine(absl::StrCat(std::string(indent + 2, ' '), dash, element.path), element,
                  records->at(records->member, i), absl::StrCat(key.path, "[", i, "].", element.path));
        dash = "  ";
      }
    }
  }

  const LoadedConfig &loaded;
  std::vector<std::string> open;
  std::string text;
};
} // namespace

std::string LoadedConfig::resolvedYaml() const { return Writer(*this).write(); }

} // namespace weft
