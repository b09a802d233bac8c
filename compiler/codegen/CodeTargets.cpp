//===- CodeTargets.cpp - The machines that code is generated for -----------===//
#include "compiler/codegen/NativeCode.h"

namespace weft {
namespace {
constexpr unsigned char kFunctionsV3[] = {
#include "VectorFunctions-x86-64-v3.inc"
};
constexpr unsigned char kFunctionsV4[] = {
#include "VectorFunctions-x86-64-v4.inc"
};
template <size_t size> std::string_view bytesOf(const unsigned char (&array)[size]) {
  return {reinterpret_cast<const char *>(array), size};
}
} // namespace

const CodeTarget *findCodeTarget(std::string_view name) {
  static const CodeTarget targets[] = {{"x86-64-v3", 8, bytesOf(kFunctionsV3)},
                                       {"x86-64-v4", 16, bytesOf(kFunctionsV4)}};
  for (const CodeTarget &target : targets)
    if (name == target.name)
      return &target;
  return nullptr;
}

} // namespace weft
