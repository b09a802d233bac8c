//===- VerifyMessages.h - Programs of pipeline ranks, held against each other ------===//
//
// What the types of one program cannot say: that every message has a receiver who expects its type, that
// nobody reads what has not come, and that ranks which wait go on. Programs are run here as lists of
// messages, with the rule that a transfer is over when both sides have begun it. Linear in their length.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_PIPELINE_VERIFYMESSAGES_H
#define WEFT_PASSES_PIPELINE_VERIFYMESSAGES_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Of a job whose pipeline ranks have modules of their own. Fails, with a diagnostic at the op that cannot be
/// right and at the one of the other rank.
mlir::LogicalResult verifyMessages(mlir::ModuleOp job);

} // namespace weft

#endif // WEFT_PASSES_PIPELINE_VERIFYMESSAGES_H
