//===- ReshardTrials.cpp - Every way from one placement to another ----------===//
//
// Random meshes, shapes and pairs of placements: what `partition` makes of the reshard, run on virtual ranks,
// gives the value back element by element (each is a number of its own), with equal replicas. Where few axes
// are in play its bytes are compared with those of an exhaustive search.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpret/Interpreter.h"
#include "passes/analysis/ReshardPath.h"
#include "passes/partition/Partition.h"
#include "tools/weft-trials/Diagnostics.h"
#include "tools/weft-trials/Random.h"
#include "tools/weft-trials/Report.h"
#include "tools/weft-trials/ReshardSearch.h"
#include "tools/weft-trials/Trials.h"

#include "absl/strings/str_cat.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <cstdio>

using namespace mlir;

namespace weft::trials {
namespace {

using interpret::Tensor;

constexpr int64_t kMostRanks = 16, kFewAxes = 3;

struct ReshardCase {
  dist::MeshAttr mesh;
  SmallVector<int64_t> shape;
  Type element;
  dist::Placement from, to;

  std::string text() const {
    std::string ranks, sizes;
    for (int64_t size : mesh.getSizes())
      absl::StrAppend(&ranks, ranks.empty() ? "" : "x", size);
    for (int64_t size : shape)
      absl::StrAppend(&sizes, sizes.empty() ? "" : "x", size);
    return absl::StrCat("mesh ", ranks, ", shape ", sizes, ", ", dist::describe(from), " -> ",
                        dist::describe(to));
  }
};

dist::MeshAttr drawMesh(MLIRContext *context, Random &random, int64_t fewestAxes) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  int64_t axes = random.integer(fewestAxes, 4), ranks = 1;
  for (int64_t axis = 0; axis < axes; ++axis) {
    // Four axes are within the bound at size two alone.
    int64_t size = axes == 4 ? 2 : random.choose<int64_t>({2, 2, 2, 3, 3, 4, 5, 7});
    if (ranks * size > kMostRanks)
      size = 2;
    if (ranks * size > kMostRanks)
      break;
    ranks *= size;
    names.push_back(StringAttr::get(context, absl::StrCat("a", axis)));
    sizes.push_back(size);
  }
  return dist::MeshAttr::get(context, names, sizes, DictionaryAttr::get(context, {}));
}

/// Each axis splits a dimension, or is pending, or neither. Axes are taken in random order, so that any may
/// be the major one.
dist::Placement drawPlacement(Random &random, dist::MeshAttr mesh, int64_t rank, dist::PendingKind kind,
                              const dist::Placement *before) {
  dist::Placement placement = dist::replicated(mesh, rank);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, mesh.getSizes().size()));
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.integer(0, static_cast<int64_t>(i) - 1)]);
  for (int64_t axis : order) {
    int64_t where = random.integer(-2, rank - 1);
    if (where >= 0)
      placement.splits[where].axes.push_back(axis);
    bool maySum = !before || llvm::is_contained(before->sum, axis) || before->isReplicatedOver(axis);
    bool mayStay = !before || llvm::is_contained(before->pending(kind), axis);
    if (where == -1 && (kind == dist::PendingKind::sum ? maySum : mayStay))
      placement.pending(kind).push_back(axis);
  }
  llvm::sort(placement.pending(kind));
  return placement;
}

/// Now and then a dimension is split in zigzag, where its size allows that.
void drawZigzags(Random &random, ArrayRef<int64_t> shape, dist::Placement &placement) {
  for (auto [size, split] : llvm::zip_equal(shape, placement.splits))
    split.zigzag =
        !split.axes.empty() && size % (2 * placement.mesh.sizeOf(split.axes)) == 0 && random.chance(0.5);
}

