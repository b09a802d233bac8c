#include "kernels/collective/Collective.h"

#include "kernels/collective/Factories.h"

#include <algorithm>
#include <array>

namespace weft {
namespace {

using Factory = collective::KernelOrError (*)(const KernelCall &, const RankContext *);
struct Row {
  std::string_view name;
  Factory create;
  bool meetsRanks = true;
};
/// In the order of docs/kernels.md.
constexpr std::array<Row, 14> kTable = {{{"all_gather", collective::createAllGather},
                                         {"all_reduce", collective::createAllReduce},
                                         {"reduce_scatter", collective::createReduceScatter},
                                         {"all_to_all", collective::createAllToAll},
                                         {"shift", collective::createShift},
                                         {"send", collective::createSend},
                                         {"send_wait", collective::createSendWait},
                                         {"receive", collective::createReceive},
                                         {"receive_wait", collective::createReceiveWait},
                                         {"rank_slice", collective::createRankSlice, false},
                                         {"rank_offset", collective::createRankOffset, false},
                                         {"rank_valid", collective::createRankValid, false},
                                         {"rank_first", collective::createRankFirst, false},
                                         {"rank_mask", collective::createRankMask, false}}};

const Row *findRow(std::string_view name) {
  for (const Row &row : kTable)
    if (row.name == name)
      return &row;
  return nullptr;
}

} // namespace

bool isRankKernel(std::string_view name) { return findRow(name) != nullptr; }

bool meetsOtherRanks(std::string_view name) {
  const Row *row = findRow(name);
  return row && row->meetsRanks;
}

std::optional<LineStep> lineStepOf(std::string_view name) {
  constexpr std::array<std::string_view, 4> names = {"send", "send_wait", "receive", "receive_wait"};
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<LineStep>(found - names.begin()));
}

absl::StatusOr<std::unique_ptr<Kernel>> createRankKernel(const KernelCall &call, const RankContext *context) {
  const Row *row = findRow(call.name);
  if (!row)
    return absl::InvalidArgumentError(absl::StrCat("there is no rank kernel ", call.name));
  return row->create(call, context);
}

} // namespace weft
