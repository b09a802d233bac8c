#include "compiler/interpret/Collectives.h"

#include "dialects/nn/NnSupport.h"
#include "kernels/reference/Elementwise.h"
#include "kernels/reference/Rounding.h"
#include "kernels/reference/Shape.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;

namespace weft::interpret {
namespace {

using One = absl::StatusOr<Tensor>;

/// Computes one tensor per group and member with `compute(members' tensors, index of the member)`. Members
/// for which `isCommon` holds all get the tensor of member 0.
template <typename Compute>
absl::StatusOr<MeshValue> inGroups(const Ranks &ranks, const MeshValue &value, ArrayRef<uint32_t> axes,
                                   bool isCommon, Compute compute) {
  MeshValue results(ranks.count());
  std::map<std::vector<const Tensor *>, std::map<int64_t, Shared>> known;
  for (int64_t rank = 0; rank < ranks.count(); ++rank) {
    std::vector<const Tensor *> members;
    for (int64_t member : ranks.mesh().group(rank, axes))
      members.push_back(value[member].get());
    int64_t index = isCommon ? 0 : ranks.mesh().indexOf(rank, axes);
    Shared &result = known[members][index];
    if (!result) {
      One computed = compute(members, index);
      if (!computed.ok())
        return computed.status();
      result = std::make_shared<const Tensor>(*std::move(computed));
    }
    results[rank] = result;
  }
  return results;
}

/// `size` elements of one dimension from `start`; those past the operand's end are poison.
Tensor cut(const Tensor &x, int64_t dimension, int64_t start, int64_t size) {
  Tensor result{x.dtype, x.shape, {}, {}};
  result.shape[dimension] = size;
  int64_t outer = 1, inner = 1, have = x.shape[dimension];
  for (int64_t d = 0; d < x.rank(); ++d)
    (d < dimension ? outer : inner) *= d == dimension ? 1 : x.shape[d];
  auto fill = [&](const auto &from, auto &to, auto poison) {
    to.reserve(outer * size * inner);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t row = start; row < start + size; ++row)
        for (int64_t i = 0; i < inner; ++i)
          to.push_back(row < have ? from[(o * have + row) * inner + i] : poison);
  };
  if (isFloat(x.dtype))
    fill(x.reals, result.reals, poisonReal());
  else
    fill(x.integers, result.integers, lowestInteger(x.dtype));
  return result;
}

/// Member `index`'s part of what is cut into equal parts, or in zigzag into twice as many equal chunks, of
/// which it has two.
One partOfMember(const Tensor &x, int64_t dimension, int64_t index, int64_t members, bool zigzag) {
  int64_t each = (x.shape[dimension] + members - 1) / members;
  if (!zigzag)
    return cut(x, dimension, index * each, each);
  std::vector<Tensor> chunks;
  for (int64_t chunk : {index, 2 * members - 1 - index})
    chunks.push_back(cut(x, dimension, chunk * (each / 2), each / 2));
  return reference::concatenate(chunks, dimension);
}

One together(ArrayRef<Tensor> parts, int64_t dimension, int64_t size, bool zigzag) {
  std::vector<Tensor> pieces(parts.begin(), parts.end());
  if (zigzag) { // the first chunks in order, then the second ones, the last part's first
    int64_t chunk = parts.front().shape[dimension] / 2;
    pieces.clear();
    for (const Tensor &part : parts)
      pieces.push_back(cut(part, dimension, 0, chunk));
    for (const Tensor &part : llvm::reverse(parts))
      pieces.push_back(cut(part, dimension, chunk, chunk));
  }
  One whole = reference::concatenate(pieces, dimension);
  return whole.ok() ? cut(*whole, dimension, 0, size) : whole;
}

/// The sum of both, rounded; a failure of either passes.
One addRounded(const One &so, const One &next, Types types) {
  if (!so.ok() || !next.ok())
    return so.ok() ? next : so;
  One total = reference::binary(reference::Binary::Add, *so, *next);
  if (total.ok() && types == Types::Declared)
    reference::roundTo(*total, total->dtype);
  return total;
}

/// The halves of an even number of members, each so, and then both added; an odd number one after another.
One foldTree(ArrayRef<const Tensor *> members, Types types) {
  size_t half = members.size() / 2;
  if (members.size() % 2 == 0)
    return addRounded(foldTree(members.take_front(half), types), foldTree(members.drop_front(half), types),
                      types);
  One total = *members[0];
  for (const Tensor *member : members.drop_front())
    total = addRounded(total, *member, types);
  return total;
}

One fold(ArrayRef<const Tensor *> members, dist::PendingKind kind, Types types) {
  if (kind == dist::PendingKind::tree)
    return foldTree(members, types);
  if (kind == dist::PendingKind::sum && members[0]->dtype == DType::I1)
    return absl::InvalidArgumentError("i1 has no sum");
  DType declared = members[0]->dtype;
  DType accumulated = declared == DType::BF16 || declared == DType::F16 ? DType::F32 : declared;
  auto combine = [kind](const Tensor &so, const Tensor &next) {
    return kind == dist::PendingKind::sum   ? reference::binary(reference::Binary::Add, so, next)
           : kind == dist::PendingKind::max ? reference::binary(reference::Binary::Maximum, so, next)
                                            : reference::addLogarithms(so, next);
  };
  Tensor total = *members[0];
  for (const Tensor *member : members.drop_front()) {
    One next = combine(total, *member);
    if (!next.ok())
      return next;
    total = *std::move(next);
    if (types == Types::Declared)
      reference::roundTo(total, accumulated);
  }
  if (types == Types::Declared)
    reference::roundTo(total, declared);
  total.dtype = declared;
  return total;
}

std::vector<uint32_t> groupOf(ArrayAttr names, dist::MeshAttr mesh) {
  std::vector<uint32_t> axes;
  for (StringRef name : names.getAsValueRange<StringAttr>())
    axes.push_back(static_cast<uint32_t>(mesh.indexOf(name)));
  return axes;
}

/// The ops of dist, each from the operand's parts to the result's.
class DistEvaluator {
public:
  DistEvaluator(Operation *op, const Ranks &ranks, const MeshValue &operand, Types types)
      : op(op), ranks(ranks), operand(operand), types(types),
        mesh(dist::placementOf(op->getOperand(0)).mesh) {}

