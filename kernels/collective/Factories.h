//===- Factories.h - One factory per rank kernel --------------------------===//
//
// Each checks its call against the kernel's signature and decides all that run() must not. Internal to
// kernels/collective; Collective.h is the way in.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_KERNELS_COLLECTIVE_FACTORIES_H
#define WEFT_KERNELS_COLLECTIVE_FACTORIES_H

#include "kernels/collective/CallChecks.h"

namespace weft::collective {

KernelOrError createAllGather(const KernelCall &call, const RankContext *context);
KernelOrError createAllReduce(const KernelCall &call, const RankContext *context);
KernelOrError createReduceScatter(const KernelCall &call, const RankContext *context);
KernelOrError createAllToAll(const KernelCall &call, const RankContext *context);
KernelOrError createShift(const KernelCall &call, const RankContext *context);
KernelOrError createSend(const KernelCall &call, const RankContext *context);
KernelOrError createSendWait(const KernelCall &call, const RankContext *context);
KernelOrError createReceive(const KernelCall &call, const RankContext *context);
KernelOrError createReceiveWait(const KernelCall &call, const RankContext *context);
KernelOrError createRankSlice(const KernelCall &call, const RankContext *context);
KernelOrError createRankOffset(const KernelCall &call, const RankContext *context);
KernelOrError createRankValid(const KernelCall &call, const RankContext *context);
KernelOrError createRankFirst(const KernelCall &call, const RankContext *context);
KernelOrError createRankMask(const KernelCall &call, const RankContext *context);

} // namespace weft::collective

#endif // WEFT_KERNELS_COLLECTIVE_FACTORIES_H
