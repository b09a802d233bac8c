//===- PrepareParameters.h - Gathers once a step what no microbatch changes -----===//
#ifndef WEFT_PASSES_PLACE_PREPAREPARAMETERS_H
#define WEFT_PASSES_PLACE_PREPAREPARAMETERS_H

#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"

namespace weft {
/// Moves reshards of variables (and of their casts) from the microbatch region of a placed step to prepare,
/// which yields the results: parameters are gathered once a step.
void prepareParameters(nn::StepOp step);
} // namespace weft

#endif // WEFT_PASSES_PLACE_PREPAREPARAMETERS_H