/// Some pairs that have often been wrong come first; the seed alone says which.
ReshardCase drawCase(MLIRContext *context, uint64_t seed) {
  Random random(seed);
  uint64_t kind = seed % 16;
  bool isNamed = kind < 2;
  ReshardCase item;
  item.mesh = drawMesh(context, random, isNamed ? 2 : 1);
  int64_t rank = isNamed ? 2 : random.integer(1, 3);
  for (int64_t d = 0; d < rank; ++d)
    item.shape.push_back(random.chance(0.3) ? random.choose<int64_t>({2, 4, 6, 8, 8, 10, 12, 16, 24})
                                            : random.integer(1, 13));
  Builder builder(context);
  item.element = random.choose<Type>(
      {builder.getF32Type(), builder.getBF16Type(), builder.getI32Type(), builder.getI64Type()});
  if (isNamed) {
    item.from = item.to = dist::replicated(item.mesh, rank);
    item.to.splits[0].axes = {kind == 0 ? 1 : 0}, item.to.splits[1].axes = {kind == 0 ? 0 : 1};
    if (kind == 0) // [[0],[1]] -> [[1],[0]]
      item.from.splits[0].axes = {0}, item.from.splits[1].axes = {1};
    else // [[0,1]] -> [[0],[1]]
      item.from.splits[0].axes = {0, 1};
    return item;
  }
  auto drawKind = [&](bool mayMaximum, bool mayLogarithm, bool mayTree) {
    dist::PendingKind drawn =
        random.choose({dist::PendingKind::sum, dist::PendingKind::sum, dist::PendingKind::max,
                       dist::PendingKind::lse, dist::PendingKind::tree});
    bool may = drawn == dist::PendingKind::max    ? mayMaximum
               : drawn == dist::PendingKind::lse  ? mayLogarithm
               : drawn == dist::PendingKind::tree ? mayTree
                                                  : true;
    return may ? drawn : dist::PendingKind::sum;
  };
  bool isFloat = isa<FloatType>(item.element);
  bool hasHalves = llvm::all_of(item.mesh.getSizes(), [](int64_t size) { return llvm::isPowerOf2_64(size); });
  item.from = drawPlacement(random, item.mesh, rank, drawKind(true, isFloat, isFloat && hasHalves), nullptr);
  item.to = drawPlacement(random, item.mesh, rank,
                          drawKind(!item.from.max.empty(), !item.from.lse.empty(), !item.from.tree.empty()),
                          &item.from);
  // What stays of a tree is its upper levels.
  size_t stays = 0;
  while (stays < item.to.tree.size() && item.to.tree[stays] == item.from.tree[stays])
    ++stays;
  item.to.tree.truncate(stays);
  drawZigzags(random, item.shape, item.from);
  drawZigzags(random, item.shape, item.to);
  return item;
}

/// Element number i is +-(i + 1): none is like another.
Tensor numbered(const ReshardCase &item) {
  RankedTensorType type = RankedTensorType::get(item.shape, item.element);
  Tensor value = *reference::makeZeros(*interpret::tensorTypeOf(type));
  auto fill = [](auto &values) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = (i % 2 == 0 ? 1 : -1) * static_cast<int64_t>(i + 1);
  };
  isFloat(value.dtype) ? fill(value.reals) : fill(value.integers);
  return value;
}

