//===- ShardingRules.h - Ops in parts against ops in one piece --------------===//
#ifndef WEFT_TOOLS_WEFT_TRIALS_SHARDINGRULES_H
#define WEFT_TOOLS_WEFT_TRIALS_SHARDINGRULES_H

#include "tools/weft-trials/CaseBuilder.h"
#include "tools/weft-trials/Report.h"

namespace weft::trials {

/// For each factor of the op's rule that may be split: computes the op on uneven parts, puts the results
/// together as the rule says, and compares with the whole. For each operand in which the rule says that the
/// op is linear: compares op(a + b) with op(a) + op(b). For `sabotage` one part of each is lost.
void checkShardingRule(const Case &item, Random &random, bool sabotage, Report &report);

} // namespace weft::trials

#endif // WEFT_TOOLS_WEFT_TRIALS_SHARDINGRULES_H
