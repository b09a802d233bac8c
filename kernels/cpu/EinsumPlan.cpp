//===- EinsumPlan.cpp - An einsum as matrix products ----------------------===//
#include "kernels/cpu/EinsumPlan.h"

#include "kernels/cpu/Strides.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <optional>

namespace weft::cpu {
namespace {

/// A letter, with its stride in each tensor that has it.
struct Letter {
  char name;
  int64_t size;
  bool inLeft = false, inRight = false, inResult = false;
  int64_t left = 0, right = 0, result = 0;
  int64_t leftPosition = 0, rightPosition = 0, resultPosition = 0;
};
using Letters = std::vector<Letter>;

template <typename... Parts> absl::Status invalid(const Parts &...parts) {
  return absl::InvalidArgumentError(absl::StrCat("kernel einsum: ", parts...));
}

struct Equation {
  std::array<std::string, 3> terms; ///< operand 0, operand 1, result
};

absl::StatusOr<Equation> splitEquation(const std::string &text) {
  size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || comma > arrow)
    return invalid("equation \"", text, "\" is not of the form \"ab,bc->ac\"");
  Equation equation{
      {text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)}};
  for (const std::string &term : equation.terms)
    for (size_t i = 0; i < term.size(); ++i) {
      bool isLetter = (term[i] >= 'a' && term[i] <= 'z') || (term[i] >= 'A' && term[i] <= 'Z');
      if (!isLetter)
        return invalid("equation \"", text, "\": '", term.substr(i, 1), "' is not a letter");
      if (term.find(term[i], i + 1) != std::string::npos)
        return invalid("equation \"", text, "\": letter '", term.substr(i, 1), "' stands twice in one term");
    }
  return equation;
}

absl::StatusOr<Letters> readLetters(const KernelCall &call) {
  if (call.operands.size() != 2 || call.results.size() != 1)
    return invalid("takes 2 operands and 1 result, got ", call.operands.size(), " and ", call.results.size());
  auto text = call.text("equation");
  if (!text.ok())
    return text.status();
  auto equation = splitEquation(*text);
  if (!equation.ok())
    return equation.status();
  const TensorType *types[3] = {&call.operands[0], &call.operands[1], &call.results[0]};
  Letters letters;
  for (size_t term = 0; term < 3; ++term) {
    const std::string &names = equation->terms[term];
    const TensorType &type = *types[term];
    if (!isFloat(type.dtype))
      return invalid("takes floating-point tensors, got ", type.str());
    if (names.size() != type.shape.size())
      return invalid("equation \"", *text, "\": \"", names, "\" names ", names.size(), " dimensions of ",
                     type.str());
    std::vector<int64_t> strides = denseStrides(type.shape);
    for (size_t i = 0; i < names.size(); ++i) {
      auto found =
          std::find_if(letters.begin(), letters.end(), [&](const Letter &l) { return l.name == names[i]; });
      if (found == letters.end() && term == 2)
        return invalid("equation \"", *text, "\": letter '", names.substr(i, 1),
                       "' of the result is in no operand");
      if (found == letters.end())
        found = letters.insert(letters.end(), Letter{names[i], type.shape[i]});
      if (found->size != type.shape[i])
        return invalid("equation \"", *text, "\": letter '", names.substr(i, 1), "' is ", found->size,
                       " and ", type.shape[i]);
      int64_t position = static_cast<int64_t>(i);
      if (term == 0)
        found->inLeft = true, found->left = strides[i], found->leftPosition = position;
      else if (term == 1)
        found->inRight = true, found->right = strides[i], found->rightPosition = position;
      else
        found->inResult = true, found->result = strides[i], found->resultPosition = position;
    }
  }
  return letters;
}

void exchangeOperands(Letters &letters) {
  for (Letter &letter : letters) {
    std::swap(letter.inLeft, letter.inRight);
    std::swap(letter.left, letter.right);
    std::swap(letter.leftPosition, letter.rightPosition);
  }
}

