//===- DistDialect.h - The dist dialect ---------------------------------------===//
#ifndef WEFT_DIALECTS_DIST_DISTDIALECT_H
#define WEFT_DIALECTS_DIST_DISTDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/dist/DistDialect.h.inc"
#include "dialects/dist/DistEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/dist/DistAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/dist/DistTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/dist/DistOps.h.inc"

#endif // WEFT_DIALECTS_DIST_DISTDIALECT_H
