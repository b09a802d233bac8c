//===- AttentionVariants.h - What run files cannot ask of attention yet -----===//
//
// Windows and sinks are in the dialect and its kernels before a model family has them. Trials
// put them into a model that has been built.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_ATTENTIONVARIANTS_H
#define WEFT_TOOLS_WEFT_TRIALS_ATTENTIONVARIANTS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft::trials {

struct AttentionVariant {
  int64_t window = 0; ///< 0: none
  bool sinks = false; ///< a parameter of one number a head, for each layer
};

/// Changes every attention of the module's programs.
void varyAttention(mlir::ModuleOp module, const AttentionVariant &variant);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_ATTENTIONVARIANTS_H
