//===- Einsum.h - The letters of an einsum -----------------------------------===//
#ifndef WEFT_DIALECTS_NN_EINSUM_H
#define WEFT_DIALECTS_NN_EINSUM_H

#include "mlir/Support/LLVM.h"

namespace weft::nn {

/// The three terms of "lhs,rhs->result". They refer to the equation that was parsed.
struct EinsumTerms {
  llvm::StringRef lhs, rhs, result;
};

/// Fails unless the equation has two operands and its terms are letters a-z, none twice in a term.
mlir::FailureOr<EinsumTerms> parseEinsum(llvm::StringRef equation);

} // namespace weft::nn

#endif // WEFT_DIALECTS_NN_EINSUM_H
