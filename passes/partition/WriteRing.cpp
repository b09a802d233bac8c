#include "passes/partition/WriteRing.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"
#include "dialects/nn/ValueBuilder.h"

#include <array>

using namespace mlir;

namespace weft {
namespace {

/// What an attention reads; null where it has none.
struct Operands {
  Value cotangent, query, key, value, output, lse;
  Value querySegments, keySegments, queryPositions, keyPositions, sinks;

  template <typename OpTy> static Operands common(OpTy op) {
    Operands all;
    all.query = op.getQuery(), all.key = op.getKey(), all.value = op.getValue();
    all.querySegments = op.getQuerySegments(), all.keySegments = op.getKeySegments();
    all.queryPositions = op.getQueryPositions(), all.keyPositions = op.getKeyPositions();
    all.sinks = op.getSinks();
    return all;
  }
  static Operands of(nn::AttentionOp op) { return common(op); }
  static Operands of(nn::AttentionBackwardOp op) {
    Operands all = common(op);
    all.cotangent = op.getCotangent(), all.output = op.getOutput(), all.lse = op.getLse();
    return all;
  }
};

using Field = Value Operands::*;
constexpr std::array<Field, 7> kStays = {
    &Operands::cotangent,     &Operands::query,          &Operands::output, &Operands::lse,
    &Operands::querySegments, &Operands::queryPositions, &Operands::sinks};
constexpr std::array<Field, 4> kTravels = {&Operands::key, &Operands::value, &Operands::keySegments,
                                           &Operands::keyPositions};

RankedTensorType localOf(Value value) {
  RankedTensorType type = nn::tensorType(value);
  return dist::isLocal(type)
             ? type
             : dist::localType(type.getShape(), type.getElementType(), dist::placementOf(type));
}
RankedTensorType withElement(RankedTensorType type, Type element) {
  return RankedTensorType::get(type.getShape(), element, type.getEncoding());
}

/// Writes the ring of one op: forward and backward share how operands, regions and types follow.
template <typename OpTy> class RingWriter {
public:
  explicit RingWriter(OpTy op)
      : op(op), builder(op), operands(Operands::of(op)),
        statistics(nn::tensorType(op.getLse()).getElementType()) {
    dist::Placement placement = dist::placementOf(operands.query);
    mesh = placement.mesh;
    axes = placement.splits[1].axes;
  }

  LogicalResult run() {
    int64_t positions = dist::wholeShape(nn::tensorType(operands.query))[1];
    if (positions % mesh.sizeOf(axes) != 0)
      return op.emitOpError() << "goes around a ring of " << mesh.sizeOf(axes) << " ranks over "
                              << dist::describe(mesh, axes) << ", which does not divide its " << positions
                              << " positions; blocks are of one size";
    write();
    return success();
  }

private:
  void write(); // of each op

  void createRing(ArrayRef<RankedTensorType> merged, ArrayRef<RankedTensorType> home) {
    SmallVector<Value> stays, travels;
    for (Field field : kStays)
      if (operands.*field)
        stays.push_back(operands.*field);
    for (Field field : kTravels)
      travels.push_back(operands.*field);
    llvm::erase(travels, Value());
    SmallVector<mlir::Attribute> names;
    for (int64_t axis : axes)
      names.push_back(mesh.getNames()[axis]);
    ring = dist::RingOp::create(builder, op.getLoc(), SmallVector<Type>(merged), SmallVector<Type>(home),
                                builder.getArrayAttr(names), stays, travels);
    for (Region *region : {&ring.getFirst(), &ring.getNext()}) {
      Block &block = region->emplaceBlock();
      for (Value value : stays)
        block.addArgument(value.getType(), op.getLoc());
      for (Value value : travels)
        block.addArgument(dist::blockType(nn::tensorType(value), axes), op.getLoc());
    }
    Block &next = ring.getNext().front();
    for (RankedTensorType type : merged)
      next.addArgument(type, op.getLoc());
    for (RankedTensorType type : home)
      next.addArgument(dist::homeBlockType(type, axes), op.getLoc());
  }

  /// Begins a region: what its op reads there, and in `handed` what the step before gave.
  Operands enter(Region &region, SmallVectorImpl<Value> &handed) {
    Block &block = region.front();
    builder.setInsertionPointToStart(&block);
    Operands inside;
    unsigned at = 0;
    for (ArrayRef<Field> fields : {ArrayRef<Field>(kStays), ArrayRef<Field>(kTravels)})
      for (Field field : fields)
        if (operands.*field)
          inside.*field = block.getArgument(at++);
    handed.append(block.args_begin() + at, block.args_end());
    return inside;
  }

  void yield(ValueRange values) { dist::RingYieldOp::create(builder, op.getLoc(), values); }

  /// Rounds to the type that the op declared. A term of a sum is rounded as the whole op would round it.
  Value rounded(Value value, Type declared) {
    Type element = cast<RankedTensorType>(declared).getElementType();
    RankedTensorType type = nn::tensorType(value);
    if (type.getElementType() == element)
      return value;
    auto castOp = nn::CastOp::create(builder, op.getLoc(), withElement(type, element), value);
    if (dist::placementOf(type).isPending())
      castOp->setAttr("wire", builder.getUnitAttr());
    return castOp;
  }

  void finish(ArrayRef<Value> results) {
    op->replaceAllUsesWith(results);
    op->erase();
  }

  OpTy op;
  OpBuilder builder;
  Operands operands;
  Type statistics; ///< in which partial results are kept and merged
  dist::MeshAttr mesh;
  dist::Axes axes;
  dist::RingOp ring;
};

template <> void RingWriter<nn::AttentionOp>::write() {
  RankedTensorType output = withElement(localOf(op.getResult()), statistics), lse = localOf(op.getLse());
  createRing({output, lse}, {});
  nn::ValueBuilder b(builder, op.getLoc());
  auto attend = [&](const Operands &x, Value sinks) {
    return b.create<nn::AttentionOp>(TypeRange{output, lse}, x.query, x.key, x.value, x.querySegments,
                                     x.keySegments, x.queryPositions, x.keyPositions, sinks,
                                     op.getScaleAttr(), op.getCausalAttr(), op.getWindowAttr(),
                                     op.getSoftcapAttr(), UnitAttr());
  };
  SmallVector<Value> handed;
  Operands inside = enter(ring.getFirst(), handed);
  yield(attend(inside, inside.sinks).getResults());
  // Sinks take part once, in the first step.
  inside = enter(ring.getNext(), handed);
  nn::AttentionOp partial = attend(inside, Value());
  yield(b.create<nn::AttentionMergeOp>(TypeRange{output, lse}, handed[0], handed[1], partial.getResult(),
                                       partial.getLse())
            .getResults());
  builder.setInsertionPointAfter(ring);
  finish({rounded(ring.getMerged()[0], op.getResult().getType()), ring.getMerged()[1]});
}

template <> void RingWriter<nn::AttentionBackwardOp>::write() {
  auto gradientOf = [&](Value value) { return withElement(localOf(value), statistics); };
  RankedTensorType query = gradientOf(op.getQueryCotangent()), key = gradientOf(op.getKeyCotangent()),
                   value = gradientOf(op.getValueCotangent());
  SmallVector<RankedTensorType> merged = {query};
  if (op.getSinks())
    merged.push_back(localOf(op.getSinksCotangent()));
  createRing(merged, {key, value});
  nn::ValueBuilder b(builder, op.getLoc());
  auto backward = [&](const Operands &x, Value sinks) {
    SmallVector<Type> types = {query, dist::homeBlockType(key, axes), dist::homeBlockType(value, axes)};
    if (sinks)
      types.push_back(merged.back());
    return b.create<nn::AttentionBackwardOp>(types, x.cotangent, x.query, x.key, x.value, x.output, x.lse,
                                             x.querySegments, x.keySegments, x.queryPositions, x.keyPositions,
                                             sinks, op.getScaleAttr(), op.getCausalAttr(), op.getWindowAttr(),
                                             op.getSoftcapAttr(), UnitAttr());
  };
  // Results are (query, key, value, [sinks]); what is handed on is (query, [sinks], key, value).
  SmallVector<Value> handed;
  Operands inside = enter(ring.getFirst(), handed);
  nn::AttentionBackwardOp first = backward(inside, inside.sinks);
  SmallVector<Value> given = {first.getQueryCotangent()};
  if (op.getSinks())
    given.push_back(first.getSinksCotangent());
  given.append({first.getKeyCotangent(), first.getValueCotangent()});
  yield(given);
  // The gradient of the sinks needs no keys: the first step has all of it.
  inside = enter(ring.getNext(), handed);
  nn::AttentionBackwardOp partial = backward(inside, Value());
  handed.front() = b.add(handed.front(), partial.getQueryCotangent());
  handed[handed.size() - 2] = b.add(handed[handed.size() - 2], partial.getKeyCotangent());
  handed.back() = b.add(handed.back(), partial.getValueCotangent());
  yield(handed);
  builder.setInsertionPointAfter(ring);
  SmallVector<Value> results = {rounded(ring.getMerged()[0], op.getQueryCotangent().getType()),
                                rounded(ring.getHome()[0], op.getKeyCotangent().getType()),
                                rounded(ring.getHome()[1], op.getValueCotangent().getType())};
  if (op.getSinks())
    results.push_back(ring.getMerged()[1]);
  finish(results);
}
} // namespace

namespace {
template <typename OpTy> bool goesAroundAs(OpTy op) {
  if (!op.getRing())
    return false;
  dist::Placement placement = dist::placementOf(op.getQuery());
  if (placement && !placement.splits[1].axes.empty())
    return true;
  op.setRing(false);
  return false;
}
} // namespace

bool goesAround(Operation *op) {
  if (auto forward = dyn_cast<nn::AttentionOp>(op))
    return goesAroundAs(forward);
  auto backward = dyn_cast<nn::AttentionBackwardOp>(op);
  return backward && goesAroundAs(backward);
}

LogicalResult writeRing(Operation *op) {
  if (auto forward = dyn_cast<nn::AttentionOp>(op))
    return RingWriter(forward).run();
  return RingWriter(cast<nn::AttentionBackwardOp>(op)).run();
}

} // namespace weft
