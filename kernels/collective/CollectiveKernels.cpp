//===- CollectiveKernels.cpp - What ranks do together ---------------------===//
//
// all_gather, all_reduce, reduce_scatter, all_to_all, shift. Every rank reads what it needs of its peers'
// operands and computes its result: of threads straight from their memory, of processes from the workspace
// (Staging.h). A failure of the exchange is the context's to report (RankContext::status()); the kernel then
// leaves its result as it is.
//
//===----------------------------------------------------------------------===//
#include "kernels/collective/BoxCopy.h"
#include "kernels/collective/Factories.h"
#include "kernels/collective/Fold.h"
#include "kernels/collective/Staging.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace weft::collective {
namespace {

constexpr int64_t kTileElements = 16 * 1024;

/// What every collective is bound to: its group, its call as its peers must call it, and what it reads.
struct Meeting {
  std::shared_ptr<Exchange> exchange;
  CollectiveCall call;
  std::string detail; ///< published as call.detail
  Transfer transfer;

  bool begin(const KernelArguments &arguments) const {
    CollectiveCall named = call;
    named.detail = detail;
    return exchange
        ->begin(named, transfer, {arguments.operands[0], arguments.results[0], arguments.workspace})
        .ok();
  }
};

absl::StatusOr<Meeting> arrange(const KernelCall &call, const RankGroup &group, const RankContext &context,
                                CollectiveOp operation, const std::string &detail) {
  absl::StatusOr<std::shared_ptr<Exchange>> exchange = context.exchange(group.axes);
  if (!exchange.ok())
    return exchange.status();
  WEFT_CHECK_RANK_CALL(expectStaging(call, **exchange));
  Meeting meeting;
  meeting.exchange = *std::move(exchange);
  meeting.call = {
      operation, call.operands[0].dtype, call.operands[0].bytes(), bytesSent(call, group.ranks), {}};
  const std::string location = call.textOr("location", "");
  meeting.detail = absl::StrCat(detail, ", ", call.operands[0].str(), " -> ", call.results[0].str(),
                                location.empty() ? "" : ", ", location);
  return meeting;
}

/// The part of a dimension of `type` that each member reads of every other's tensor.
std::vector<Region> partsToRead(const TensorType &type, size_t dimension, const RankGroup &group) {
  int64_t inner = sizeOfDimensions(type.shape, dimension + 1, type.shape.size()) * byteSize(type.dtype);
  std::vector<Region> regions;
  for (int64_t member = 0; member < group.ranks; ++member) {
    DimensionPart part = group.part(type.shape[dimension], member);
    regions.push_back({part.start * inner, sizeOfDimensions(type.shape, 0, dimension),
                       type.shape[dimension] * inner, part.valid * inner});
  }
  return regions;
}

/// The staging of a call in which each member reads a part, of `rows` rows, of a dimension of every other's
/// operand.
absl::StatusOr<Staging> stagingOfParts(const KernelCall &call, size_t dimension, int64_t rows) {
  const TensorType &type = call.operands[0];
  return Staging::of(call, sizeOfDimensions(type.shape, 0, dimension),
                     rows * sizeOfDimensions(type.shape, dimension + 1, type.shape.size()) *
                         byteSize(type.dtype));
}

/// What each member reads in zigzag: its two chunks are no rows of one stride, so all of every operand.
std::vector<Region> wholesToRead(const TensorType &type, const RankGroup &group) {
  return std::vector<Region>(static_cast<size_t>(group.ranks), {0, 1, 0, type.bytes()});
}

/// A transfer in which member m reads regions[m] of every operand.
Transfer transferOf(const Staging &staging, const std::vector<Region> &regions, int64_t own) {
  std::vector<Region> reads(regions.size(), regions[static_cast<size_t>(own)]);
  return staging.place(std::move(reads), regions, own);
}

/// From one row that is read to the next.
int64_t strideOfReads(const Meeting &meeting) {
  const Region &region = meeting.transfer.reads.front();
  return meeting.exchange->packs() ? region.bytes : region.stride;
}

absl::StatusOr<ReduceKind> readKind(const KernelCall &call) {
  absl::StatusOr<std::string> text = call.text("kind");
  if (!text.ok())
    return text.status();
  std::optional<ReduceKind> kind = reduceKindFromName(*text);
  if (!kind)
    return invalidCall(call, "kind \"", *text, "\" is none of sum, max, min, lse, tree");
  if (!findFold(*kind, call.operands[0].dtype))
    return *kind == ReduceKind::LogSumExp
               ? invalidCall(call, "only floats have a log-sum-exp, got ", call.operands[0].str())
               : invalidCall(call, "i1 has no sum; reduce it with max or min");
  return *kind;
}

} // namespace

