#include "dialects/nn/NnSupport.h"

#include "dialects/dist/Placement.h"

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

namespace {
/// Collects the factors of terms; each letter is one.
class RuleBuilder {
public:
  explicit RuleBuilder(FactorKind reduced) : reduced(reduced) {}

  /// One entry per dimension of `term`. Sizes of letters that share a dimension come from `finish`.
  SmallVector<DimensionFactors> add(StringRef term, ArrayRef<int64_t> shape) {
    SmallVector<DimensionFactors> dimensions;
    for (size_t at = 0; at < term.size(); ++at) {
      StringRef letters = term.substr(at, 1);
      if (term[at] == '(') {
        letters = term.slice(at + 1, term.find(')', at));
        at += letters.size() + 1;
      }
      DimensionFactors factors;
      for (char letter : letters)
        factors.push_back(factorOf(letter));
      if (factors.size() == 1)
        rule.factors[factors[0]].size = shape[dimensions.size()];
      else
        shared.push_back({factors, shape[dimensions.size()]});
      dimensions.push_back(factors);
    }
    return dimensions;
  }

  ShardingRule finish() {
    for (auto &[factors, size] : shared) {
      int64_t rest = size;
      int unknown = -1;
      for (int factor : factors)
        if (rule.factors[factor].size < 0)
          unknown = factor;
        else if (rule.factors[factor].size > 0)
          rest /= rule.factors[factor].size;
      if (unknown >= 0)
        rule.factors[unknown].size = rest;
    }
    return std::move(rule);
  }

  int factorOf(char letter) {
    auto found = llvm::find(letters, letter);
    if (found == letters.end()) {
      letters.push_back(letter);
      rule.factors.push_back({-1, reduced});
      return static_cast<int>(letters.size()) - 1;
    }
    return static_cast<int>(found - letters.begin());
  }

  ShardingRule rule;
  SmallVector<char> letters;

private:
  FactorKind reduced;
  SmallVector<std::pair<DimensionFactors, int64_t>> shared;
};
} // namespace

ShardingRule makeShardingRule(Operation *op, ArrayRef<StringRef> operandTerms,
                              ArrayRef<StringRef> resultTerms, int64_t leading, StringRef replicated,
                              ArrayRef<bool> linear, FactorKind reduced) {
  RuleBuilder builder(reduced);
  std::string resultLetters;
  for (auto [term, operand] : llvm::zip_equal(operandTerms, op->getOperands()))
    builder.rule.operands.push_back(
        builder.add(expandLeading(term, leading), dist::wholeShape(tensorType(operand))));
  for (auto [term, result] : llvm::zip_equal(resultTerms, op->getResults())) {
    std::string expanded = expandLeading(term, leading);
    builder.rule.results.push_back(builder.add(expanded, dist::wholeShape(tensorType(result))));
    resultLetters += expanded;
  }
  for (auto [letter, factor] : llvm::zip_equal(builder.letters, builder.rule.factors)) {
    if (replicated.contains(letter))
      factor.kind = FactorKind::Replicated;
    else if (StringRef(resultLetters).contains(letter))
      factor.kind = FactorKind::PassThrough;
  }
  builder.rule.linear.assign(linear.begin(), linear.end());
  return builder.finish();
}

FactorKind ShardingRule::reducedKind(int factor, unsigned result) const {
  return llvm::is_contained(logSumExps, static_cast<int>(result)) ? FactorKind::LogSumExp
                                                                  : factors[factor].kind;
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
