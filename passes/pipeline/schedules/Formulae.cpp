//===- Formulae.cpp - What the literature says of each schedule -----------===//
//
// One row a schedule. ZB-H1 and ZB-H2 are exact for F = B = W, and for other times as long as W's fill what
// waits.
//
//===----------------------------------------------------------------------===//
#include "passes/pipeline/schedules/Formulae.h"

#include <algorithm>

namespace weft::schedules {

std::optional<Formula> formulaOf(const PipelineSchedule &schedule, const ActionTimes &times) {
  const double f = times.forward, b = times.backwardInput, w = times.backwardWeight, all = f + b + w;
  const double p = schedule.ranks, behind = p - 1, m = schedule.microbatches, v = schedule.chunks;
  const std::string_view zeroBubble = "arXiv:2401.10241", controllable = "arXiv:2405.15362";
  const std::string_view name = schedule.name;
  if (name == "gpipe")
    return Formula{"(p-1)(F+B+W)", behind * all, "m", m, true, true, "arXiv:1811.06965"};
  if (name == "1f1b")
    return Formula{"(p-1)(F+B+W)", behind * all, "p", p, true, m >= p, "arXiv:2104.04473"};
  if (name == "interleaved")
    return Formula{"(p-1)(F+B+W)/v", behind * all / v,  "vp+p-1", v * p + behind, true,
                   m >= 2 * p,       "arXiv:2104.04473"};
  if (name == "zb_h1")
    return Formula{"(p-1)(F+B-W)", behind * (f + b - w), "p", p, true, m >= p, zeroBubble};
  if (name == "zb_h2")
    return Formula{"(p-1)(F+B-2W)", behind * (f + b - 2 * w), "2p-1", 2 * p - 1, true, m >= 2 * p - 1,
                   zeroBubble};
  if (name == "zb_v")
    return Formula{"0", 0, "2p", 2 * p, false, m >= 2 * p - 1, zeroBubble};
  if (name == "v_half")
    return Formula{"(p-1)(F+B+W)/2", behind * all / 2, "p", p, false, m >= 2 * p, controllable};
  if (name == "v_min")
    return Formula{"2(p-1)(F+B+W)/3", 2 * behind * all / 3, "2p/3", 2 * p / 3, false,
                   m >= 2 * p,        controllable};
  if (name == "dualpipe_v") // (PP/2-1)(F&B+B-3W) of chunks, PP = 2p, F&B = F+B+W without overlap, B = B+W
    return Formula{"(p-1)(F+2B-W)/2",   behind * (f + 2 * b - w) / 2, "2p+1", 2 * p + 1, false, true,
                   "DeepSeek, DualPipe"};
  return std::nullopt;
}

} // namespace weft::schedules