/// Parts that follow each other in the result are read into their place; others go through the workspace.
KernelOrError createAllGather(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 1, 1));
  absl::StatusOr<size_t> dimension = readDimension(call, "dimension");
  if (!dimension.ok())
    return dimension.status();
  WEFT_CHECK_RANK_CALL(expectSameButFor(call, std::array{*dimension}));
  absl::StatusOr<bool> zigzag = readZigzag(call, "zigzag");
  if (!zigzag.ok())
    return zigzag.status();
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  const TensorType &part = call.operands[0], &whole = call.results[0];
  const bool follow = sizeOfDimensions(whole.shape, 0, *dimension) == 1 && !*zigzag;
  absl::StatusOr<Staging> staging = Staging::of(call, 1, follow ? 0 : part.bytes());
  if (!staging.ok())
    return staging.status();
  if (!context)
    return makeKernelWithoutRank({.workspaceBytes = staging->workspaceBytes()});
  const int64_t size = whole.shape[*dimension];
  WEFT_CHECK_RANK_CALL(expectPart(call, *group, size, part.shape[*dimension], *zigzag));
  absl::StatusOr<Meeting> meeting =
      arrange(call, *group, *context, CollectiveOp::AllGather,
              absl::StrCat("dimension ", *dimension, *zigzag ? " in zigzag" : ""));
  if (!meeting.ok())
    return meeting.status();
  const int64_t rowBytes = part.bytes() / part.shape[*dimension]; // of the parts that follow each other
  std::vector<BoxCopy> copies;
  std::vector<Region> reads;
  std::vector<int64_t> places;
  for (int64_t member = 0; member < group->ranks; ++member) {
    DimensionPart of = group->part(size, member);
    for (const PartStretch &stretch : group->stretches(size, member, *zigzag)) {
      copies.push_back(BoxCopy::along(*dimension, part, stretch.part, whole, stretch.whole, stretch.rows));
      copies.back().source = static_cast<size_t>(member);
    }
    reads.push_back({0, 1, 0, follow ? of.valid * rowBytes : part.bytes()});
    places.push_back(of.start * rowBytes);
  }
  std::vector<Region> sends(reads.size(), reads[static_cast<size_t>(group->index)]);
  meeting->transfer = staging->place(std::move(reads), std::move(sends), group->index);
  if (follow) {
    meeting->transfer.landings = std::move(places);
    meeting->transfer.landsInResult = true;
  }
  return makeRankKernel(
      [meeting = *std::move(meeting), copies](const KernelArguments &arguments, ThreadPool &threads) {
        if (!meeting.begin(arguments))
          return;
        runCopies(copies, meeting.exchange->sources(), arguments.results[0], threads);
        meeting.exchange->end();
      },
      {.workspaceBytes = staging->workspaceBytes()});
}

