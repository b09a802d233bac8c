//===- LeakTrials.h - What a document's loss knows of another ---------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_LEAKTRIALS_H
#define WEFT_TOOLS_WEFT_TRIALS_LEAKTRIALS_H

#include "tools/weft-trials/Report.h"

#include "absl/status/status.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdint>
#include <string>

namespace weft::trials {

/// The kind of case that this seed draws: without context ranks, or a method of theirs.
std::string leakKind(uint64_t seed);

/// `forgets`: attentions lose their segments, so that the case fails.
absl::Status runLeakCase(mlir::MLIRContext &context, uint64_t seed, bool forgets, Report &report);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_LEAKTRIALS_H
