#include "compiler/interpret/Ranks.h"

#include "compiler/interpret/Collectives.h"
#include "compiler/interpret/PipelinePrograms.h"
#include "dialects/nn/NnDialect.h"

#include "absl/strings/str_cat.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <bit>
#include <limits>
#include <map>
#include <set>

using namespace mlir;

namespace weft::interpret {
namespace {

/// The mesh of the first value of the local view.
dist::MeshAttr localMesh(Operation *op) {
  dist::MeshAttr mesh;
  auto look = [&](TypeRange types) {
    for (Type type : types)
      if (dist::isLocal(type))
        mesh = dist::placementOf(type).mesh;
  };
  op->walk([&](Operation *inner) {
    look(inner->getResultTypes());
    look(inner->getOperandTypes());
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        look(block.getArgumentTypes());
    return mesh ? WalkResult::interrupt() : WalkResult::advance();
  });
  return mesh;
}

/// That of the module around.
dist::MeshAttr moduleMesh(Operation *op) {
  return op->getParentOfType<ModuleOp>()->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute);
}

/// The mesh axes that tell ranks of different contents apart.
std::vector<uint32_t> decidingAxes(const dist::Placement &placement) {
  std::vector<uint32_t> axes;
  for (size_t axis = 0; axis < placement.mesh.getSizes().size(); ++axis)
    if (!placement.isReplicatedOver(static_cast<int64_t>(axis)))
      axes.push_back(static_cast<uint32_t>(axis));
  return axes;
}

/// Walks the elements of a part: `visit(part index, whole index)`, the latter -1 for padding.
class PartWalk {
public:
  PartWalk(const Ranks &ranks, int64_t rank, ArrayRef<int64_t> whole, const dist::Placement &placement)
      : strides(reference::stridesOf({whole.begin(), whole.end()})) {
    for (auto [size, split] : llvm::zip_equal(whole, placement.splits))
      dimensions.push_back(ranks.positions(rank, size, split));
  }

  template <typename Visit> void run(Visit visit) {
    int64_t next = 0;
    walk(0, 0, next, visit);
  }

private:
  template <typename Visit> void walk(size_t dimension, int64_t base, int64_t &next, Visit &visit) {
    if (dimension == dimensions.size())
      return visit(next++, base);
    for (int64_t position : dimensions[dimension]) {
      int64_t inner = base < 0 || position < 0 ? -1 : base + position * strides[dimension];
      walk(dimension + 1, inner, next, visit);
    }
  }

  std::vector<std::vector<int64_t>> dimensions;
  std::vector<int64_t> strides;
};

/// A rank among `count` that depends on the element.
int64_t holderOf(int64_t element, int64_t count) {
  uint64_t mixed = (static_cast<uint64_t>(element) + 1) * 0x9E3779B97F4A7C15u;
  return static_cast<int64_t>((mixed >> 32) % static_cast<uint64_t>(count));
}

bool sameBits(double left, double right) {
  return std::bit_cast<uint64_t>(left) == std::bit_cast<uint64_t>(right);
}

} // namespace

double poisonReal() { return std::numeric_limits<double>::quiet_NaN(); }

int64_t lowestInteger(DType dtype) {
  switch (dtype) {
  case DType::I1:
    return 0;
  case DType::I32:
    return std::numeric_limits<int32_t>::min();
  default:
    return std::numeric_limits<int64_t>::min();
  }
}

RankedTensorType placedType(Operation *op) {
  auto type = cast<RankedTensorType>(op->getAttrOfType<TypeAttr>("type").getValue());
  Attribute placement = op->getAttr(dist::kPlacementAttribute);
  return placement ? RankedTensorType::get(type.getShape(), type.getElementType(), placement) : type;
}

std::vector<uint32_t> axisIndices(ArrayRef<int64_t> axes) { return {axes.begin(), axes.end()}; }

Ranks Ranks::of(Operation *op) {
  Mesh axes;
  if (dist::MeshAttr mesh = interpret::pipelineRankOf(op) ? moduleMesh(op) : localMesh(op)) {
    for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
      axes.axes.push_back({name.getValue().str(), static_cast<uint32_t>(size)});
    for (NamedAttribute role : mesh.getRoles())
      axes.roles.push_back({role.getName().str(), axisIndices(mesh.axesOf(role.getName()))});
  }
  return Ranks(std::move(axes));
}

bool Ranks::isPipelineAxis(StringRef name) const {
  return llvm::any_of(axes.axesOf("pipeline"), [&](uint32_t axis) { return axes.axes[axis].name == name; });
}

bool Ranks::dependsOnPipelineRank(Type type) const {
  dist::Placement placement = dist::placementOf(type);
  return placement && llvm::any_of(axes.axesOf("pipeline"),
                                   [&](uint32_t axis) { return !placement.isReplicatedOver(axis); });
}

MeshValue Ranks::copiesOf(int64_t pipelineRank, const MeshValue &value) const {
  std::span<const uint32_t> pipeline = axes.axesOf("pipeline");
  MeshValue copies(count());
  for (int64_t rank = 0; rank < count(); ++rank)
    if (pipelineRankOf(rank) == pipelineRank)
      for (int64_t other : axes.group(rank, pipeline))
        copies[other] = value[rank];
  return copies;
}