enum class Order { OfLeft, OfRight, OfResult };

template <typename Belongs> Letters select(const Letters &letters, Order order, const Belongs &belongs) {
  Letters chosen;
  std::copy_if(letters.begin(), letters.end(), std::back_inserter(chosen), belongs);
  auto position = [order](const Letter &letter) {
    return order == Order::OfLeft    ? letter.leftPosition
           : order == Order::OfRight ? letter.rightPosition
                                     : letter.resultPosition;
  };
  std::sort(chosen.begin(), chosen.end(), [&](const Letter &a, const Letter &b) {
    return std::make_pair(position(a), a.name) < std::make_pair(position(b), b.name);
  });
  return chosen;
}

/// Merges neighbors that every tensor walks as one dimension. Letters of size 1 vanish.
Letters mergeNeighbors(const Letters &letters) {
  Letters merged;
  for (const Letter &next : letters) {
    if (next.size == 1)
      continue;
    if (!merged.empty()) {
      Letter &last = merged.back();
      if (last.left == next.size * next.left && last.right == next.size * next.right &&
          last.result == next.size * next.result) {
        last.size *= next.size;
        last.left = next.left, last.right = next.right, last.result = next.result;
        continue;
      }
    }
    merged.push_back(next);
  }
  return merged;
}

struct Groups {
  Letters batch, rows, columns, sum;
};

Groups classify(const Letters &letters, Order sumOrder) {
  Groups groups;
  groups.batch =
      select(letters, Order::OfResult, [](const Letter &l) { return l.inLeft && l.inRight && l.inResult; });
  groups.rows = select(letters, Order::OfResult, [](const Letter &l) { return !l.inRight && l.inResult; });
  groups.columns = select(letters, Order::OfResult, [](const Letter &l) { return !l.inLeft && l.inResult; });
  // A letter that only one operand has is summed with a stride of 0 in the other.
  groups.sum = select(letters, sumOrder, [](const Letter &l) { return !l.inResult; });
  return groups;
}

/// Gives the letters of the lists, outermost list first, the strides of a dense packed tensor, and says how
/// the tensor is walked to fill it.
EinsumPacking packInOrder(std::initializer_list<Letters *> lists, int64_t Letter::*stride) {
  EinsumPacking packing;
  int64_t dense = 1;
  for (auto list = std::rbegin(lists); list != std::rend(lists); ++list)
    for (auto letter = (*list)->rbegin(); letter != (*list)->rend(); ++letter) {
      packing.shape.insert(packing.shape.begin(), letter->size);
      packing.strides.insert(packing.strides.begin(), (*letter).*stride);
      (*letter).*stride = dense;
      dense *= letter->size;
    }
  packing.elements = dense;
  return packing;
}

EinsumLoop loopOver(const Letter &letter) { return {letter.size, letter.left, letter.right, letter.result}; }

/// Takes one of the merged letters as the product's dimension and the others as loops.
Letter takeDimension(const Letters &merged, size_t chosen, std::vector<EinsumLoop> &loops) {
  Letter taken{' ', 1};
  for (size_t i = 0; i < merged.size(); ++i)
    if (i == chosen)
      taken = merged[i];
    else
      loops.push_back(loopOver(merged[i]));
  return taken;
}

struct PackChoice {
  bool left, right, result, exchanged;
  Order sumOrder;
};

