//===- Rematerialize.cpp - Cheap values are computed again ------------------===//
//
// What a forward computes for its backward lies in memory while all layers behind it run. A value that one
// pass over values gives which lie there anyway (a norm, an activation) need not: it is computed again where
// it is read next. Chen et al., "Training deep nets with sublinear memory cost" (arXiv:1604.06174), for ops
// that cost next to nothing. Taken are the values that live across the most bytes, largest first, for as long
// as there is one: what does not lower the peak stays as it is.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "dialects/sched/Views.h"
#include "passes/analysis/KernelCache.h"
#include "passes/analysis/KernelCalls.h"
#include "passes/fuse/Fuse.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>
#include <vector>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_REMATERIALIZE
#include "passes/fuse/Passes.h.inc"

namespace {
/// Kernels whose time is that of reading their operands once.
constexpr StringRef kCheapKernels[] = {"elementwise", "rms_norm", "layer_norm"};

int64_t bytesOf(Value value) { return toTensorType(nn::tensorType(value)).bytes(); }

class Rematerializer {
public:
  Rematerializer(Block &block, KernelCache &kernels) : block(block), kernels(kernels) {
    for (Operation &op : block)
      places[&op] = count++;
  }

  FailureOr<Rematerialized> run() {
    if (failed(measure()))
      return failure();
    Rematerialized result;
    Peak peak = findPeak();
    const int64_t before = peak.bytes;
    for (SmallVector<Candidate> found = candidatesAt(peak); !found.empty(); found = candidatesAt(peak)) {
      const int64_t place = peak.place;
      for (const Candidate &candidate : found) {
        // What was computed again meanwhile may be what this one is computed from.
        std::optional<Candidate> still = candidateOf(candidate.value, peak);
        if (!still)
          continue;
        repeat(*still);
        ++result.launches;
        peak = findPeak();
        if (peak.place != place)
          break;
      }
    }
    result.bytes = before - peak.bytes;
    return result;
  }

private:
  struct Peak {
    int64_t place = 0, bytes = 0;
  };
  /// A result that is read at `next`, and not between the peak and there.
  struct Candidate {
    OpResult value;
    Operation *next;
  };

  /// Where the last op that reads the memory of `value` stands.
  int64_t lastRead(Value value) const {
    int64_t last = places.lookup(value.getDefiningOp());
    for (Operation *user : value.getUsers())
      last = std::max(last, isa<sched::ViewOp>(user) ? lastRead(user->getResult(0)) : places.lookup(user));
    return last;
  }

  /// Bytes of results and workspaces that live at each place.
  LogicalResult measure() {
    live.assign(static_cast<size_t>(count) + 1, 0);
    for (auto launch : block.getOps<sched::LaunchOp>()) {
      const Kernel *kernel = kernels.lookup(launch);
      if (!kernel)
        return failure();
      const auto place = static_cast<size_t>(places.lookup(launch));
      live[place] += kernel->workspaceBytes();
      live[place + 1] -= kernel->workspaceBytes();
      for (Value result : launch.getResults()) {
        live[place] += bytesOf(result);
        live[static_cast<size_t>(lastRead(result)) + 1] -= bytesOf(result);
      }
    }
    for (size_t place = 1; place < live.size(); ++place)
      live[place] += live[place - 1];
    return success();
  }

  /// The first place where the most bytes live at once.
  Peak findPeak() const {
    const auto most = std::max_element(live.begin(), live.end());
    return {most - live.begin(), *most};
  }

  /// The largest first, of equal ones in the order of the block.
  SmallVector<Candidate> candidatesAt(const Peak &peak) const {
    SmallVector<Candidate> found;
    for (auto launch : block.getOps<sched::LaunchOp>()) {
      if (places.lookup(launch) >= peak.place)
        break;
      if (llvm::is_contained(kCheapKernels, launch.getKernel()))
        for (OpResult result : launch->getResults())
          if (std::optional<Candidate> candidate = candidateOf(result, peak))
            found.push_back(*candidate);
    }
    llvm::stable_sort(
        found, [](const Candidate &a, const Candidate &b) { return bytesOf(a.value) > bytesOf(b.value); });
    return found;
  }

  std::optional<Candidate> candidateOf(OpResult result, const Peak &peak) const {
    Operation *launch = result.getOwner(), *next = nullptr;
    for (Operation *user : result.getUsers()) {
      const int64_t place = places.lookup(user);
      if (isa<sched::ViewOp>(user) ? lastRead(user->getResult(0)) >= peak.place : place == peak.place)
        return std::nullopt; // read at the peak, or through a view that stands before it
      if (place > peak.place && (!next || place < places.lookup(next)))
        next = user;
    }
    if (!next || isa<sched::StoreOp, nn::WriteOp>(next)) // what is stored lives on
      return std::nullopt;
    for (Value operand : launch->getOperands()) {
      Value storage = sched::rootOf(operand);
      if (storage.getDefiningOp<sched::LaunchOp>() && lastRead(storage) < places.lookup(next))
        return std::nullopt;
    }
    // Other results of the launch come along: no more than what is gained.
    int64_t others = 0;
    for (OpResult other : launch->getResults())
      others += other == result ? 0 : bytesOf(other);
    return others < bytesOf(result) ? std::optional(Candidate{result, next}) : std::nullopt;
  }

  /// Computes the value a second time before `next`, for it and all that read it later. The copy stands where
  /// `next` stands, so that the places of all others remain.
  void repeat(const Candidate &candidate) {
    OpBuilder builder(candidate.next);
    Operation *again = builder.clone(*candidate.value.getOwner());
    const int64_t place = places.lookup(candidate.next);
    places[again] = place;
    OpResult copy = again->getResult(candidate.value.getResultNumber());
    Value value = candidate.value;
    value.replaceUsesWithIf(copy, [&](OpOperand &use) {
      return use.getOwner() != again && places.lookup(use.getOwner()) >= place;
    });
    for (int64_t gap = lastRead(value) + 1; gap < place; ++gap)
      live[static_cast<size_t>(gap)] -= bytesOf(value);
    for (Value other : again->getResults())
      if (other != copy)
        live[static_cast<size_t>(place)] += bytesOf(other);
  }

  Block &block;
  KernelCache &kernels;
  llvm::DenseMap<Operation *, int64_t> places;
  std::vector<int64_t> live;
  int64_t count = 0;
};

class RematerializePass : public impl::RematerializeBase<RematerializePass> {
public:
  using RematerializeBase::RematerializeBase;
  void runOnOperation() override {
    Rematerialized all;
    KernelCache kernels;
    auto walked = getOperation().walk([&](sched::ActionOp action) {
      FailureOr<Rematerialized> one = Rematerializer(action.getBody().front(), kernels).run();
      if (failed(one))
        return WalkResult::interrupt();
      all.launches += one->launches;
      all.bytes = std::max(all.bytes, one->bytes);
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    if (all.launches == 0)
      return;
    Builder builder(&getContext());
    getOperation()->setAttr("weft.rematerialized", builder.getDenseI64ArrayAttr({all.launches, all.bytes}));
  }
};
} // namespace
} // namespace weft
