//===- Signature.h - Checking calls, and kernels that are one function ----===//
//
// What the factories share: messages that name the kernel, the checks that most signatures need, and a Kernel
// made of a function that a factory has bound to all it decided.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_CPU_SIGNATURE_H
#define WEFT_KERNELS_CPU_SIGNATURE_H

#include "kernels/common/ThreadPool.h"
#include "kernels/cpu/Registry.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstddef>

namespace weft::cpu {

template <typename... Parts> absl::Status invalidCall(const KernelCall &call, const Parts &...parts) {
  return absl::InvalidArgumentError(absl::StrCat("kernel ", call.name, ": ", parts...));
}

inline absl::Status expectCounts(const KernelCall &call, size_t operands, size_t results) {
  if (call.operands.size() == operands && call.results.size() == results)
    return absl::OkStatus();
  return invalidCall(call, "takes ", operands, " operands and ", results, " results, got ",
                     call.operands.size(), " and ", call.results.size());
}

/// What a tensor of the call must be, and is not when the message appears; `what` names it: "operand 1",
/// "result 0".
inline absl::Status expectType(const KernelCall &call, const char *what, const TensorType &got,
                               const TensorType &expected) {
  if (got == expected)
    return absl::OkStatus();
  return invalidCall(call, what, " must be ", expected.str(), ", got ", got.str());
}

inline absl::Status expectFloat(const KernelCall &call, const char *what, const TensorType &got) {
  if (isFloat(got.dtype))
    return absl::OkStatus();
  return invalidCall(call, what, " must hold floating-point numbers, got ", got.str());
}

/// An attribute that names a dimension of a tensor.
inline absl::StatusOr<size_t> readDimension(const KernelCall &call, const TensorType &type) {
  auto dimension = call.integer("dimension");
  if (!dimension.ok())
    return dimension.status();
  if (*dimension < 0 || *dimension >= static_cast<int64_t>(type.shape.size()))
    return invalidCall(call, "dimension ", *dimension, " is none of ", type.str());
  return static_cast<size_t>(*dimension);
}

/// A list attribute with one integer for each of `count` things.
inline absl::StatusOr<std::vector<int64_t>> readList(const KernelCall &call, const std::string &key,
                                                     size_t count) {
  auto list = call.integers(key);
  if (list.ok() && list->size() != count)
    return invalidCall(call, "attribute '", key, "' holds ", list->size(), " integers, ", count,
                       " were expected");
  return list;
}

/// Product of the sizes in [begin, end).
inline int64_t sizeOfDimensions(const std::vector<int64_t> &shape, size_t begin, size_t end) {
  int64_t size = 1;
  for (size_t i = begin; i < end; ++i)
    size *= shape[i];
  return size;
}

template <typename Body> class FunctionKernel final : public Kernel {
public:
  FunctionKernel(Body function, int64_t workspaceOfRun, bool isInPlace)
      : body(std::move(function)), workspace(workspaceOfRun), inPlace(isInPlace) {}
  void run(const KernelArguments &arguments, ThreadPool &threads) const override { body(arguments, threads); }
  int64_t workspaceBytes() const override { return workspace; }
  bool mayAlias(int operand, int result) const override { return inPlace && operand == 0 && result == 0; }

private:
  Body body;
  int64_t workspace;
  bool inPlace;
};

/// A kernel that runs body(arguments, threads). With `isInPlace`, result 0 may replace operand 0.
template <typename Body>
std::unique_ptr<Kernel> makeKernel(Body body, int64_t workspaceBytes = 0, bool isInPlace = false) {
  return std::make_unique<FunctionKernel<Body>>(std::move(body), workspaceBytes, isInPlace);
}

/// Calls body(begin, end) for pieces of [0, count), each of `piece` but the last, on all threads.
template <typename Body>
void forEachPiece(ThreadPool &threads, int64_t count, int64_t piece, const Body &body) {
  threads.forEachTile((count + piece - 1) / piece,
                      [&](int64_t tile, int) { body(tile * piece, std::min(count, (tile + 1) * piece)); });
}

template <typename T = std::byte> T *at(void *base, int64_t bytes) {
  return reinterpret_cast<T *>(static_cast<std::byte *>(base) + bytes);
}
template <typename T = std::byte> const T *at(const void *base, int64_t bytes) {
  return reinterpret_cast<const T *>(static_cast<const std::byte *>(base) + bytes);
}

} // namespace weft::cpu

/// Returns the error of a checking expression to the caller of a factory.
#define WEFT_CHECK_CALL(expression)                                                                          \
  if (absl::Status weftStatus = (expression); !weftStatus.ok())                                              \
  return weftStatus

#endif // WEFT_KERNELS_CPU_SIGNATURE_H
