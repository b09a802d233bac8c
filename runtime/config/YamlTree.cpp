//===- YamlTree.cpp - YAML text to a tree ---------------------------------===//
//
// Built from the parser's events, not from YAML::Node, which lets duplicate keys pass (the first wins), drops
// further documents and resolves aliases. The library reports errors by exceptions; none leaves this file.
//
//===----------------------------------------------------------------------===//
#include "runtime/config/YamlTree.h"

#include "absl/strings/str_cat.h"

#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/mark.h"
#include "yaml-cpp/parser.h"

#include <optional>
#include <sstream>

namespace weft {

namespace {
/// Ends the parse from inside an event.
struct Refusal {
  int line;
  std::string what;
};

class TreeBuilder final : public YAML::EventHandler {
public:
  TreeBuilder(const std::string &source, bool numbered) : source(source), numbered(numbered) {}

  ConfigNode takeRoot() { return std::move(root); }

  void OnDocumentStart(const YAML::Mark &mark) override {
    if (documentSeen)
      throw Refusal{mark.line + 1,
                    "a second document starts here. A run is one document: remove the `---` line "
                    "and what follows, or make it a file of its own"};
    documentSeen = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark &mark, YAML::anchor_t anchor) override {
    refuseAnchor(mark, anchor);
    place(mark, ConfigNode());
  }

  void OnAlias(const YAML::Mark &mark, YAML::anchor_t) override {
    throw Refusal{mark.line + 1, "aliases (*name) are not supported. Write the value out"};
  }

  void OnScalar(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                const std::string &value) override {
    refuseAnchor(mark, anchor);
    refuseTag(mark, tag);
    ConfigNode node;
    node.kind = ConfigNode::Kind::Scalar;
    node.text = value;
    node.quoted = tag == "!";
    place(mark, std::move(node));
  }

  void OnSequenceStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, ConfigNode::Kind::List);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, ConfigNode::Kind::Map);
  }
  void OnMapEnd() override { close(); }

private:
  /// A map or list whose end has not come. `key` waits for its value.
  struct Open {
    ConfigNode node;
    std::optional<std::string> key;
    Origin keyOrigin;
  };

  static void refuseAnchor(const YAML::Mark &mark, YAML::anchor_t anchor) {
    if (anchor != 0)
      throw Refusal{mark.line + 1, "anchors (&name) are not supported. Write the value out where it is used"};
  }

  static void refuseTag(const YAML::Mark &mark, const std::string &tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      throw Refusal{mark.line + 1, absl::StrCat("tags (", tag, ") are not supported. Write the plain value")};
  }

  void open(const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor, ConfigNode::Kind kind) {
    refuseAnchor(mark, anchor);
    refuseTag(mark, tag);
    if (!stack.empty() && stack.back().node.kind == ConfigNode::Kind::Map && !stack.back().key)
      throw Refusal{mark.line + 1, "a map or list cannot be a key (is a bracket left open?). Keys are words"};
    if (stack.size() >= static_cast<size_t>(maxConfigDepth))
      throw Refusal{mark.line + 1, absl::StrCat("nested deeper than ", maxConfigDepth, " levels. No key is")};
    Open opened;
    opened.node.kind = kind;
    opened.node.origin = originOf(mark);
    stack.push_back(std::move(opened));
  }

  void close() {
    ConfigNode node = std::move(stack.back().node);
    stack.pop_back();
    Origin origin = node.origin;
    placeAt(origin, std::move(node));
  }

  void place(const YAML::Mark &mark, ConfigNode node) {
    Origin origin = originOf(mark);
    if (!stack.empty() && stack.back().node.kind == ConfigNode::Kind::Map && !stack.back().key) {
      takeKey(mark, node);
      return;
    }
    placeAt(origin, std::move(node));
  }

  /// A value goes under the waiting key of the innermost map, to the end of the innermost list, or is the
  /// root.
  void placeAt(const Origin &origin, ConfigNode node) {
    node.origin = origin;
    if (stack.empty()) {
      root = std::move(node);
      return;
    }
    Open &parent = stack.back();
    if (parent.node.kind == ConfigNode::Kind::List) {
      parent.node.children.push_back(std::move(node));
      return;
    }
    node.origin = parent.keyOrigin;
    parent.node.add(*parent.key, std::move(node));
    parent.key.reset();
  }

  void takeKey(const YAML::Mark &mark, const ConfigNode &node) {
    Open &map = stack.back();
    if (node.kind != ConfigNode::Kind::Scalar)
      throw Refusal{mark.line + 1, "a key is missing before the colon"};
    if (const ConfigNode *first = map.node.find(node.text))
      throw Refusal{
          mark.line + 1,
          absl::StrCat("the key ", node.describe(), " is given twice",
                       numbered ? absl::StrCat(", first in line ", first->origin.line) : std::string(),
                       ". Keep one")};
    map.key = node.text;
    map.keyOrigin = originOf(mark);
  }

  Origin originOf(const YAML::Mark &mark) const { return {source, numbered ? mark.line + 1 : 0}; }

  const std::string &source;
  bool numbered;
  bool documentSeen = false;
  std::vector<Open> stack;
  ConfigNode root;
};
} // namespace

absl::StatusOr<ConfigNode> readYaml(const std::string &text, const std::string &source, bool numbered) {
  TreeBuilder builder(source, numbered);
  auto refuse = [&](int line, const std::string &what) {
    return absl::InvalidArgumentError(
        absl::StrCat(Origin{source, numbered ? line : 0}.str(), ": ", what, "."));
  };
  // The library takes a zero byte for the end of the text.
  if (text.find('\0') != std::string::npos)
    return refuse(1, "holds a zero byte: this is not a text file");
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder))
      ;
  } catch (const Refusal &refusal) {
    return refuse(refusal.line, refusal.what);
  } catch (const YAML::Exception &error) {
    return refuse(error.mark.is_null() ? 1 : error.mark.line + 1,
                  absl::StrCat("not valid YAML: ", error.msg));
  } catch (const std::exception &error) {
    return refuse(1, absl::StrCat("not valid YAML: ", error.what()));
  }
  return builder.takeRoot();
}

} // namespace weft
