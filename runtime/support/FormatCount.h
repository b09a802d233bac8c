//===- FormatCount.h - Whole numbers as people read them ------------------===//
#ifndef WEFT_RUNTIME_SUPPORT_FORMATCOUNT_H
#define WEFT_RUNTIME_SUPPORT_FORMATCOUNT_H

#include <cstdint>
#include <string>

namespace weft {

/// `5,310`.
std::string formatCount(int64_t count);

} // namespace weft

#endif // WEFT_RUNTIME_SUPPORT_FORMATCOUNT_H
