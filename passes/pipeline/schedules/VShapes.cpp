//===- VShapes.cpp - V-Half and V-Min -------------------------------------===//
//
// A building block (arXiv:2405.15362) says when one microbatch passes each stage, in slots; repeated every
// six slots, one for each pass of a rank's two chunks, it is a schedule whose memory is the block's lifetime.
// The smaller the offsets between ranks, the shorter what is held, and the longer the ranks wait. The block
// gives the order of F and B; W's are placed where ranks would wait, within the memory.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Generators.h"
#include "passes/pipeline/schedules/ListScheduling.h"

#include <algorithm>
#include <array>

namespace weft::schedules {
namespace {

constexpr int kInterval = 6;
constexpr int kLongestGap = 3;

/// Slots from rank to rank of the four passes (first chunk there, second back, and their backwards), and what
/// is waited at the three turns between them.
struct Block {
  std::array<int, 4> offsets;
  std::array<int, 3> gaps;
};

struct Pass {
  int64_t slot;
  Action action;
};

/// The four passes of microbatch 0 on a rank.
std::array<Pass, 4> passesOf(const Block &block, const PipelineSchedule &shape, int rank) {
  const int64_t last = shape.ranks - 1, behind = last - rank;
  const auto &[f0, f1, b1, b0] = block.offsets;
  const int64_t turn = last * f0 + 1 + block.gaps[0], end = turn + last * f1 + 1 + block.gaps[1],
                back = end + last * b1 + 1 + block.gaps[2];
  const int first = shape.stageOf(rank, 0), second = shape.stageOf(rank, 1);
  return {Pass{rank * int64_t(f0), {first, ActionKind::Forward, 0}},
          Pass{turn + behind * f1, {second, ActionKind::Forward, 0}},
          Pass{end + rank * int64_t(b1), {second, ActionKind::BackwardInput, 0}},
          Pass{back + behind * b0, {first, ActionKind::BackwardInput, 0}}};
}

/// Whether no rank has two passes in one slot.
bool fits(const Block &block, const PipelineSchedule &shape) {
  for (int rank = 0; rank < shape.ranks; ++rank) {
    unsigned taken = 0;
    for (const Pass &pass : passesOf(block, shape, rank)) {
      unsigned slot = 1u << (pass.slot % kInterval);
      if (taken & slot)
        return false;
      taken |= slot;
    }
  }
  return true;
}

PipelineSchedule orderOf(const Block &block, const PipelineSchedule &shape) {
  PipelineSchedule order = shape;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    std::vector<Pass> passes;
    for (Pass pass : passesOf(block, shape, rank))
      for (int microbatch = 0; microbatch < shape.microbatches; ++microbatch) {
        pass.action.microbatch = microbatch;
        passes.push_back(pass);
        pass.slot += kInterval;
      }
    std::sort(passes.begin(), passes.end(), [](const Pass &a, const Pass &b) { return a.slot < b.slot; });
    for (const Pass &pass : passes)
      order.actions[rank].push_back(pass.action);
  }
  return order;
}

/// None where the block does not fit, or holds more than the limit.
std::optional<PipelineSchedule> repeat(const Block &block, const PipelineSchedule &shape, int limit) {
  ListPolicy policy;
  policy.heldLimit = limit;
  return placeWeights(orderOf(block, shape), ActionTimes(), policy);
}

/// The block with the shortest span at equal times, judged by few microbatches: further ones repeat.
std::optional<Block> bestBlock(const std::vector<std::array<int, 4>> &offsets, const PipelineSchedule &shape,
                               int limit) {
  PipelineSchedule few = shape;
  few.microbatches = std::min(shape.microbatches, 2 * shape.ranks);
  std::optional<Block> best;
  double bestSpan = 0;
  const auto consider = [&](const Block &block) {
    if (!fits(block, shape))
      return;
    std::optional<PipelineSchedule> made = repeat(block, few, limit);
    if (!made)
      return;
    // What placeWeights makes, it has run in time already.
    double span = simulate(*made, ActionTimes())->span();
    if (!best || span < bestSpan)
      best = block, bestSpan = span;
  };
  for (const std::array<int, 4> &each : offsets)
    for (int gaps = 0; gaps < (kLongestGap + 1) * (kLongestGap + 1) * (kLongestGap + 1); ++gaps)
      consider({each, {gaps % 4, gaps / 4 % 4, gaps / 16}});
  return best;
}

/// At the limit, or the lowest one above at which a block is found: some block fits any number of ranks,
/// because slots repeat after six of them, and a high limit admits it.
PipelineSchedule bestOf(const std::vector<std::array<int, 4>> &offsets, const PipelineSchedule &shape,
                        int limit) {
  while (true) {
    std::optional<Block> block = bestBlock(offsets, shape, limit);
    std::optional<PipelineSchedule> made = block ? repeat(*block, shape, limit) : std::nullopt;
    if (made)
      return *std::move(made);
    ++limit;
  }
}

} // namespace

PipelineSchedule vHalf(const ScheduleShape &shape) {
  return bestOf({{1, 2, 1, 2}, {1, 2, 2, 1}, {1, 1, 2, 2}, {3, 1, 1, 1}},
                makeSchedule("v_half", shape.ranks, 2, shape.microbatches, StageLayout::V), shape.ranks + 2);
}

PipelineSchedule vMin(const ScheduleShape &shape) {
  return bestOf({{1, 1, 1, 1}}, makeSchedule("v_min", shape.ranks, 2, shape.microbatches, StageLayout::V),
                (2 * shape.ranks + 2) / 3 + 2);
}

} // namespace weft::schedules
