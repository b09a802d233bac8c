//===- JsonFields.h - Checked reading of a tokenizer's JSON ---------------===//
//
// One object of the file and where it stands. Whatever is read is checked for its type; a field that nobody
// asked for is refused, since it may change what the object means. Messages name the path:
// `pre_tokenizer.pretokenizers[1].behavior: expected a string, not 3`.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_RUNTIME_TOKENIZER_JSONFIELDS_H
#define WEFT_RUNTIME_TOKENIZER_JSONFIELDS_H

#include "absl/status/statusor.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

class JsonFields {
public:
  /// `path` is what messages call the object; empty: the file itself.
  static absl::StatusOr<JsonFields> of(const nlohmann::json &object, std::string path);

  const std::string &path() const { return where; }
  std::string pathOf(std::string_view key) const;

  /// Null when the field is absent or null.
  const nlohmann::json *find(std::string_view key) const;

  absl::StatusOr<std::string> text(std::string_view key) const;
  absl::StatusOr<std::string> textOr(std::string_view key, std::string_view fallback) const;
  absl::StatusOr<bool> flagOr(std::string_view key, bool fallback) const;
  /// 0 .. 2^31 - 1.
  absl::StatusOr<int32_t> number(std::string_view key) const;
  /// The objects of a list.
  absl::StatusOr<std::vector<JsonFields>> objects(std::string_view key) const;
  /// The parts of a `Sequence`, whose fields are `type` and `key`. It lies in `depth` others, 16 at most.
  absl::StatusOr<std::vector<JsonFields>> sequence(std::string_view key, int depth) const;

  /// An error unless every field is one of `known`.
  absl::Status expectOnly(std::initializer_list<std::string_view> known) const;

  /// `path.key: message`.
  absl::Status error(std::string_view key, std::string_view message) const;
  /// The same for what is understood and not done.
  absl::Status refuse(std::string_view key, std::string_view message) const;

private:
  JsonFields(const nlohmann::json &object, std::string path) : object(&object), where(std::move(path)) {}
  absl::Status typeError(std::string_view key, std::string_view expected) const;

  const nlohmann::json *object;
  std::string where;
};

/// What a message shows of a value: its text, cut.
std::string shortJson(const nlohmann::json &value);

} // namespace weft

#endif // WEFT_RUNTIME_TOKENIZER_JSONFIELDS_H
