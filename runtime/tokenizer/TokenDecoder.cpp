//===- TokenDecoder.cpp - The decoder of a tokenizer.json -----------------===//
//
// Stages work token by token until Fuse (or ByteLevel, which joins as well). Behind it only a Strip of one
// character at the begin can be told from the first token alone; the rest is refused.
//
//===----------------------------------------------------------------------===//
#include "runtime/tokenizer/TokenDecoder.h"

#include "runtime/support/Concat.h"
#include "runtime/tokenizer/ByteAlphabet.h"
#include "runtime/tokenizer/MetaspaceFields.h"
#include "runtime/tokenizer/ReplaceFields.h"

#include "absl/status/status.h"

#include "absl/strings/str_replace.h"

#include <optional>
#include <utility>

namespace weft {

class TokenDecoder::Stage {
public:
  virtual ~Stage() = default;
  virtual absl::Status apply(std::string &token, bool isFirst, Regex::Scratch &scratch) const = 0;
};

namespace {

using Stage = TokenDecoder::Stage;

class JoinBySpaces final : public Stage {
public:
  absl::Status apply(std::string &token, bool isFirst, Regex::Scratch &) const override {
    if (!isFirst)
      token.insert(0, " ");
    return absl::OkStatus();
  }
};

class ByteLevel final : public Stage {
public:
  absl::Status apply(std::string &token, bool, Regex::Scratch &) const override {
    if (std::optional<std::string> bytes = fromByteAlphabet(token))
      token = *std::move(bytes);
    return absl::OkStatus();
  }
};

class ByteFallback final : public Stage {
public:
  absl::Status apply(std::string &token, bool, Regex::Scratch &) const override {
    if (std::optional<char> byte = byteOfFallback(token))
      token = std::string(1, *byte);
    return absl::OkStatus();
  }
};

class Metaspace final : public Stage {
public:
  Metaspace(std::string replacement, bool dropsFirst)
      : replacement(std::move(replacement)), dropsFirst(dropsFirst) {}

  absl::Status apply(std::string &token, bool isFirst, Regex::Scratch &) const override {
    token = absl::StrReplaceAll(token, {{replacement, isFirst && dropsFirst ? "" : " "}});
    return absl::OkStatus();
  }

private:
  std::string replacement;
  bool dropsFirst;
};

class Replace final : public Stage {
public:
  explicit Replace(ReplaceFields fields) : fields(std::move(fields)) {}

  absl::Status apply(std::string &token, bool, Regex::Scratch &scratch) const override {
    std::string replaced;
    absl::Status status =
        fields.pattern.forEachSegment(token, false, scratch, [&](size_t begin, size_t end, bool isMatch) {
          replaced += isMatch ? fields.content : token.substr(begin, end - begin);
          return absl::OkStatus();
        });
    token = std::move(replaced);
    return status;
  }

private:
  ReplaceFields fields;
};

/// Drops up to `start` and `stop` times `content` at the ends of a token.
class Strip final : public Stage {
public:
  Strip(std::string content, int32_t start, int32_t stop, bool firstOnly)
      : content(std::move(content)), start(start), stop(stop), firstOnly(firstOnly) {}