/// The plan that packs as told; nothing when its products still cannot be addressed.
std::optional<EinsumPlan> tryPlan(Letters letters, PackChoice choice, EinsumPlan plan) {
  plan.exchanged = choice.exchanged;
  plan.packsLeft = choice.left, plan.packsRight = choice.right, plan.packsResult = choice.result;
  Groups groups = classify(letters, choice.sumOrder);
  if (choice.left)
    plan.leftPacking = packInOrder({&groups.batch, &groups.rows, &groups.sum}, &Letter::left);
  if (choice.right)
    plan.rightPacking = packInOrder({&groups.batch, &groups.sum, &groups.columns}, &Letter::right);
  if (choice.result)
    plan.resultPacking = packInOrder({&groups.batch, &groups.rows, &groups.columns}, &Letter::result);

  Letters sum = mergeNeighbors(groups.sum);
  if (sum.size() > 1)
    return std::nullopt;
  Letters rows = mergeNeighbors(groups.rows), columns = mergeNeighbors(groups.columns);
  for (const Letter &letter : mergeNeighbors(groups.batch))
    plan.loops.push_back(loopOver(letter));
  size_t longest = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].size > rows[longest].size)
      longest = i;
  Letter row = takeDimension(rows, longest, plan.loops);
  // Columns of the result must be contiguous: they are the last merged letter, or there are none.
  Letter column = takeDimension(columns, columns.empty() ? 0 : columns.size() - 1, plan.loops);
  Letter inner = sum.empty() ? Letter{' ', 1} : sum[0];
  plan.m = row.size, plan.n = column.size, plan.k = inner.size;
  plan.left = {row.left, inner.left};
  plan.right = {inner.right, column.right};
  plan.resultRow = plan.m == 1 ? plan.n : row.result;
  bool resultFits = (plan.n == 1 || column.result == 1) && plan.resultRow >= plan.n;
  if (!resultFits || !isAddressable(plan.m, plan.k, plan.left) || !isAddressable(plan.k, plan.n, plan.right))
    return std::nullopt;
  return plan;
}

/// Nanoseconds, roughly: what is moved, and the calls.
double priceOf(const EinsumPlan &plan) {
  double moved = static_cast<double>((plan.packsLeft ? plan.leftPacking.elements : 0) +
                                     (plan.packsRight ? plan.rightPacking.elements : 0) +
                                     (plan.packsResult ? plan.resultPacking.elements : 0));
  double work = static_cast<double>(plan.m) * static_cast<double>(plan.n) * static_cast<double>(plan.k);
  // A product with few rows or columns runs at the speed of memory.
  double slowness = 1 + 16.0 / static_cast<double>(std::max<int64_t>(plan.m, 1)) +
                    16.0 / static_cast<double>(std::max<int64_t>(plan.n, 1));
  return moved + static_cast<double>(plan.products()) * (300 + work * slowness / 40);
}

} // namespace

absl::StatusOr<EinsumPlan> planEinsum(const KernelCall &call) {
  auto letters = readLetters(call);
  if (!letters.ok())
    return letters.status();
  EinsumPlan types;
  types.compute = types.operands = call.results[0].dtype == DType::F64 ? DType::F64 : DType::F32;
  if (types.compute == DType::F32 && call.operands[0].dtype == DType::BF16 &&
      call.operands[1].dtype == DType::BF16 && multipliesBFloat16())
    types.operands = DType::BF16;
  std::optional<EinsumPlan> best;
  for (bool exchanged : {false, true}) {
    Letters side = *letters;
    if (exchanged)
      exchangeOperands(side);
    bool leftMust = call.operands[exchanged ? 1 : 0].dtype != types.operands;
    bool rightMust = call.operands[exchanged ? 0 : 1].dtype != types.operands;
    for (Order sumOrder : {Order::OfLeft, Order::OfRight})
      for (int packs = 0; packs < 8; ++packs) {
        PackChoice choice{(packs & 1) != 0, (packs & 2) != 0, (packs & 4) != 0, exchanged, sumOrder};
        if ((leftMust && !choice.left) || (rightMust && !choice.right))
          continue;
        std::optional<EinsumPlan> plan = tryPlan(side, choice, types);
        if (plan && (!best || priceOf(*plan) < priceOf(*best)))
          best = std::move(plan);
      }
  }
  if (!best) // cannot be: with everything packed, every product is addressable
    return absl::InternalError(absl::StrCat("kernel einsum: no plan for ", call.str()));
  return *best;
}

} // namespace weft::cpu
