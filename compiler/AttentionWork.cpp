#include "compiler/AttentionWork.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"
#include "runtime/executable/Mesh.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <map>

using namespace mlir;

namespace weft {
namespace {

/// True for positions that count up from 0: an iota along the sequence, wherever it has been moved.
bool countsUp(Value positions) {
  while (auto reshard = positions.getDefiningOp<dist::ReshardOp>())
    positions = reshard.getOperand();
  auto iota = positions.getDefiningOp<nn::IotaOp>();
  return iota && iota.getDimension() == 1;
}

struct Work {
  int64_t ops = 0;
  double least = 0, most = 0, mean = 0;
};

/// The visible pairs of each part of the queries, in the order of the parts.
template <typename OpTy> std::vector<double> visiblePairs(OpTy op, const dist::Split &split) {
  int64_t queries = nn::tensorType(op.getQuery()).getDimSize(1),
          keys = nn::tensorType(op.getKey()).getDimSize(1);
  int64_t first = op.getQueryPositions() ? 0 : keys - queries, window = static_cast<int64_t>(op.getWindow());
  Mesh mesh;
  DimensionSplit parts{{}, split.zigzag};
  for (int64_t axis : split.axes) {
    parts.axes.push_back(static_cast<uint32_t>(mesh.axes.size()));
    mesh.axes.push_back({"", static_cast<uint32_t>(dist::placementOf(op.getQuery()).mesh.getSizes()[axis])});
  }
  std::vector<double> pairs;
  for (int64_t part = 0; part < mesh.ranks(); ++part) {
    int64_t visible = 0;
    for (const Extent &stretch : stretchesOf(mesh, part, queries, parts))
      for (int64_t position = first + stretch.start; position < first + stretch.start + stretch.valid;
           ++position) {
        int64_t last = op.getCausal() ? std::min(position + 1, keys) : keys;
        visible +=
            std::max<int64_t>(0, last - (window > 0 ? std::max<int64_t>(0, position - window + 1) : 0));
      }
    pairs.push_back(static_cast<double>(visible));
  }
  return pairs;
}

/// FLOPs of one op on each part of its queries: those of all pairs, shared by batch and heads.
template <typename OpTy> Work workOf(OpTy op) {
  RankedTensorType query = nn::tensorType(op.getQuery());
  dist::Placement placement = dist::placementOf(query);
  SmallVector<int64_t> part = dist::partShape(query.getShape(), placement);
  double pairsOfAll = static_cast<double>(query.getDimSize(0) * query.getDimSize(1) * query.getDimSize(2)) *
                      static_cast<double>(nn::tensorType(op.getKey()).getDimSize(1)) /
                      (op.getCausal() ? 2 : 1);
  double flops = static_cast<double>(op.flops()) / pairsOfAll * static_cast<double>(part[0] * part[2]);
  Work work{1};
  std::vector<double> pairs = visiblePairs(op, placement.splits[1]);
  work.least = flops * *std::min_element(pairs.begin(), pairs.end());
  work.most = flops * *std::max_element(pairs.begin(), pairs.end());
  for (double one : pairs)
    work.mean += flops * one / static_cast<double>(pairs.size());
  return work;
}

class WorkTable {
public:
  template <typename OpTy> void add(OpTy op) {
    if (!dist::placementOf(op.getQuery()))
      return;
    RankedTensorType type = nn::tensorType(op.getQuery());
    std::string kind;
    llvm::raw_string_ostream(kind) << llvm::formatv("{0,-24} {1,-22} {2,-28}", op->getName().getStringRef(),
                                                    nameOf(dist::withoutPlacement(type)),
                                                    dist::describe(dist::placementOf(type)));
    bool isKnown =
        !op.getQueryPositions() || (countsUp(op.getQueryPositions()) && countsUp(op.getKeyPositions()));
    auto [found, isNew] = rows.insert({{kind, isKnown}, {}});
    if (isNew && isKnown)
      found->second = workOf(op);
    else
      ++found->second.ops;
  }

  std::string text() const {
    std::string text;
    llvm::raw_string_ostream out(text);
    if (!rows.empty())
      out << "attention: query and its placement; FLOPs of one op on the ranks that have least and most to "
             "do, "
             "by positions\n";
    for (const auto &[kind, work] : rows)
      if (kind.second)
        out << llvm::formatv("  {0,3} x {1} least {2:F0}, most {3:F0}: {4:F2} % over the mean\n", work.ops,
                             kind.first, work.least, work.most,
                             work.mean > 0 ? 100.0 * (work.most / work.mean - 1.0) : 0.0);
      else
        out << llvm::formatv("  {0,3} x {1} its positions are known when it runs\n", work.ops, kind.first);
    return text;
  }

private:
  static std::string nameOf(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  llvm::MapVector<std::pair<std::string, bool>, Work, std::map<std::pair<std::string, bool>, unsigned>> rows;
};
} // namespace

std::string explainAttentionWork(ModuleOp module) {
  WorkTable table;
  module.walk([&](Operation *op) {
    if (auto forward = dyn_cast<nn::AttentionOp>(op))
      table.add(forward);
    else if (auto backward = dyn_cast<nn::AttentionBackwardOp>(op))
      table.add(backward);
  });
  return table.text();
}

} // namespace weft