std::vector<int64_t> Ranks::positions(int64_t rank, int64_t size, const dist::Split &split) const {
  std::vector<uint32_t> axesOfSplit = axisIndices(split.axes);
  std::vector<int64_t> positions;
  if (split.zigzag) {
    int64_t parts = axes.sizeOf(axesOfSplit), index = axes.indexOf(rank, axesOfSplit),
            chunk = size / (2 * parts);
    for (int64_t start : {index * chunk, (2 * parts - 1 - index) * chunk})
      for (int64_t offset = 0; offset < chunk; ++offset)
        positions.push_back(start + offset);
    return positions;
  }
  Extent extent = partOf(axes, rank, size, {axesOfSplit});
  for (int64_t offset = 0; offset < extent.size; ++offset)
    positions.push_back(offset < extent.valid ? extent.start + offset : -1);
  return positions;
}

MeshValue Ranks::split(const Tensor &whole, Type type) const {
  if (!dist::isLocal(type))
    return everywhere(std::make_shared<const Tensor>(whole));
  dist::Placement placement = dist::placementOf(type);
  std::vector<uint32_t> deciding = decidingAxes(placement);
  std::vector<uint32_t> pending = axisIndices(placement.allPending());
  int64_t terms = axes.sizeOf(pending);
  std::map<int64_t, Shared> made;
  MeshValue parts;
  for (int64_t rank = 0; rank < count(); ++rank) {
    Shared &part = made[axes.indexOf(rank, deciding)];
    if (!part) {
      auto tensor = std::make_shared<Tensor>(Tensor{whole.dtype, {}, {}, {}});
      for (int64_t size : cast<RankedTensorType>(type).getShape())
        tensor->shape.push_back(size);
      int64_t mine = axes.indexOf(rank, pending);
      bool isSum = placement.max.empty() && placement.lse.empty();
      PartWalk walk(*this, rank, whole.shape, placement);
      walk.run([&](int64_t, int64_t element) {
        bool holds = element >= 0 && holderOf(element, terms) == mine;
        if (isFloat(whole.dtype))
          tensor->reals.push_back(element < 0 ? poisonReal()
                                  : holds     ? whole.reals[element]
                                  : isSum     ? 0.0
                                              : -std::numeric_limits<double>::infinity());
        else
          tensor->integers.push_back(element < 0 ? lowestInteger(whole.dtype)
                                     : holds     ? whole.integers[element]
                                     : isSum     ? 0
                                                 : lowestInteger(whole.dtype));
      });
      part = std::move(tensor);
    }
    parts.push_back(part);
  }
  return parts;
}

absl::StatusOr<Tensor> Ranks::assemble(const MeshValue &value, Type type) const {
  if (!dist::isLocal(type)) {
    for (const Shared &part : value)
      if (part != value.front() && !(*part == *value.front()))
        return absl::InternalError("ranks hold different values of what is whole on each");
    return *value.front();
  }
  dist::Placement placement = dist::placementOf(type);
  MeshValue reduced = value;
  for (dist::PendingKind kind : dist::kPendingKinds)
    if (const dist::Axes &pending = placement.pending(kind); !pending.empty()) {
      absl::StatusOr<MeshValue> done = allReduce(*this, reduced, axisIndices(pending), kind, Types::Exact);
      if (!done.ok())
        return done.status();
      reduced = *std::move(done);
    }
  auto wholeShape = dist::wholeShape(cast<RankedTensorType>(type));
  absl::StatusOr<Tensor> whole =
      reference::makeZeros({value.front()->dtype, {wholeShape.begin(), wholeShape.end()}});
  if (!whole.ok())
    return whole;
  std::vector<int64_t> writer(whole->elements(), -1);
  std::vector<uint32_t> splitting;
  for (const dist::Split &split : placement.splits)
    splitting.insert(splitting.end(), split.axes.begin(), split.axes.end());
  std::set<std::pair<const Tensor *, int64_t>> seen;
  std::string different;
  for (int64_t rank = 0; rank < count() && different.empty(); ++rank) {
    const Tensor &part = *reduced[rank];
    if (!seen.insert({&part, axes.indexOf(rank, splitting)}).second)
      continue;
    PartWalk walk(*this, rank, wholeShape, placement);
    walk.run([&](int64_t from, int64_t to) {
      if (to < 0)
        return;
      bool first = writer[to] < 0;
      bool same = first || (isFloat(part.dtype) ? sameBits(whole->reals[to], part.reals[from])
                                                : whole->integers[to] == part.integers[from]);
      if (!same && different.empty())
        different = absl::StrCat("ranks ", writer[to], " and ", rank, " hold the same part (",
                                 dist::describe(placement), ") with different values at element ", to);
      if (!first)
        return;
      writer[to] = rank;
      if (isFloat(part.dtype))
        whole->reals[to] = part.reals[from];
      else
        whole->integers[to] = part.integers[from];
    });
  }
  if (!different.empty())
    return absl::InternalError(different);
  return whole;
}

} // namespace weft::interpret
