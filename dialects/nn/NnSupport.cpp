#include "dialects/nn/NnSupport.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft::nn {
namespace {
/// Replaces "A" by as many private letters as there are leading dimensions.
std::string expandLeading(StringRef term, int64_t leading) {
  std::string expanded;
  for (char letter : term) {
    if (letter != 'A') {
      expanded += letter;
      continue;
    }
    for (int64_t index = 0; index < leading; ++index)
      expanded += static_cast<char>(128 + index);
  }
  return expanded;
}
} // namespace

ShardingRule makeShardingRule(Operation *op, ArrayRef<StringRef> operandTerms,
                              ArrayRef<StringRef> resultTerms, int64_t leading, StringRef replicated,
                              ArrayRef<bool> linear, FactorKind reduced) {
  ShardingRule rule;
  SmallVector<char> letters;
  auto factorsOf = [&](const std::string &term, RankedTensorType type) {
    SmallVector<int> factors;
    for (auto [index, letter] : llvm::enumerate(term)) {
      auto found = llvm::find(letters, letter);
      if (found == letters.end()) {
        letters.push_back(letter);
        rule.factors.push_back({type.getDimSize(index), reduced});
        found = std::prev(letters.end());
      }
      factors.push_back(static_cast<int>(found - letters.begin()));
    }
    return factors;
  };
  for (auto [term, operand] : llvm::zip_equal(operandTerms, op->getOperands()))
    rule.operands.push_back(factorsOf(expandLeading(term, leading), tensorType(operand)));
  for (auto [term, result] : llvm::zip_equal(resultTerms, op->getResults()))
    rule.results.push_back(factorsOf(expandLeading(term, leading), tensorType(result)));
  for (auto [letter, factor] : llvm::zip_equal(letters, rule.factors)) {
    bool inAResult = llvm::any_of(resultTerms, [&](StringRef term) {
      return expandLeading(term, leading).find(letter) != std::string::npos;
    });
    if (replicated.contains(letter))
      factor.kind = FactorKind::Replicated;
    else if (inAResult)
      factor.kind = FactorKind::PassThrough;
  }
  rule.linear.assign(linear.begin(), linear.end());
  return rule;
}

ShardingRule makeElementwiseRule(Operation *op, ArrayRef<bool> linear) {
  SmallVector<StringRef> operandTerms(op->getNumOperands(), "A"), resultTerms(op->getNumResults(), "A");
  return makeShardingRule(op, operandTerms, resultTerms, tensorType(op->getResult(0)).getRank(), "", linear);
}

bool isKernelElement(Type element) {
  return element.isInteger(1) || element.isInteger(32) || element.isInteger(64) ||
         isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(element);
}

bool isAddressable(RankedTensorType type) {
  constexpr uint64_t kMaximumBytes = uint64_t(1) << 48;
  constexpr int64_t kMaximumRank = 16;
  if (!isKernelElement(type.getElementType()) || type.getRank() > kMaximumRank || !type.hasStaticShape())
    return false;
  uint64_t bytes = (type.getElementTypeBitWidth() + 7) / 8;
  for (int64_t size : type.getShape())
    if (size != 0)
      bytes = llvm::SaturatingMultiply(bytes, static_cast<uint64_t>(size));
  return bytes <= kMaximumBytes;
}

int64_t byteSize(RankedTensorType type) {
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

int64_t operandAndResultBytes(Operation *op) {
  int64_t bytes = 0;
  for (Value value : op->getOperands())
    bytes += byteSize(tensorType(value));
  for (Value value : op->getResults())
    bytes += byteSize(tensorType(value));
  return bytes;
}

int64_t elementCount(Value value) { return tensorType(value).getNumElements(); }

} // namespace weft::nn
