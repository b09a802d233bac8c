//===- Summary.h - A tensor in one line, or whole ---------------------------===//
#ifndef WEFT_TOOLS_WEFT_RUN_SUMMARY_H
#define WEFT_TOOLS_WEFT_RUN_SUMMARY_H

#include "kernels/reference/Tensor.h"

namespace weft::run {

/// `NAME: tensor<...>  min .. max .. mean .. rms ..  [first values, ...]`. Up to eight values are shown
/// instead of the statistics, which count finite values only; what is not finite is counted.
std::string summarize(const std::string &name, const reference::Tensor &tensor);

/// `NAME: tensor<...> = [[...], ...]`, floats with as many digits as tell two values of float64 apart.
std::string printWhole(const std::string &name, const reference::Tensor &tensor);

} // namespace weft::run

#endif // WEFT_TOOLS_WEFT_RUN_SUMMARY_H
