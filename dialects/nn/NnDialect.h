//===- NnDialect.h - The dialect of the training program, global view ------===//
#ifndef WEFT_DIALECTS_NN_NNDIALECT_H
#define WEFT_DIALECTS_NN_NNDIALECT_H

#include "dialects/nn/NnOps.h"

#endif // WEFT_DIALECTS_NN_NNDIALECT_H
