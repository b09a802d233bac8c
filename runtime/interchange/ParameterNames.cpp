//===- ParameterNames.cpp - What the name of a tensor says ----------------===//
//
// Endings of names, as all families have them: a name that none of them fits is a matrix as it is.
//
//===----------------------------------------------------------------------===//
#include "runtime/interchange/ParameterNames.h"

#include "absl/strings/match.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <numeric>

namespace weft::interchange {

static bool endsWithAny(const std::string &name, std::initializer_list<const char *> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char *ending) { return absl::EndsWith(name, ending); });
}

static int64_t productOf(std::vector<int64_t>::const_iterator begin,
                         std::vector<int64_t>::const_iterator end) {
  return std::accumulate(begin, end, int64_t{1}, std::multiplies<>());
}

bool isParameter(const std::string &name) {
  return !absl::StartsWith(name, "optimizer.") && !absl::StartsWith(name, "loss_scale");
}

bool isTokenEmbedding(const std::string &name) {
  return endsWithAny(name, {"embed_tokens.weight", "wte.weight"});
}

bool hasVocabularyRows(const std::string &name) { return name == kHead || isTokenEmbedding(name); }

bool isKnownBuffer(const std::string &name) {
  return endsWithAny(name, {".rotary_emb.inv_freq", ".rotary_emb.cos_cached", ".rotary_emb.sin_cached",
                            ".attn.bias", ".attn.masked_bias"});
}

std::vector<int64_t> huggingFaceShape(const std::string &name, const std::vector<int64_t> &shape) {
  if (shape.size() < 2)
    return shape;
  if (endsWithAny(name, {".bias", "norm.weight"}))
    return {productOf(shape.begin(), shape.end())};
  // What is behind the first dimension is one where that is the whole input (o_proj: the output).
  const bool isOneBehindFirst = endsWithAny(name, {".o_proj.weight", ".c_attn.weight"});
  const auto cut = isOneBehindFirst ? shape.begin() + 1 : shape.end() - 1;
  return {productOf(shape.begin(), cut), productOf(cut, shape.end())};
}

} // namespace weft::interchange
