#include "passes/fuse/UnrollRings.h"

#include "dialects/dist/Placement.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "passes/analysis/KernelCalls.h"
#include "passes/analysis/LocationText.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace weft {
namespace {

class Unroller {
public:
  Unroller(dist::RingOp ring, bool isStaged) : ring(ring), builder(ring), isStaged(isStaged) {}

  void run() {
    SmallVector<Value> travels(ring.getTravels());
    SmallVector<Value> handed = step(ring.getFirst(), travels, {});
    for (int64_t turn = 1; turn < ring.ranks(); ++turn) {
      travels = shifted(travels);
      moveHome(handed);
      handed = step(ring.getNext(), travels, handed);
    }
    if (ring.ranks() > 1)
      moveHome(handed);
    for (auto [result, value] : llvm::zip_equal(ring.getResults(), handed))
      value.setType(result.getType());
    ring.replaceAllUsesWith(handed);
    ring.erase();
  }

private:
  /// A copy of a region's ops; what it hands on.
  SmallVector<Value> step(Region &region, ValueRange travels, ValueRange handed) {
    IRMapping mapping;
    SmallVector<Value> given(ring.getStays());
    llvm::append_range(given, travels);
    llvm::append_range(given, handed);
    Block &block = region.front();
    mapping.map(block.getArguments(), given);
    for (Operation &op : block.without_terminator())
      builder.clone(op, mapping);
    return llvm::map_to_vector(block.getTerminator()->getOperands(),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  /// Everything that belongs to a block goes on with it.
  SmallVector<Value> shifted(ArrayRef<Value> values) {
    llvm::DenseMap<Value, Value> moved; // what travels under two names moves once
    SmallVector<Value> results;
    for (Value value : values) {
      Value &result = moved[value];
      if (!result)
        result = shift(value);
      results.push_back(result);
    }
    return results;
  }

  void moveHome(MutableArrayRef<Value> handed) {
    MutableArrayRef<Value> home = handed.take_back(ring.getHome().size());
    llvm::copy(shifted(home), home.begin());
  }

  Value shift(Value value) {
    KernelCall call;
    call.name = "shift";
    SmallVector<int64_t, 4> axes = ring.axisIndices();
    call.setIntegers("axes", {axes.begin(), axes.end()});
    if (isStaged)
      call.setInteger("staged", ring.ranks());
    // Ranks that meet in different collectives are told which.
    if (std::string where = locationText(ring.getLoc()); !where.empty())
      call.setText("location", where);
    call.operands = call.results = {toTensorType(nn::tensorType(value))};
    Value result = createLaunch(builder, ring.getLoc(), call, value).getResult(0);
    result.setType(value.getType()); // until all types are erased
    return result;
  }

  dist::RingOp ring;
  OpBuilder builder;
  bool isStaged;
};
} // namespace

void unrollRings(Block &block, bool isStaged) {
  for (auto ring : llvm::make_early_inc_range(block.getOps<dist::RingOp>()))
    Unroller(ring, isStaged).run();
}

} // namespace weft
