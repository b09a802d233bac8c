//===- Views.h - Whose memory a view is of ----------------------------------===//
#ifndef WEFT_DIALECTS_SCHED_VIEWS_H
#define WEFT_DIALECTS_SCHED_VIEWS_H

#include "dialects/sched/SchedDialect.h"

namespace weft::sched {

/// The value in whose memory `value` lies: itself, unless it is a view, of a view, of another.
inline mlir::Value rootOf(mlir::Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getOperand();
  return value;
}

} // namespace weft::sched

#endif // WEFT_DIALECTS_SCHED_VIEWS_H
