//===- ExplainPlacement.cpp - What --explain placement prints --------------------===//
//
// Of a placed module: variables with storage and use, the work of attentions, what moves (the costly first),
// and every op with the placement of its results and the seeds that decided it.
//
//===----------------------------------------------------------------------===//
#include "compiler/ExplainPlacement.h"

#include "compiler/AttentionWork.h"
#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/nn/NnOps.h"
#include "passes/analysis/LocationText.h"
#include "passes/analysis/ReshardPath.h"
#include "passes/place/Place.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <map>

using namespace mlir;

namespace weft {
namespace {

std::string shapeText(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  dist::withoutPlacement(type).print(stream);
  return text;
}

std::string placementText(Type type) {
  dist::Placement placement = dist::placementOf(type);
  return placement ? dist::describe(placement) : "(none)";
}

/// Where in the step, or in which function, an op is.
std::string partText(Operation *op) {
  if (auto step = dyn_cast<nn::StepOp>(op->getParentOp())) {
    Region *region = op->getParentRegion();
    std::string name = region == &step.getPrepare()      ? "prepare"
                       : region == &step.getMicrobatch() ? "microbatch"
                                                         : "update";
    return (step.getSymName() + " " + name).str();
  }
  if (auto function = dyn_cast<func::FuncOp>(op->getParentOp()))
    return function.getSymName().str();
  return "";
}

void explainVariables(ModuleOp module, llvm::raw_ostream &out) {
  out << "variables: whole type, where it is stored, where it is used\n";
  for (Operation &op : *module.getBody())
    if (nn::isVariable(&op)) {
      auto type = cast<RankedTensorType>(op.getAttrOfType<TypeAttr>("type").getValue());
      auto use = op.getAttrOfType<dist::PlacementAttr>(kUseAttribute);
      out << llvm::formatv("  {0,-56} {1,-22} {2,-16} {3}\n", SymbolTable::getSymbolName(&op).getValue(),
                           shapeText(type), placementText(type),
                           use ? dist::describe(dist::placementOf(use)) : "");
    }
}

void explainReshards(ModuleOp module, llvm::raw_ostream &out) {
  struct Row {
    double bytes;
    std::string text;
  };
  std::vector<Row> rows;
  double total = 0;
  module.walk([&](dist::ReshardOp reshard) {
    auto type = cast<RankedTensorType>(reshard.getType());
    double bytes = 0;
    std::string steps;
    for (const ReshardStep &step :
         reshardPath(type.getShape(), (type.getElementTypeBitWidth() + 7) / 8,
                     dist::placementOf(reshard.getOperand()), dist::placementOf(type))) {
      bytes += step.bytes;
      steps += (steps.empty() ? "" : ", ") + name(step.kind).str() + " " +
               dist::describe(step.after.mesh, step.axes);
    }
    total += bytes;
    rows.push_back({bytes, llvm::formatv("{0,-18} {1,-20} {2} -> {3}  ({4})  at {5}", partText(reshard),
                                         shapeText(type), placementText(reshard.getOperand().getType()),
                                         placementText(type), steps, locationText(reshard.getLoc()))});
  });
  std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.bytes > b.bytes; });
  out << llvm::formatv("reshards: {0}; bytes that a rank sends each time, the costly first\n", rows.size());
  for (const Row &row : rows)
    out << llvm::formatv("  {0,12:F0}  {1}\n", row.bytes, row.text);
}

void explainValues(ModuleOp module, llvm::raw_ostream &out) {
  out << "values: placement, and what decided it\n";
  module.walk([&](Operation *op) {
    if (!isa<nn::ShardingRuleOpInterface>(op))
      return;
    auto reason = op->getAttrOfType<StringAttr>(kReasonAttribute);
    for (Value result : op->getResults())
      out << llvm::formatv("  {0,-18} {1,-30} {2,-22} {3,-28} {4}  at {5}\n", partText(op),
                           op->getName().getStringRef(), shapeText(nn::tensorType(result)),
                           placementText(result.getType()), reason ? reason.getValue() : "no seed reaches it",
                           locationText(op->getLoc()));
  });
}
} // namespace

std::string explainPlacement(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto mesh = module->getAttrOfType<dist::MeshAttr>(dist::kMeshAttribute);
  if (!mesh)
    return "placement: one rank holds everything (parallel: has no size over 1)\n";
  out << "mesh:";
  for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
    out << " " << name.getValue() << " = " << size;
  for (NamedAttribute role : mesh.getRoles())
    out << "  " << role.getName().getValue() << " "
        << dist::describe(mesh, cast<DenseI64ArrayAttr>(role.getValue()).asArrayRef());
  out << "\n";
  explainVariables(module, out);
  out << explainAttentionWork(module);
  explainReshards(module, out);
  explainValues(module, out);
  return text;
}

} // namespace weft
