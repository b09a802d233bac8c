#include "kernels/common/KernelCall.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft {
namespace {
absl::Status missing(const KernelCall &call, const std::string &key, const char *form) {
  return absl::InvalidArgumentError(
      absl::StrCat("kernel ", call.name, ": attribute '", key, "' must be ", form));
}
std::string typeList(const std::vector<TensorType> &types) {
  return absl::StrJoin(types, ", ",
                       [](std::string *out, const TensorType &type) { out->append(type.str()); });
}
} // namespace

absl::StatusOr<int64_t> KernelCall::integer(const std::string &key) const {
  auto found = attributes.find(key);
  if (found == attributes.end() || found->second.integers.size() != 1)
    return missing(*this, key, "one integer");
  return found->second.integers[0];
}

absl::StatusOr<double> KernelCall::number(const std::string &key) const {
  auto found = attributes.find(key);
  if (found == attributes.end() || found->second.numbers.size() != 1)
    return missing(*this, key, "one number");
  return found->second.numbers[0];
}

absl::StatusOr<std::string> KernelCall::text(const std::string &key) const {
  auto found = attributes.find(key);
  if (found == attributes.end())
    return missing(*this, key, "a text");
  return found->second.text;
}

absl::StatusOr<std::vector<int64_t>> KernelCall::integers(const std::string &key) const {
  auto found = attributes.find(key);
  if (found == attributes.end())
    return missing(*this, key, "a list of integers");
  return found->second.integers;
}

int64_t KernelCall::integerOr(const std::string &key, int64_t otherwise) const {
  auto found = attributes.find(key);
  return found == attributes.end() || found->second.integers.empty() ? otherwise : found->second.integers[0];
}

double KernelCall::numberOr(const std::string &key, double otherwise) const {
  auto found = attributes.find(key);
  return found == attributes.end() || found->second.numbers.empty() ? otherwise : found->second.numbers[0];
}

std::string KernelCall::textOr(const std::string &key, const std::string &otherwise) const {
  auto found = attributes.find(key);
  return found == attributes.end() ? otherwise : found->second.text;
}

std::string KernelCall::str() const {
  return absl::StrCat(name, "(", typeList(operands), ") -> (", typeList(results), ")");
}

} // namespace weft