  absl::Status apply(std::string &token, bool isFirst, Regex::Scratch &) const override {
    if (firstOnly && !isFirst)
      return absl::OkStatus();
    for (int32_t i = 0; i < start && token.starts_with(content); ++i)
      token.erase(0, content.size());
    for (int32_t i = 0; i < stop && token.ends_with(content); ++i)
      token.erase(token.size() - content.size());
    return absl::OkStatus();
  }

private:
  std::string content;
  int32_t start;
  int32_t stop;
  bool firstOnly;
};

struct Chain {
  std::vector<std::unique_ptr<Stage>> stages;
  bool isFused = false;
};

absl::Status addReplace(const JsonFields &fields, Chain &chain) {
  absl::StatusOr<ReplaceFields> read = ReplaceFields::read(fields);
  if (!read.ok())
    return read.status();
  chain.stages.push_back(std::make_unique<Replace>(*std::move(read)));
  return absl::OkStatus();
}

absl::Status addStrip(const JsonFields &fields, Chain &chain) {
  absl::StatusOr<std::string> content = fields.text("content");
  absl::StatusOr<int32_t> start = fields.number("start");
  absl::StatusOr<int32_t> stop = fields.number("stop");
  for (const absl::Status &status : {fields.expectOnly({"type", "content", "start", "stop"}),
                                     content.status(), start.status(), stop.status()})
    if (!status.ok())
      return status;
  if (content->empty())
    return fields.error("content", "expected one character");
  if (chain.isFused && (*start > 1 || *stop > 0))
    return fields.refuse("",
                         "a Strip behind Fuse may only drop one character at the begin (start: 1, stop: 0)");
  chain.stages.push_back(std::make_unique<Strip>(*std::move(content), *start, *stop, chain.isFused));
  return absl::OkStatus();
}

absl::Status add(const JsonFields &fields, int depth, Chain &chain);

absl::Status addSequence(const JsonFields &fields, int depth, Chain &chain) {
  absl::StatusOr<std::vector<JsonFields>> all = fields.sequence("decoders", depth);
  if (!all.ok())
    return all.status();
  for (const JsonFields &one : *all)
    if (absl::Status status = add(one, depth + 1, chain); !status.ok())
      return status;
  return absl::OkStatus();
}

absl::Status add(const JsonFields &fields, int depth, Chain &chain) {
  absl::StatusOr<std::string> type = fields.text("type");
  if (!type.ok())
    return type.status();
  if (*type == "Sequence")
    return addSequence(fields, depth, chain);
  if (*type == "Strip")
    return addStrip(fields, chain);
  if (*type == "Fuse") {
    chain.isFused = true;
    return fields.expectOnly({"type"});
  }
  if (chain.isFused)
    return fields.refuse("type", concat("\"", *type, "\" behind Fuse or ByteLevel is not supported"));
  if (*type == "Replace")
    return addReplace(fields, chain);
  if (*type == "ByteFallback") {
    chain.stages.push_back(std::make_unique<ByteFallback>());
    return fields.expectOnly({"type"});
  }
  if (*type == "ByteLevel") {
    chain.stages.push_back(std::make_unique<ByteLevel>());
    chain.isFused = true;
    return fields.expectOnly({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  }
  if (*type != "Metaspace")
    return fields.refuse("type", concat("\"", *type,
                                        "\" is not supported. Supported: ByteFallback, ByteLevel, Fuse, "
                                        "Metaspace, Replace, Sequence, Strip."));
  absl::StatusOr<MetaspaceFields> metaspace = MetaspaceFields::read(fields);
  if (!metaspace.ok())
    return metaspace.status();
  chain.stages.push_back(std::make_unique<Metaspace>(metaspace->replacement, metaspace->scheme != "never"));
  return absl::OkStatus();
}

} // namespace

TokenDecoder::TokenDecoder() { stages.push_back(std::make_unique<JoinBySpaces>()); }
TokenDecoder::~TokenDecoder() = default;
TokenDecoder::TokenDecoder(TokenDecoder &&) noexcept = default;
TokenDecoder &TokenDecoder::operator=(TokenDecoder &&) noexcept = default;

absl::StatusOr<TokenDecoder> TokenDecoder::create(const JsonFields &fields) {
  Chain chain;
  if (absl::Status status = add(fields, 0, chain); !status.ok())
    return status;
  TokenDecoder decoder;
  decoder.stages = std::move(chain.stages);
  return decoder;
}

absl::StatusOr<std::string> TokenDecoder::decode(std::string token, bool isFirst,
                                                 Regex::Scratch &scratch) const {
  for (const std::unique_ptr<Stage> &stage : stages)
    if (absl::Status status = stage->apply(token, isFirst, scratch); !status.ok())
      return status;
  return token;
}

} // namespace weft
