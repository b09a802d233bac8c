// The contraction against hand-computed products and against the definition: a sum over all letters at once.
#include "kernels/reference/Einsum.h"
#include "tests/unit/reference/Values.h"

#include <map>
#include <random>

namespace weft::reference {
namespace {

using Sizes = std::map<char, int64_t>;

Tensor randomTensor(const std::string &letters, const Sizes &sizes, std::mt19937 &random) {
  Tensor x{DType::F64, {}, {}, {}};
  for (char letter : letters)
    x.shape.push_back(sizes.at(letter));
  std::uniform_int_distribution<int> value(-8, 8); // small integers: sums are exact in any order
  for (int64_t i = 0; i < x.elements(); ++i)
    x.reals.push_back(value(random));
  return x;
}

int64_t positionOf(const std::string &letters, const Sizes &sizes, const Sizes &index) {
  int64_t position = 0;
  for (char letter : letters)
    position = position * sizes.at(letter) + index.at(letter);
  return position;
}

/// By definition: for every assignment of all letters, one product is added to one element.
Tensor byDefinition(const std::vector<std::string> &terms, const std::string &wanted, const Sizes &sizes,
                    const std::vector<Tensor> &operands) {
  Tensor result{DType::F64, {}, {}, {}};
  for (char letter : wanted)
    result.shape.push_back(sizes.at(letter));
  result.reals.resize(result.elements());
  int64_t total = 1;
  for (auto [letter, size] : sizes)
    total *= size;
  for (int64_t flat = 0; flat < total; ++flat) {
    Sizes index;
    int64_t rest = flat;
    for (auto [letter, size] : sizes) {
      index[letter] = rest % size;
      rest /= size;
    }
    double product = 1;
    for (size_t i = 0; i < terms.size(); ++i)
      product *= operands[i].reals[positionOf(terms[i], sizes, index)];
    result.reals[positionOf(wanted, sizes, index)] += product;
  }
  return result;
}

TEST(Einsum, MultipliesMatrices) {
  Tensor a = reals({2, 3}, {1, 2, 3, 4, 5, 6}), b = reals({3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_VALUE(einsum("mk,kn->mn", {a, b}, DType::F32), reals({2, 2}, {4, 5, 10, 11}));
  EXPECT_VALUE(einsum("mk,kn->nm", {a, b}, DType::F32), reals({2, 2}, {4, 10, 5, 11}));
}

TEST(Einsum, SumsLettersOfOneOperandAlone) {
  Tensor a = reals({2, 2}, {1, 2, 3, 4}), b = reals({2}, {10, 100});
  EXPECT_VALUE(einsum("ij,k->i", {a, b}, DType::F32), reals({2}, {330, 770}));
  EXPECT_VALUE(einsum("ij->j", {a}, DType::F32), reals({2}, {4, 6}));
  EXPECT_VALUE(einsum("ij->", {a}, DType::F32), reals({}, {10}));
  EXPECT_VALUE(einsum("ij->ji", {a}, DType::F32), reals({2, 2}, {1, 3, 2, 4}));
  EXPECT_VALUE(einsum("i,->i", {b, scalar(3)}, DType::F32), reals({2}, {30, 300}));
}

TEST(Einsum, KeepsFloat64AndTakesTheResultTypeAsGiven) {
  EXPECT_VALUE(
      einsum("i,i->", {reals({2}, {1, 0x1p-40}, DType::BF16), reals({2}, {1, 1}, DType::F32)}, DType::BF16),
      reals({}, {1 + 0x1p-40}, DType::BF16));
}

TEST(Einsum, SumsInAscendingOrder) {
  EXPECT_VALUE(einsum("k,k->", {reals({4}, {1e100, 1, -1e100, 1}), reals({4}, {1, 1, 1, 1})}, DType::F64),
               scalar(1));
}

TEST(Einsum, PropagatesNaNAndInfinityThroughZeros) {
  EXPECT_VALUE(einsum("k,k->", {reals({2}, {0, 1}), reals({2}, {kInfinity, 1})}, DType::F64), scalar(kNaN));
}

TEST(Einsum, OfEmptyDimensionsIsZero) {
  EXPECT_VALUE(einsum("mk,kn->mn", {reals({2, 0}, {}), reals({0, 1}, {})}, DType::F32),
               reals({2, 1}, {0, 0}));
  EXPECT_VALUE(einsum("mk,kn->mn", {reals({0, 2}, {}), reals({2, 1}, {1, 2})}, DType::F32),
               reals({0, 1}, {}));
}

TEST(Einsum, EqualsItsDefinitionOnRandomEquations) {
  std::mt19937 random(5);
  const std::string letters = "abcdEF";
  for (int trial = 0; trial < 300; ++trial) {
    Sizes sizes;
    std::vector<std::string> terms(trial % 8 == 0 ? 1 : 2);
    std::string wanted;
    for (char letter : letters) {
      bool used = false;
      for (std::string &term : terms)
        if (random() % 2) {
          term.insert(term.begin() + random() % (term.size() + 1), letter);
          used = true;
        }
      if (!used)
        continue;
      sizes[letter] = 1 + random() % 5;
      if (random() % 2)
        wanted.insert(wanted.begin() + random() % (wanted.size() + 1), letter);
    }
    std::vector<Tensor> operands;
    for (const std::string &term : terms)
      operands.push_back(randomTensor(term, sizes, random));
    std::string equation = terms[0] + (terms.size() == 2 ? "," + terms[1] : "") + "->" + wanted;
    SCOPED_TRACE(equation);
    absl::StatusOr<Tensor> result = einsum(equation, operands, DType::F64);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(*result, byDefinition(terms, wanted, sizes, operands));
  }
}

TEST(Einsum, RefusesBadEquations) {
  Tensor a = reals({2}, {1, 2}), m = reals({2, 2}, {1, 2, 3, 4});
  EXPECT_REFUSED(einsum("i,i", {a, a}, DType::F32), "einsum: equation \"i,i\" must have one \"->\"");
  EXPECT_REFUSED(einsum("i->i->i", {a}, DType::F32), "einsum: equation \"i->i->i\" must have one \"->\"");
  EXPECT_REFUSED(einsum("i1->i", {m}, DType::F32), "einsum: equation \"i1->i\": '1' is not a letter");
  EXPECT_REFUSED(einsum("ii->i", {m}, DType::F32), "einsum: equation \"ii->i\": 'i' comes twice in ii");
  EXPECT_REFUSED(einsum("i->j", {a}, DType::F32),
                 "einsum: equation \"i->j\": 'j' of the result is in no operand");
  EXPECT_REFUSED(einsum("i,i->i", {a}, DType::F32),
                 "einsum: takes one or two operands, as many as the equation has (2), not 1");
  EXPECT_REFUSED(einsum("i,i,i->i", {a, a, a}, DType::F32),
                 "einsum: takes one or two operands, as many as the equation has (3), not 3");
}

TEST(Einsum, RefusesOperandsThatDoNotFit) {
  Tensor a = reals({2}, {1, 2});
  EXPECT_REFUSED(einsum("ij->i", {a}, DType::F32), "einsum: operand 0 is tensor<2xf32>, \"ij\" needs rank 2");
  EXPECT_REFUSED(einsum("i,i->i", {a, reals({3}, {1, 2, 3})}, DType::F32),
                 "einsum: 'i' is 2 in one operand and 3 in the other");
  EXPECT_REFUSED(einsum("i,i->i", {a, integers({2}, {1, 2})}, DType::F32),
                 "einsum: operand 1 must be of a float type, it is tensor<2xi32>");
  EXPECT_REFUSED(einsum("i->i", {a}, DType::I32), "einsum: the result must be of a float type, not i32");
  EXPECT_REFUSED(einsum("->", {Tensor()}, DType::F32),
                 "einsum: tensor<f32> needs 1 reals, it holds 0 reals and 0 integers");
}

} // namespace
} // namespace weft::reference
