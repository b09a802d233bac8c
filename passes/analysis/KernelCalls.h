//===- KernelCalls.h - Between ops and kernel calls --------------------------===//
//
// A kernel is named by a KernelCall (kernels/common). Here an nn op becomes the call that computes it, and a
// sched.launch the call that it stands for, and back.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_PASSES_ANALYSIS_KERNELCALLS_H
#define WEFT_PASSES_ANALYSIS_KERNELCALLS_H

#include "dialects/sched/SchedDialect.h"
#include "kernels/common/KernelCall.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <tuple>

namespace weft {

TensorType toTensorType(mlir::RankedTensorType type);

/// The call that computes an nn op as one kernel; none for ops that are no kernel of their own: element-wise
/// ops, and composites that exist only as their decomposition.
std::optional<KernelCall> kernelCallFor(mlir::Operation *op);

/// Equal for launches of equal calls, and cheap: uniqued name, settings and types.
using CallIdentity = std::tuple<mlir::Attribute, mlir::Attribute, mlir::Type>;
CallIdentity identityOf(sched::LaunchOp launch);

/// The call of a launch.
KernelCall kernelCallOf(sched::LaunchOp launch);

/// A launch of `call` with these operands; results have the call's types.
sched::LaunchOp createLaunch(mlir::OpBuilder &builder, mlir::Location location, const KernelCall &call,
                             mlir::ValueRange operands);

} // namespace weft

#endif // WEFT_PASSES_ANALYSIS_KERNELCALLS_H
