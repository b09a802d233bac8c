//===- JsonTree.cpp - JSON text to a tree ---------------------------------===//
//
// Built from the events of the JSON parser, whose document form would keep the last of two equal keys. The
// parser knows no lines: it reads through an iterator that counts them.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/JsonTree.h"

#include "absl/strings/str_cat.h"

#include <nlohmann/json.hpp>

#include <iterator>

namespace weft {

namespace {
using Json = nlohmann::json;

/// Reads characters and counts the line breaks passed. All copies share one counter.
class CountingIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  CountingIterator(const char *position, int *line) : position(position), line(line) {}
  reference operator*() const { return *position; }
  CountingIterator &operator++() {
    *line += *position == '\n';
    ++position;
    return *this;
  }
  bool operator==(const CountingIterator &other) const { return position == other.position; }
  bool operator!=(const CountingIterator &other) const { return position != other.position; }

private:
  const char *position;
  int *line;
};

class JsonBuilder final : public nlohmann::json_sax<Json> {
public:
  JsonBuilder(const std::string &source, const int &line) : source(source), line(line) {}

  ConfigNode root;
  std::string failure;

  bool null() override { return place(ConfigNode()); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false", false); }
  bool number_integer(number_integer_t value) override { return scalar(absl::StrCat(value), false); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(absl::StrCat(value), false); }
  bool number_float(number_float_t, const string_t &text) override { return scalar(text, false); }
  bool string(string_t &value) override { return scalar(value, true); }
  bool binary(binary_t &) override { return refuse("binary values have no place in JSON text"); }

  bool start_object(std::size_t) override { return open(ConfigNode::Kind::Map); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(ConfigNode::Kind::List); }
  bool end_array() override { return close(); }

  bool key(string_t &value) override {
    ConfigNode &map = stack.back();
    if (map.find(value))
      return refuse(absl::StrCat("the key ", value, " is given twice. Keep one"));
    ConfigNode waiting;
    waiting.origin = here();
    map.add(value, std::move(waiting));
    return true;
  }

  bool parse_error(std::size_t, const std::string &, const Json::exception &error) override {
    // The library's text starts with its own error number in brackets.
    std::string what = error.what();
    size_t bracket = what.find("] ");
    return refuse(
        absl::StrCat("not valid JSON: ", bracket == std::string::npos ? what : what.substr(bracket + 2)));
  }

private:
  Origin here() const { return {source, line}; }

  bool refuse(const std::string &what) {
    failure = absl::StrCat(here().str(), ": ", what, ".");
    return false;
  }

  bool scalar(std::string text, bool quoted) {
    ConfigNode node;
    node.kind = ConfigNode::Kind::Scalar;
    node.text = std::move(text);
    node.quoted = quoted;
    return place(std::move(node));
  }

  bool open(ConfigNode::Kind kind) {
    if (stack.size() >= static_cast<size_t>(maxConfigDepth))
      return refuse(absl::StrCat("nested deeper than ", maxConfigDepth, " levels. No key is"));
    ConfigNode node;
    node.kind = kind;
    node.origin = here();
    stack.push_back(std::move(node));
    return true;
  }

  bool close() {
    ConfigNode node = std::move(stack.back());
    stack.pop_back();
    return place(std::move(node));
  }

  /// In a map the key was added just before and waits for its value.
  bool place(ConfigNode node) {
    if (stack.empty()) {
      root = std::move(node);
      return true;
    }
    ConfigNode &parent = stack.back();
    if (parent.kind == ConfigNode::Kind::Map) {
      node.origin = parent.children.back().origin;
      parent.children.back() = std::move(node);
    } else {
      node.origin = here();
      parent.children.push_back(std::move(node));
    }
    return true;
  }

  const std::string &source;
  const int &line;
  std::vector<ConfigNode> stack;
};
} // namespace

absl::StatusOr<ConfigNode> readJson(const std::string &text, const std::string &source) {
  int line = 1;
  JsonBuilder builder(source, line);
  CountingIterator begin(text.data(), &line), end(text.data() + text.size(), &line);
  try {
    if (Json::sax_parse(begin, end, &builder))
      return std::move(builder.root);
  } catch (const std::exception &error) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ":", line, ": not valid JSON: ", error.what(), "."));
  }
  return absl::InvalidArgumentError(builder.failure);
}

} // namespace weft
