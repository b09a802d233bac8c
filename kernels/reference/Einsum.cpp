#include "kernels/reference/Einsum.h"

#include "kernels/reference/Checks.h"
#include "kernels/reference/Reduce.h"
#include "kernels/reference/Shape.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <map>

namespace weft::reference {
namespace {

struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

bool has(const std::string &letters, char letter) { return letters.find(letter) != std::string::npos; }

absl::StatusOr<Equation> parse(std::string_view text) {
  std::string whole(text);
  std::vector<std::string> sides = absl::StrSplit(whole, "->");
  if (sides.size() != 2)
    return refuse("einsum", "equation \"", whole, "\" must have one \"->\"");
  Equation equation{absl::StrSplit(sides[0], ','), sides[1]};
  std::vector<std::string> terms = equation.operands;
  terms.push_back(equation.result);
  for (const std::string &term : terms)
    for (char letter : term) {
      if (!absl::ascii_isalpha(static_cast<unsigned char>(letter)))
        return refuse("einsum", "equation \"", whole, "\": '", std::string(1, letter), "' is not a letter");
      if (std::count(term.begin(), term.end(), letter) != 1)
        return refuse("einsum", "equation \"", whole, "\": '", std::string(1, letter), "' comes twice in ",
                      term);
    }
  for (char letter : equation.result)
    if (std::none_of(equation.operands.begin(), equation.operands.end(),
                     [&](const std::string &term) { return has(term, letter); }))
      return refuse("einsum", "equation \"", whole, "\": '", std::string(1, letter),
                    "' of the result is in no operand");
  return equation;
}

absl::Status checkOperands(const Equation &equation, absl::Span<const Tensor> operands) {
  if (operands.size() != equation.operands.size() || operands.empty() || operands.size() > 2)
    return refuse("einsum", "takes one or two operands, as many as the equation has (",
                  equation.operands.size(), "), not ", operands.size());
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (absl::Status status = checkTensor("einsum", operands[i]); !status.ok())
      return status;
    if (!isFloat(operands[i].dtype))
      return refuse("einsum", "operand ", i, " must be of a float type, it is ", operands[i].type().str());
    const std::string &term = equation.operands[i];
    if (term.size() != operands[i].shape.size())
      return refuse("einsum", "operand ", i, " is ", operands[i].type().str(), ", \"", term, "\" needs rank ",
                    term.size());
    for (size_t d = 0; d < term.size(); ++d) {
      auto [entry, isNew] = sizes.emplace(term[d], operands[i].shape[d]);
      if (!isNew && entry->second != operands[i].shape[d])
        return refuse("einsum", "'", std::string(1, term[d]), "' is ", entry->second, " in one operand and ",
                      operands[i].shape[d], " in the other");
    }
  }
  return absl::OkStatus();
}

/// A tensor with a letter per dimension.
struct Lettered {
  Tensor tensor;
  std::string letters;
};

/// Sums away the letters that are in none of `kept`.
absl::StatusOr<Lettered> sumLettersNotIn(Lettered x, const std::string &kept) {
  std::vector<int64_t> summed;
  std::string letters;
  for (size_t d = 0; d < x.letters.size(); ++d)
    if (has(kept, x.letters[d]))
      letters.push_back(x.letters[d]);
    else
      summed.push_back(static_cast<int64_t>(d));
  if (summed.empty())
    return x;
  absl::StatusOr<Tensor> sum = reduce(Reduction::Sum, x.tensor, summed);
  if (!sum.ok())
    return sum.status();
  return Lettered{*std::move(sum), letters};
}

absl::StatusOr<Tensor> reorder(const Lettered &x, const std::string &letters) {
  std::vector<int64_t> permutation;
  for (char letter : letters)
    permutation.push_back(static_cast<int64_t>(x.letters.find(letter)));
  return transpose(x.tensor, permutation);
}

int64_t sizeOf(const Lettered &x, const std::string &letters) {
  int64_t size = 1;
  for (char letter : letters)
    size *= x.tensor.shape[x.letters.find(letter)];
  return size;
}

/// out[n] += left[k] * right[k, n], k ascending for each element; four k a pass keep `out` out of memory.
void accumulateRow(double *out, const double *left, const double *right, int64_t k, int64_t n) {
  int64_t p = 0;
  for (; p + 4 <= k; p += 4) {
    const double *right0 = right + p * n, *right1 = right0 + n, *right2 = right1 + n, *right3 = right2 + n;
    double left0 = left[p], left1 = left[p + 1], left2 = left[p + 2], left3 = left[p + 3];
    for (int64_t j = 0; j < n; ++j)
      out[j] = (((out[j] + left0 * right0[j]) + left1 * right1[j]) + left2 * right2[j]) + left3 * right3[j];
  }
  for (; p < k; ++p)
    for (int64_t j = 0; j < n; ++j)
      out[j] += left[p] * right[p * n + j];
}

/// c[batch, m, n] += a[batch, m, k] * b[batch, k, n]. Blocks of k are walked by all rows, so that b stays in
/// cache.
void multiplyInto(std::vector<double> &c, const std::vector<double> &a, const std::vector<double> &b,
                  int64_t batch, int64_t m, int64_t k, int64_t n) {
  constexpr int64_t block = 16;
  for (int64_t s = 0; s < batch; ++s)
    for (int64_t from = 0; from < k; from += block)
      for (int64_t i = 0; i < m; ++i)
        accumulateRow(c.data() + (s * m + i) * n, a.data() + (s * m + i) * k + from,
                      b.data() + (s * k + from) * n, std::min(block, k - from), n);
}

/// The product of two tensors, with all letters of both that are in `wanted`, in the order that falls out.
absl::StatusOr<Lettered> contract(Lettered a, Lettered b, const std::string &wanted) {
  std::string batch, summed, ofA, ofB;
  for (char letter : a.letters)
    (!has(b.letters, letter) ? ofA : has(wanted, letter) ? batch : summed).push_back(letter);
  for (char letter : b.letters)
    if (!has(a.letters, letter))
      ofB.push_back(letter);
  if (sizeOf(a, ofA) > sizeOf(b, ofB)) { // the longer side runs innermost
    std::swap(a, b);
    std::swap(ofA, ofB);
  }
  absl::StatusOr<Tensor> left = reorder(a, batch + ofA + summed), right = reorder(b, batch + summed + ofB);
  if (!left.ok())
    return left.status();
  if (!right.ok())
    return right.status();
  Lettered product{{}, batch + ofA + ofB};
  TensorType type{DType::F64, {}};
  for (char letter : product.letters) {
    const Lettered &source = has(a.letters, letter) ? a : b;
    type.shape.push_back(source.tensor.shape[source.letters.find(letter)]);
  }
  absl::StatusOr<Tensor> zeros = zerosFor("einsum", type);
  if (!zeros.ok())
    return zeros.status();
  multiplyInto(zeros->reals, left->reals, right->reals, sizeOf(a, batch), sizeOf(a, ofA), sizeOf(a, summed),
               sizeOf(b, ofB));
  product.tensor = *std::move(zeros);
  return product;
}

} // namespace

absl::StatusOr<Tensor> einsum(std::string_view text, absl::Span<const Tensor> operands, DType resultType) {
  absl::StatusOr<Equation> equation = parse(text);
  if (!equation.ok())
    return equation.status();
  if (absl::Status status = checkOperands(*equation, operands); !status.ok())
    return status;
  if (!isFloat(resultType))
    return refuse("einsum", "the result must be of a float type, not ", std::string(name(resultType)));
  const std::string &wanted = equation->result;
  bool isPair = operands.size() == 2;
  absl::StatusOr<Lettered> product =
      sumLettersNotIn({operands[0], equation->operands[0]}, isPair ? wanted + equation->operands[1] : wanted);
  if (product.ok() && isPair) {
    absl::StatusOr<Lettered> right =
        sumLettersNotIn({operands[1], equation->operands[1]}, wanted + equation->operands[0]);
    if (!right.ok())
      return right.status();
    product = contract(*std::move(product), *std::move(right), wanted);
  }
  if (!product.ok())
    return product.status();
  absl::StatusOr<Tensor> result = reorder(*product, wanted);
  if (result.ok())
    result->dtype = resultType;
  return result;
}

} // namespace weft::reference
