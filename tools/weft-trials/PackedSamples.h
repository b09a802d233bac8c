//===- PackedSamples.h - Samples of several documents, drawn ---------------===//
//
// Programs that keep documents apart take `segments` and `positions`. Trials fill them as packing would:
// documents of random lengths, the last token of each without a target, and padding behind the last.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_PACKEDSAMPLES_H
#define WEFT_TOOLS_WEFT_TRIALS_PACKEDSAMPLES_H

#include "tools/weft-trials/Trajectory.h"

namespace weft::trials {

/// Overwrites segments and positions of all steps, and the targets of last tokens; nothing where the program
/// takes no segments.
void drawDocuments(Start &start, uint64_t seed);

/// The documents of the first step, but one that has a target, get no targets and the tokens
/// [vocabulary / 2, vocabulary); that one has the others. False where there is none.
bool isolateDocument(Start &start, int64_t vocabulary, uint64_t seed);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_PACKEDSAMPLES_H