  std::optional<absl::StatusOr<MeshValue>> run() {
    using Result = std::optional<absl::StatusOr<MeshValue>>;
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case<dist::WaitOp, dist::ReshardOp, dist::TermOp>([&](auto) -> Result { return operand; })
        .Case([&](dist::AllGatherStartOp gather) -> Result { return allGather(gather); })
        .Case([&](dist::AllReduceStartOp reduce) -> Result {
          return allReduce(ranks, operand, groupOf(reduce.getAxes(), mesh), reduce.getKind(), types);
        })
        .Case([&](dist::ReduceScatterStartOp scatter) -> Result { return reduceScatter(scatter); })
        .Case([&](dist::AllToAllStartOp exchange) -> Result { return allToAll(exchange); })
        .Case([&](dist::SliceOp slice) -> Result { return keepPart(slice); })
        .Case([&](dist::KeepFirstOp first) -> Result { return keepFirst(first); })
        .Case([&](dist::MaskOp masked) -> Result { return mask(masked); })
        .Default([](Operation *) -> Result { return std::nullopt; });
  }

private:
  using Members = ArrayRef<const Tensor *>;

  static int64_t sizeIn(dist::TokenType token, int64_t dimension) {
    return token.getTensor().getDimSize(static_cast<unsigned>(dimension));
  }
  static bool isZigzag(Type type, int64_t dimension) {
    return dist::placementOf(type).splits[dimension].zigzag;
  }

  absl::StatusOr<MeshValue> allGather(dist::AllGatherStartOp gather) {
    auto dimension = static_cast<int64_t>(gather.getDimension());
    int64_t size = sizeIn(gather.getToken().getType(), dimension);
    bool zigzag = isZigzag(gather.getOperand().getType(), dimension);
    return inGroups(ranks, operand, groupOf(gather.getAxes(), mesh), true, [&](Members members, int64_t) {
      return together(llvm::map_to_vector(members, [](const Tensor *part) { return *part; }), dimension, size,
                      zigzag);
    });
  }

  absl::StatusOr<MeshValue> reduceScatter(dist::ReduceScatterStartOp scatter) {
    auto dimension = static_cast<int64_t>(scatter.getDimension());
    bool zigzag = isZigzag(scatter.getToken().getType().getTensor(), dimension);
    return inGroups(
        ranks, operand, groupOf(scatter.getAxes(), mesh), false, [&](Members members, int64_t index) -> One {
          One total = fold(members, scatter.getKind(), types);
          if (!total.ok())
            return total;
          return partOfMember(*total, dimension, index, static_cast<int64_t>(members.size()), zigzag);
        });
  }

