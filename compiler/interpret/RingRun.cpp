//===- RingRun.cpp - Running dist.ring: step after step around the ring -------===//
//
// Literally the loop: blocks are handed on between steps, and each rank computes with the one that it has.
//
//===----------------------------------------------------------------------===//
#include "compiler/interpret/Context.h"

#include <utility>

using namespace mlir;

namespace weft::interpret {
namespace {

/// What each rank gets from the rank before it.
MeshValue handedOn(const Ranks &ranks, const MeshValue &value, ArrayRef<uint32_t> axes) {
  MeshValue moved;
  for (int64_t rank = 0; rank < ranks.count(); ++rank) {
    std::vector<int64_t> group = ranks.mesh().group(rank, axes);
    auto members = static_cast<int64_t>(group.size());
    moved.push_back(value[group[(ranks.mesh().indexOf(rank, axes) + members - 1) % members]]);
  }
  return moved;
}

} // namespace

FailureOr<Interpreter::Values> Interpreter::evaluateRing(dist::RingOp ring, ArrayRef<MeshValue> operands,
                                                         Context &context) {
  std::vector<uint32_t> axes = axisIndices(ring.axisIndices());
  size_t stays = ring.getStays().size(), home = ring.getHome().size();
  auto handOn = [&](MutableArrayRef<MeshValue> values) {
    for (MeshValue &value : values)
      value = handedOn(context.ranks, value, axes);
  };
  // A step's values are partial: only what the whole turn gives has a meaning to show.
  Observer *shown = std::exchange(observer, nullptr);
  Values given(operands);
  FailureOr<Values> handed = runBlock(ring.getFirst().front(), given, context);
  for (int64_t turn = 1; turn < ring.ranks() && succeeded(handed); ++turn) {
    handOn(MutableArrayRef(given).slice(stays, ring.getTravels().size()));
    handOn(MutableArrayRef(*handed).take_back(home));
    given.truncate(operands.size());
    given.append(handed->begin(), handed->end());
    handed = runBlock(ring.getNext().front(), given, context);
  }
  observer = shown;
  if (succeeded(handed))
    handOn(MutableArrayRef(*handed).take_back(home));
  return handed;
}

} // namespace weft::interpret