/// Each rank folds one stretch of elements into its own result, then takes the others' stretches. The result
/// may be the operand: a rank's stretch of every operand is read by that rank alone.
KernelOrError createAllReduce(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 1, 1));
  WEFT_CHECK_RANK_CALL(expectSameButFor(call, {}));
  absl::StatusOr<ReduceKind> kind = readKind(call);
  if (!kind.ok())
    return kind.status();
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  const TensorType &type = call.operands[0];
  const int64_t elementBytes = byteSize(type.dtype), elements = type.elements();
  auto stretchOver = [&](int64_t ranks) {
    constexpr int64_t kTogether = 64; // no two ranks write to one line of the cache
    return ((elements + ranks - 1) / ranks + kTogether - 1) / kTogether * kTogether;
  };
  absl::StatusOr<Staging> staging = Staging::of(call, 1, 0);
  if (staging.ok())
    staging = Staging::of(call, 1, stretchOver(staging->ranks) * elementBytes);
  if (!staging.ok())
    return staging.status();
  const KernelMemory memory{.isInPlace = true, .workspaceBytes = staging->workspaceBytes()};
  if (!context)
    return makeKernelWithoutRank(memory);
  absl::StatusOr<Meeting> meeting =
      arrange(call, *group, *context, CollectiveOp::AllReduce, std::string(name(*kind)));
  if (!meeting.ok())
    return meeting.status();
  FoldFunction fold = findFold(*kind, type.dtype);
  std::vector<Region> regions;
  std::vector<Piece> pieces;
  for (int64_t member = 0; member < group->ranks; ++member) {
    const int64_t each = stretchOver(group->ranks), first = std::min(elements, member * each);
    const int64_t count = std::min(elements, first + each) - first;
    pieces.push_back({first * elementBytes, count * elementBytes});
    regions.push_back({first * elementBytes, 1, 0, count * elementBytes});
  }
  meeting->transfer = transferOf(*staging, regions, group->index);
  const Piece own = pieces[static_cast<size_t>(group->index)];
  return makeRankKernel(
      [=, meeting = *std::move(meeting), pieces = std::move(pieces)](const KernelArguments &arguments,
                                                                     ThreadPool &threads) {
        if (!meeting.begin(arguments))
          return;
        auto *stretch = static_cast<std::byte *>(arguments.results[0]) + own.offset;
        const int64_t count = own.bytes / elementBytes;
        threads.forEachTile((count + kTileElements - 1) / kTileElements, [&](int64_t tile, int) {
          int64_t begin = tile * kTileElements;
          fold(meeting.exchange->sources(), begin * elementBytes, stretch + begin * elementBytes,
               std::min(kTileElements, count - begin));
        });
        if (meeting.exchange->share(pieces, &threads).ok())
          meeting.exchange->end();
      },
      memory);
}

KernelOrError createReduceScatter(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 1, 1));
  absl::StatusOr<size_t> dimension = readDimension(call, "dimension");
  if (!dimension.ok())
    return dimension.status();
  WEFT_CHECK_RANK_CALL(expectSameButFor(call, std::array{*dimension}));
  absl::StatusOr<ReduceKind> kind = readKind(call);
  if (!kind.ok())
    return kind.status();
  absl::StatusOr<bool> zigzag = readZigzag(call, "zigzag");
  if (!zigzag.ok())
    return zigzag.status();
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  const TensorType &whole = call.operands[0], &part = call.results[0];
  absl::StatusOr<Staging> staging = *zigzag ? Staging::of(call, 1, whole.bytes())
                                            : stagingOfParts(call, *dimension, part.shape[*dimension]);
  if (!staging.ok())
    return staging.status();
  const KernelMemory memory{.workspaceBytes = staging->workspaceBytes()};
  if (!context)
    return makeKernelWithoutRank(memory);
  WEFT_CHECK_RANK_CALL(expectPart(call, *group, whole.shape[*dimension], part.shape[*dimension], *zigzag));
  absl::StatusOr<Meeting> meeting = arrange(
      call, *group, *context, CollectiveOp::ReduceScatter,
      absl::StrCat(std::string(name(*kind)), ", dimension ", *dimension, *zigzag ? " in zigzag" : ""));
  if (!meeting.ok())
    return meeting.status();
  meeting->transfer = transferOf(
      *staging, *zigzag ? wholesToRead(whole, *group) : partsToRead(whole, *dimension, *group), group->index);
  FoldFunction fold = findFold(*kind, whole.dtype);
  DimensionPart own = group->ownPart(whole.shape[*dimension]);
  int64_t elementBytes = byteSize(whole.dtype);
  int64_t outer = sizeOfDimensions(whole.shape, 0, *dimension);
  int64_t inner = sizeOfDimensions(whole.shape, *dimension + 1, whole.shape.size());
  std::vector<PartStretch> stretches = group->stretches(whole.shape[*dimension], group->index, *zigzag);
  if (!*zigzag)
    stretches[0].whole = 0; // what is read begins with it
  int64_t stride = *zigzag ? whole.shape[*dimension] * inner * elementBytes : strideOfReads(*meeting);
  int64_t partRun = own.size * inner, run = stretches[0].rows * inner, // of each stretch
      perOuter = static_cast<int64_t>(stretches.size());
  return makeRankKernel(
      [=, dimension = *dimension, meeting = *std::move(meeting)](const KernelArguments &arguments,
                                                                 ThreadPool &threads) {
        if (!meeting.begin(arguments))
          return;
        auto *result = static_cast<std::byte *>(arguments.results[0]);
        int64_t tiles = (run + kTileElements - 1) / kTileElements; // of one run
        threads.forEachTile(outer * perOuter * tiles, [&](int64_t tile, int) {
          int64_t index = tile / tiles / perOuter, begin = tile % tiles * kTileElements;
          const PartStretch &stretch = stretches[static_cast<size_t>(tile / tiles % perOuter)];
          fold(meeting.exchange->sources(), index * stride + (stretch.whole * inner + begin) * elementBytes,
               result + (index * partRun + stretch.part * inner + begin) * elementBytes,
               std::min(kTileElements, run - begin));
        });
        zeroTail(part, dimension, own.valid, result);
        meeting.exchange->end();
      },
      memory);
}

