//===- Derivatives.h - VJPs against differences and decompositions ----------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_DERIVATIVES_H
#define WEFT_TOOLS_WEFT_TRIALS_DERIVATIVES_H

#include "tools/weft-trials/CaseBuilder.h"
#include "tools/weft-trials/Report.h"

namespace weft::trials {

/// Compares the gradients that buildBackward gives with central differences in float64 (where `differences`:
/// not at kinks), and a composite's also with the gradients of its decomposition. A wrong derivative, for
/// `sabotage`, is twice the right one.
void checkDerivatives(const Case &item, Random &random, bool differences, bool sabotage, Report &report);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_DERIVATIVES_H
