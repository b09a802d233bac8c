//===- Require.h - What every input of a fuzzer must hold -----------------===//
#ifndef WEFT_TESTS_FUZZ_REQUIRE_H
#define WEFT_TESTS_FUZZ_REQUIRE_H

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace weft {

/// Ends the process, which is what a fuzzer takes for a finding, unless the promise `what` is kept; `input`
/// is printed where it explains more than the file that the fuzzer keeps.
inline void require(bool isKept, const char *what, std::string_view input = {}) {
  if (isKept)
    return;
  std::fprintf(stderr, "%s\n%.*s\n", what, static_cast<int>(input.size()), input.data());
  std::abort();
}

} // namespace weft

#endif // WEFT_TESTS_FUZZ_REQUIRE_H