namespace {
/// What lies in `mine` of the dimension `split` of a peer's tensor, of `splitSize` there, and is `theirs` of
/// the dimension `concat` of the result.
BoxCopy boxOf(const TensorType &from, const TensorType &to, size_t split, int64_t splitSize,
              const PartStretch &mine, size_t concat, const PartStretch &theirs) {
  size_t major = std::min(split, concat), minor = std::max(split, concat);
  BoxCopy copy;
  copy.outer = sizeOfDimensions(from.shape, 0, major);
  copy.middle = sizeOfDimensions(from.shape, major + 1, minor);
  copy.innerBytes = sizeOfDimensions(from.shape, minor + 1, from.shape.size()) * byteSize(from.dtype);
  copy.rowsA = mine.rows, copy.rowsB = theirs.rows;
  copy.from = {splitSize, mine.whole, from.shape[concat], theirs.part};
  copy.to = {to.shape[split], mine.part, to.shape[concat], theirs.whole};
  if (split != major) {
    std::swap(copy.rowsA, copy.rowsB);
    for (BoxCopy::Side *side : {&copy.from, &copy.to}) {
      std::swap(side->sizeA, side->sizeB);
      std::swap(side->startA, side->startB);
    }
  }
  return copy;
}
} // namespace

/// From each peer this rank takes its own part of the split dimension, which becomes the peer's part of the
/// concatenated one.
KernelOrError createAllToAll(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 1, 1));
  absl::StatusOr<size_t> split = readDimension(call, "split_dimension");
  if (!split.ok())
    return split.status();
  absl::StatusOr<size_t> concat = readDimension(call, "concat_dimension");
  if (!concat.ok())
    return concat.status();
  if (*split == *concat)
    return invalidCall(call, "split_dimension and concat_dimension are both ", *split);
  WEFT_CHECK_RANK_CALL(expectSameButFor(call, std::array{*split, *concat}));
  absl::StatusOr<bool> splitZigzag = readZigzag(call, "split_zigzag");
  absl::StatusOr<bool> concatZigzag = readZigzag(call, "concat_zigzag");
  for (const absl::Status &status : {splitZigzag.status(), concatZigzag.status()})
    WEFT_CHECK_RANK_CALL(status);
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  const TensorType &from = call.operands[0], &to = call.results[0];
  absl::StatusOr<Staging> staging =
      *splitZigzag ? Staging::of(call, 1, from.bytes()) : stagingOfParts(call, *split, to.shape[*split]);
  if (!staging.ok())
    return staging.status();
  const KernelMemory memory{.workspaceBytes = staging->workspaceBytes()};
  if (!context)
    return makeKernelWithoutRank(memory);
  WEFT_CHECK_RANK_CALL(expectPart(call, *group, from.shape[*split], to.shape[*split], *splitZigzag));
  WEFT_CHECK_RANK_CALL(expectPart(call, *group, to.shape[*concat], from.shape[*concat], *concatZigzag));
  absl::StatusOr<Meeting> meeting =
      arrange(call, *group, *context, CollectiveOp::AllToAll,
              absl::StrCat("split ", *split, *splitZigzag ? " in zigzag" : "", ", concat ", *concat,
                           *concatZigzag ? " in zigzag" : ""));
  if (!meeting.ok())
    return meeting.status();
  meeting->transfer = transferOf(
      *staging, *splitZigzag ? wholesToRead(from, *group) : partsToRead(from, *split, *group), group->index);
  DimensionPart own = group->ownPart(from.shape[*split]);
  // Where rows are packed, a peer's tensor has nothing of the split dimension but this rank's part.
  const int64_t splitSize = meeting->exchange->packs() && !*splitZigzag ? own.valid : from.shape[*split];
  std::vector<PartStretch> ownStretches = group->stretches(from.shape[*split], group->index, *splitZigzag);
  if (!*splitZigzag)
    ownStretches[0].whole = 0; // what is read begins with it
  std::vector<BoxCopy> copies;
  for (int64_t member = 0; member < group->ranks; ++member)
    for (const PartStretch &theirs : group->stretches(to.shape[*concat], member, *concatZigzag))
      for (const PartStretch &mine : ownStretches) {
        copies.push_back(boxOf(from, to, *split, splitSize, mine, *concat, theirs));
        copies.back().source = static_cast<size_t>(member);
      }
  return makeRankKernel(
      [=, split = *split, meeting = *std::move(meeting)](const KernelArguments &arguments,
                                                         ThreadPool &threads) {
        if (!meeting.begin(arguments))
          return;
        runCopies(copies, meeting.exchange->sources(), arguments.results[0], threads);
        zeroTail(to, split, own.valid, arguments.results[0]);
        meeting.exchange->end();
      },
      memory);
}