  absl::StatusOr<MeshValue> allToAll(dist::AllToAllStartOp exchange) {
    auto from = static_cast<int64_t>(exchange.getFrom()), to = static_cast<int64_t>(exchange.getTo());
    int64_t size = sizeIn(exchange.getToken().getType(), from);
    bool joinsZigzag = isZigzag(exchange.getOperand().getType(), from),
         cutsZigzag = isZigzag(exchange.getToken().getType().getTensor(), to);
    return inGroups(
        ranks, operand, groupOf(exchange.getAxes(), mesh), false, [&](Members members, int64_t index) -> One {
          SmallVector<Tensor> parts;
          for (const Tensor *member : members) {
            One part = partOfMember(*member, to, index, static_cast<int64_t>(members.size()), cutsZigzag);
            if (!part.ok())
              return part;
            parts.push_back(*std::move(part));
          }
          return together(parts, from, size, joinsZigzag);
        });
  }

  absl::StatusOr<MeshValue> keepPart(dist::SliceOp slice) {
    auto dimension = static_cast<int64_t>(slice.getDimension());
    bool zigzag = isZigzag(slice.getType(), dimension);
    return inGroups(ranks, operand, groupOf(slice.getAxes(), mesh), false,
                    [&](Members members, int64_t index) -> One {
                      return partOfMember(*members[index], dimension, index,
                                          static_cast<int64_t>(members.size()), zigzag);
                    });
  }

  absl::StatusOr<MeshValue> keepFirst(dist::KeepFirstOp first) {
    return inGroups(ranks, operand, groupOf(first.getAxes(), mesh), false,
                    [&](Members members, int64_t index) -> One {
                      if (index == 0)
                        return *members[0];
                      return reference::makeZeros(members[index]->type());
                    });
  }

  absl::StatusOr<MeshValue> mask(dist::MaskOp masked) {
    auto type = cast<RankedTensorType>(masked.getType());
    auto dimension = static_cast<int64_t>(masked.getDimension());
    dist::Split split = dist::placementOf(type).splits[dimension];
    int64_t size = dist::wholeShape(type)[dimension];
    double value = masked.getValue().convertToDouble();
    MeshValue results;
    std::map<std::pair<const Tensor *, int64_t>, Shared> known;
    std::vector<uint32_t> axes = axisIndices(split.axes);
    for (int64_t rank = 0; rank < ranks.count(); ++rank) {
      Shared &result = known[{operand[rank].get(), ranks.mesh().indexOf(rank, axes)}];
      if (!result)
        result = std::make_shared<const Tensor>(
            withPadding(*operand[rank], dimension, ranks.positions(rank, size, split), value));
      results.push_back(result);
    }
    return results;
  }

  /// `x` with `value` where the dimension's position is padding.
  static Tensor withPadding(Tensor x, int64_t dimension, ArrayRef<int64_t> positions, double value) {
    int64_t inner = reference::stridesOf(x.shape)[dimension];
    for (int64_t index = 0; index < x.elements(); ++index) {
      if (positions[(index / inner) % x.shape[dimension]] >= 0)
        continue;
      if (isFloat(x.dtype))
        x.reals[index] = value;
      else
        x.integers[index] = static_cast<int64_t>(value);
    }
    return x;
  }

  Operation *op;
  const Ranks &ranks;
  const MeshValue &operand;
  Types types;
  dist::MeshAttr mesh;
};

} // namespace

absl::StatusOr<MeshValue> allReduce(const Ranks &ranks, const MeshValue &value, ArrayRef<uint32_t> axes,
                                    dist::PendingKind kind, Types types) {
  return inGroups(ranks, value, axes, true,
                  [&](ArrayRef<const Tensor *> members, int64_t) { return fold(members, kind, types); });
}

std::optional<absl::StatusOr<MeshValue>> evaluateDist(Operation *op, const Ranks &ranks,
                                                      const MeshValue &operand, Types types) {
  if (op->getName().getDialectNamespace() != dist::DistDialect::getDialectNamespace())
    return std::nullopt;
  return DistEvaluator(op, ranks, operand, types).run();
}

} // namespace weft::interpret