/// A function that reshards its argument.
OwningOpRef<ModuleOp> buildProgram(MLIRContext *context, const ReshardCase &item) {
  Location location = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  RankedTensorType from = dist::globalType(item.shape, item.element, item.from),
                   to = dist::globalType(item.shape, item.element, item.to);
  auto function = func::FuncOp::create(builder, location, "main", builder.getFunctionType({from}, {to}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value result = dist::ReshardOp::create(builder, location, to, function.getArgument(0));
  func::ReturnOp::create(builder, location, result);
  return module;
}

/// Breaks the first collective that can be broken so; many cases have none.
void breakProgram(ModuleOp module, const std::string &sabotage) {
  module.walk([&](Operation *op) {
    if (sabotage == "reduction" && isa<dist::AllReduceStartOp>(op)) {
      (*op->user_begin())->getResult(0).replaceAllUsesWith(op->getOperand(0));
      return WalkResult::interrupt();
    }
    auto axes = op->getAttrOfType<ArrayAttr>("axes");
    if (sabotage == "order" && axes && axes.size() > 1 &&
        !isa<dist::AllReduceStartOp, dist::KeepFirstOp>(op)) {
      op->setAttr("axes", ArrayAttr::get(op->getContext(), llvm::to_vector(llvm::reverse(axes))));
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
}

Whereabouts whereabouts(const dist::Placement &placement) {
  Whereabouts at;
  for (const dist::Split &split : placement.splits) {
    at.splits.emplace_back(split.axes.begin(), split.axes.end());
    at.zigzag.push_back(split.zigzag);
  }
  at.sum.assign(placement.sum.begin(), placement.sum.end());
  at.max.assign(placement.max.begin(), placement.max.end());
  at.lse.assign(placement.lse.begin(), placement.lse.end());
  at.tree.assign(placement.tree.begin(), placement.tree.end());
  return at;
}

void checkBytes(const ReshardCase &item, const std::string &sabotage, Report &report) {
  if (item.mesh.getSizes().size() > kFewAxes)
    return;
  int64_t elementBytes = (item.element.getIntOrFloatBitWidth() + 7) / 8;
  double path = totalBytes(reshardPath(item.shape, elementBytes, item.from, item.to));
  if (sabotage == "bytes")
    path = 1.5 * path + 1;
  std::vector<int64_t> sizes(item.mesh.getSizes().begin(), item.mesh.getSizes().end());
  double best = fewestBytes(sizes, {item.shape.begin(), item.shape.end()}, elementBytes,
                            whereabouts(item.from), whereabouts(item.to));
  report.compare("bytes", std::max(0.0, path - best), 1e-6 * std::max(best, 1.0),
                 absl::StrCat(item.text(), ": ", path, " bytes a rank, ", best, " are enough"));
}

void runCase(MLIRContext &context, const ReshardCase &item, const std::string &sabotage, Report &report) {
  for (auto [has, note] : {std::pair(!item.from.sum.empty(), "pending sum"),
                           std::pair(!item.from.max.empty(), "pending maximum"),
                           std::pair(!item.from.lse.empty(), "pending log-sum-exp"),
                           std::pair(!item.from.tree.empty(), "pending tree"),
                           std::pair(!item.to.sum.empty(), "to a pending sum")})
    if (has)
      report.note(note);
  bool isUneven = false, hasSeveral = false, isZigzag = false;
  for (const dist::Placement &placement : {item.from, item.to})
    for (auto [size, split] : llvm::zip_equal(item.shape, placement.splits)) {
      isUneven |= !dist::dividesEvenly(item.mesh, size, split);
      hasSeveral |= split.axes.size() > 1;
      isZigzag |= split.zigzag;
    }
  if (isUneven)
    report.note("uneven");
  if (hasSeveral)
    report.note("several axes in a dimension");
  if (isZigzag)
    report.note("zigzag");
  OwningOpRef<ModuleOp> module = buildProgram(&context, item);
  DiagnosticText diagnostics(&context);
  PassManager manager(&context);
  manager.addPass(createPartition());
  if (failed(verify(*module)) || failed(manager.run(*module)))
    return report.fail(absl::StrCat(item.text(), ": ", diagnostics.text()));
  breakProgram(*module, sabotage);
  Tensor value = numbered(item);
  FailureOr<std::vector<Tensor>> result = interpret::Interpreter(interpret::Types::Exact)
                                              .run(module->lookupSymbol<func::FuncOp>("main"), {value}, {});
  if (failed(result))
    return report.fail(absl::StrCat(item.text(), ": ", diagnostics.text()));
  double different = 0;
  for (size_t i = 0; i < value.reals.size(); ++i)
    different += (*result)[0].reals[i] != value.reals[i];
  for (size_t i = 0; i < value.integers.size(); ++i)
    different += (*result)[0].integers[i] != value.integers[i];
  report.compare("values", different, 0, absl::StrCat(item.text(), ": so many elements differ"));
  checkBytes(item, sabotage, report);
}

} // namespace

int runReshardTrials(const Options &options) {
  if (!options.sabotage.empty() && options.sabotage != "reduction" && options.sabotage != "order" &&
      options.sabotage != "bytes") {
    std::fprintf(stderr, "reshard: --sabotage takes reduction, order or bytes, not %s\n",
                 options.sabotage.c_str());
    return 2;
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<nn::NnDialect, dist::DistDialect, func::FuncDialect>();
  Report report("reshard", options.sabotage.empty() ? "" : " --sabotage " + options.sabotage);
  Deadline deadline(options.minutes);
  std::printf(
      "values: element by element, with equal replicas; bytes a rank: never more than an exhaustive search "
      "finds (meshes of up to %d axes)\n",
      static_cast<int>(kFewAxes));
  for (int64_t index = 0; index < options.count && !deadline.passed(); ++index) {
    uint64_t seed = options.seed + static_cast<uint64_t>(index);
    ReshardCase item = drawCase(&context, seed);
    report.beginCase(absl::StrCat("axes of the mesh: ", item.mesh.getSizes().size()), seed);
    runCase(context, item, options.sabotage, report);
    report.endCase();
  }
  return report.close();
}

} // namespace weft::trials
