//===- KernelCall.h - What names a kernel, on every device ----------------===//
//
// A kernel call is a name, operand and result types, and static attributes: all that a kernel's bits may
// depend on, besides the device and its instruction set. The compiler writes calls, the executable stores
// them, a device turns each into a Kernel once, at load. docs/kernels.md lists every name with its signature.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COMMON_KERNELCALL_H
#define WEFT_KERNELS_COMMON_KERNELCALL_H

#include "kernels/common/Types.h"

#include "absl/status/statusor.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// One static attribute; exactly one of the three is meant, by the kernel's signature.
struct Attribute {
  std::vector<int64_t> integers;
  std::vector<double> numbers;
  std::string text;
  bool operator==(const Attribute &) const = default;
};

struct KernelCall {
  std::string name;
  std::vector<TensorType> operands;
  std::vector<TensorType> results;
  std::map<std::string, Attribute> attributes;

  /// Readers of attributes. The first form fails, naming kernel and attribute, when it is absent or of
  /// another form; the `Or` forms give the default when it is absent.
  absl::StatusOr<int64_t> integer(const std::string &key) const;
  absl::StatusOr<double> number(const std::string &key) const;
  absl::StatusOr<std::string> text(const std::string &key) const;
  absl::StatusOr<std::vector<int64_t>> integers(const std::string &key) const;
  int64_t integerOr(const std::string &key, int64_t otherwise) const;
  double numberOr(const std::string &key, double otherwise) const;
  std::string textOr(const std::string &key, const std::string &otherwise) const;
  bool has(const std::string &key) const { return attributes.count(key) != 0; }

  void setInteger(const std::string &key, int64_t value) { attributes[key].integers = {value}; }
  void setNumber(const std::string &key, double value) { attributes[key].numbers = {value}; }
  void setText(const std::string &key, std::string value) { attributes[key].text = std::move(value); }
  void setIntegers(const std::string &key, std::vector<int64_t> value) {
    attributes[key].integers = std::move(value);
  }

  /// `name(operand types) -> (result types)`, for messages.
  std::string str() const;
  bool operator==(const KernelCall &) const = default;
};

} // namespace weft

#endif // WEFT_KERNELS_COMMON_KERNELCALL_H
