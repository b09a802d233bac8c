//===- DataRank.cpp - Which samples a rank reads --------------------------===//
//
// An input is judged by the part that the rank holds, not by how the axes are written: axes of one rank, and
// splits that come to the same part, are as good.
//
//===----------------------------------------------------------------------===//
#include "runtime/train/DataRank.h"

#include "runtime/support/ExitCode.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace weft {

DataRank dataRankOf(const Mesh &mesh, int64_t rank) {
  const std::span<const uint32_t> axes = mesh.axesOf("data");
  DataRank result{mesh.indexOf(rank, axes), mesh.sizeOf(axes), true};
  for (uint32_t axis = 0; axis < mesh.axes.size(); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end() && mesh.coordinate(rank, axis) != 0)
      result.counts = false;
  return result;
}

absl::StatusOr<SequencePart> bindBatchInput(const Executable &executable, const Program &program,
                                            const ProgramInput &input, int64_t rank, const TensorType &each,
                                            bool perMicrobatch) {
  const auto misfit = [&](const std::string &what) {
    return withExitCode(absl::FailedPreconditionError(
                            absl::StrCat("program '", program.name, "': input '", input.name, "' ", what)),
                        ExitCode::Config);
  };
  const bool hasPositions = each.shape.size() > 1;
  TensorType given = input.type; // with whole samples
  if (hasPositions && input.placement.globalShape.size() > 1 && given.shape.size() > 1)
    given.shape[1] = input.placement.globalShape[1];
  if (given != each || input.perMicrobatch != perMicrobatch)
    return misfit(absl::StrCat("is ", given.str(), input.perMicrobatch ? " per microbatch" : " once",
                               ", the run file needs ", each.str(),
                               perMicrobatch ? " per microbatch" : " once",
                               " (train.micro_batch, data.sequence_length)"));
  const DataRank data = dataRankOf(executable.mesh, rank);
  const int64_t length = hasPositions ? each.shape[1] : 1;
  if (data.count == 1 && input.placement.whole())
    return SequencePart(length);
  std::vector<Extent> expected, found = partOf(executable.mesh, rank, input.placement);
  for (size_t d = 0; d < each.shape.size(); ++d)
    expected.push_back({d == 0 ? data.index * each.shape[0] : 0, each.shape[d], each.shape[d]});
  if (hasPositions && found.size() > 1)
    expected[1] = found[1];
  if (found == expected)
    return hasPositions ? SequencePart(executable.mesh, rank, length, input.placement.dimensions[1])
                        : SequencePart(length);
  return misfit(absl::StrCat("is not split over its samples among ", data.count,
                             " data ranks, and over nothing else but their positions: the trainer gives each "
                             "of them samples of its own"));
}

} // namespace weft