/// Each rank takes what the rank before it has, the first what the last one has: a step of a ring. It is read
/// into its place.
KernelOrError createShift(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 1, 1));
  WEFT_CHECK_RANK_CALL(expectSameButFor(call, {}));
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  absl::StatusOr<Staging> staging = Staging::of(call, 1, 0);
  if (!staging.ok())
    return staging.status();
  const KernelMemory memory{.workspaceBytes = staging->workspaceBytes()};
  if (!context)
    return makeKernelWithoutRank(memory);
  absl::StatusOr<Meeting> meeting = arrange(call, *group, *context, CollectiveOp::Shift, "to the next rank");
  if (!meeting.ok())
    return meeting.status();
  constexpr int64_t kTileBytes = 64 * 1024;
  const int64_t bytes = call.operands[0].bytes(), ranks = group->ranks;
  const auto before = static_cast<size_t>((group->index + ranks - 1) % ranks),
             next = static_cast<size_t>((group->index + 1) % ranks);
  std::vector<Region> reads(static_cast<size_t>(ranks)), sends(static_cast<size_t>(ranks));
  reads[before] = sends[next] = {0, 1, 0, bytes};
  meeting->transfer = staging->place(std::move(reads), std::move(sends), group->index);
  meeting->transfer.landings.assign(static_cast<size_t>(ranks), 0);
  meeting->transfer.landsInResult = true;
  return makeRankKernel(
      [=, meeting = *std::move(meeting)](const KernelArguments &arguments, ThreadPool &threads) {
        if (!meeting.begin(arguments))
          return;
        const auto *from = static_cast<const std::byte *>(meeting.exchange->sources()[before]);
        auto *to = static_cast<std::byte *>(arguments.results[0]);
        // Between processes it is there already.
        threads.forEachTile(from == to ? 0 : (bytes + kTileBytes - 1) / kTileBytes, [&](int64_t tile, int) {
          int64_t begin = tile * kTileBytes;
          std::memcpy(to + begin, from + begin, static_cast<size_t>(std::min(kTileBytes, bytes - begin)));
        });
        meeting.exchange->end();
      },
      memory);
}

} // namespace weft::collective
