//===- CollectiveKernels.cpp - What ranks do together ---------------------===//
//
// all_gather, all_reduce, reduce_scatter, all_to_all, shift. Every rank reads what it needs from its peers'
// memory: nothing is copied twice, and nothing is packed. A failure of begin() is the context's to report
// (RankContext::status()); the kernel then leaves its result as it is.
//
//===----------------------------------------------------------------------===//
#include "kernels/collective/BoxCopy.h"
#include "kernels/collective/Factories.h"
#include "kernels/collective/Fold.h"

#include <algorithm>
#include <cstring>

namespace weft::collective {
namespace {

constexpr int64_t kTileElements = 16 * 1024;

/// What every collective is bound to: its group, and its call as its peers must call it.
struct Meeting {
  std::shared_ptr<Exchange> exchange;
  CollectiveCall call;
  std::string detail; ///< published as call.detail

  bool begin(const KernelArguments &arguments) const {
    CollectiveCall named = call;
    named.detail = detail;
    return exchange->begin(named, arguments.operands[0], arguments.results[0]).ok();
  }
};

absl::StatusOr<Meeting> arrange(const KernelCall &call, const RankGroup &group, const RankContext &context,
                                CollectiveOp operation, const std::string &detail) {
  absl::StatusOr<std::shared_ptr<Exchange>> exchange = context.exchange(group.axes);
  if (!exchange.ok())
    return exchange.status();
  Meeting meeting;
  meeting.exchange = *std::move(exchange);
  meeting.call = {
      operation, call.operands[0].dtype, call.operands[0].bytes(), bytesSent(call, group.ranks), {}};
  const std::string location = call.textOr("location", "");
  meeting.detail = absl::StrCat(detail, ", ", call.operands[0].str(), " -> ", call.results[0].str(),
                                location.empty() ? "" : ", ", location);
  return meeting;
}

absl::StatusOr<ReduceKind> readKind(const KernelCall &call) {
  absl::StatusOr<std::string> text = call.text("kind");
  if (!text.ok())
    return text.status();
  std::optional<ReduceKind> kind = reduceKindFromName(*text);
  if (!kind)
    return invalidCall(call, "kind \"", *text, "\" is none of sum, max, min, lse");
  if (!findFold(*kind, call.operands[0].dtype))
    return *kind == ReduceKind::LogSumExp
               ? invalidCall(call, "only floats have a log-sum-exp, got ", call.operands[0].str())
               : invalidCall(call, "i1 has no sum; reduce it with max or min");
  return *kind;
}

} // namespace

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
  if (!context)
    return makeKernelWithoutRank(false);
  const TensorType &part = call.operands[0], &whole = call.results[0];
  const int64_t size = whole.shape[*dimension];
  WEFT_CHECK_RANK_CALL(expectPart(call, *group, size, part.shape[*dimension], *zigzag));
  absl::StatusOr<Meeting> meeting =
      arrange(call, *group, *context, CollectiveOp::AllGather,
              absl::StrCat("dimension ", *dimension, *zigzag ? " in zigzag" : ""));
  if (!meeting.ok())
    return meeting.status();
  std::vector<BoxCopy> copies;
  for (int64_t member = 0; member < group->ranks; ++member)
    for (const PartStretch &of : group->stretches(size, member, *zigzag)) {
      copies.push_back(BoxCopy::along(*dimension, part, of.part, whole, of.whole, of.rows));
      copies.back().source = static_cast<size_t>(member);
    }
  return makeRankKernel(
      [meeting = *std::move(meeting), copies](const KernelArguments &arguments, ThreadPool &threads) {
        if (!meeting.begin(arguments))
          return;
        runCopies(copies, meeting.exchange->operands(), arguments.results[0], threads);
        meeting.exchange->end();
      });
}

/// Each rank folds one stretch of elements into its own result, then fetches the others' stretches. The
/// result may be the operand: a rank's stretch of every operand is read by that rank alone.
KernelOrError createAllReduce(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 1, 1));
  WEFT_CHECK_RANK_CALL(expectSameButFor(call, {}));
  absl::StatusOr<ReduceKind> kind = readKind(call);
  if (!kind.ok())
    return kind.status();
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  if (!context)
    return makeKernelWithoutRank(true);
  absl::StatusOr<Meeting> meeting =
      arrange(call, *group, *context, CollectiveOp::AllReduce, std::string(name(*kind)));
  if (!meeting.ok())
    return meeting.status();
  const TensorType &type = call.operands[0];
  FoldFunction fold = findFold(*kind, type.dtype);
  int64_t elementBytes = byteSize(type.dtype), elements = type.elements(), own = group->index;
  constexpr int64_t kTogether = 64; // no two ranks write to one line of the cache
  int64_t each = ((elements + group->ranks - 1) / group->ranks + kTogether - 1) / kTogether * kTogether;
  return makeRankKernel(
      [=, meeting = *std::move(meeting)](const KernelArguments &arguments, ThreadPool &threads) {
        if (!meeting.begin(arguments))
          return;
        auto *result = static_cast<std::byte *>(arguments.results[0]);
        int64_t first = std::min(elements, own * each), past = std::min(elements, first + each);
        threads.forEachTile((past - first + kTileElements - 1) / kTileElements, [&](int64_t tile, int) {
          int64_t begin = first + tile * kTileElements;
          fold(meeting.exchange->operands(), begin * elementBytes, result + begin * elementBytes,
               std::min(kTileElements, past - begin));
        });
        meeting.exchange->meet();
        threads.forEachTile(meeting.exchange->size(), [&](int64_t member, int) {
          int64_t begin = std::min(elements, member * each), end = std::min(elements, begin + each);
          if (member == own || begin == end)
            return;
          const auto *theirs =
              static_cast<const std::byte *>(meeting.exchange->results()[static_cast<size_t>(member)]);
          std::memcpy(result + begin * elementBytes, theirs + begin * elementBytes,
                      static_cast<size_t>((end - begin) * elementBytes));
        });
        meeting.exchange->end();
      },
      true);
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
  if (!context)
    return makeKernelWithoutRank(false);
  const TensorType &whole = call.operands[0], &part = call.results[0];
  WEFT_CHECK_RANK_CALL(expectPart(call, *group, whole.shape[*dimension], part.shape[*dimension], *zigzag));
  absl::StatusOr<Meeting> meeting = arrange(
      call, *group, *context, CollectiveOp::ReduceScatter,
      absl::StrCat(std::string(name(*kind)), ", dimension ", *dimension, *zigzag ? " in zigzag" : ""));
  if (!meeting.ok())
    return meeting.status();
  FoldFunction fold = findFold(*kind, whole.dtype);
  DimensionPart own = group->ownPart(whole.shape[*dimension]);
  std::vector<PartStretch> stretches =
      group->stretches(whole.shape[*dimension], group->index, *zigzag); // of one number of rows
  int64_t elementBytes = byteSize(whole.dtype);
  int64_t outer = sizeOfDimensions(whole.shape, 0, *dimension);
  int64_t inner = sizeOfDimensions(whole.shape, *dimension + 1, whole.shape.size());
  int64_t wholeRun = whole.shape[*dimension] * inner, partRun = own.size * inner,
          run = stretches.front().rows * inner, perOuter = static_cast<int64_t>(stretches.size());
  return makeRankKernel([=, dimension = *dimension, meeting = *std::move(meeting)](
                            const KernelArguments &arguments, ThreadPool &threads) {
    if (!meeting.begin(arguments))
      return;
    auto *result = static_cast<std::byte *>(arguments.results[0]);
    int64_t tiles = (run + kTileElements - 1) / kTileElements; // of one run
    threads.forEachTile(outer * perOuter * tiles, [&](int64_t tile, int) {
      int64_t index = tile / tiles / perOuter, begin = tile % tiles * kTileElements;
      const PartStretch &stretch = stretches[static_cast<size_t>(tile / tiles % perOuter)];
      fold(meeting.exchange->operands(), (index * wholeRun + stretch.whole * inner + begin) * elementBytes,
           result + (index * partRun + stretch.part * inner + begin) * elementBytes,
           std::min(kTileElements, run - begin));
    });
    zeroTail(part, dimension, own.valid, result);
    meeting.exchange->end();
  });
}

namespace {
/// What lies in `mine` of the dimension `split` of the operand `from` and is `theirs` of the dimension
/// `concat` of the result `to`.
BoxCopy boxOf(const TensorType &from, const TensorType &to, size_t split, const PartStretch &mine,
              size_t concat, const PartStretch &theirs) {
  size_t major = std::min(split, concat), minor = std::max(split, concat);
  BoxCopy copy;
  copy.outer = sizeOfDimensions(from.shape, 0, major);
  copy.middle = sizeOfDimensions(from.shape, major + 1, minor);
  copy.innerBytes = sizeOfDimensions(from.shape, minor + 1, from.shape.size()) * byteSize(from.dtype);
  copy.rowsA = mine.rows, copy.rowsB = theirs.rows;
  copy.from = {from.shape[major], mine.whole, from.shape[minor], theirs.part};
  copy.to = {to.shape[major], mine.part, to.shape[minor], theirs.whole};
  if (split != major) {
    std::swap(copy.rowsA, copy.rowsB);
    std::swap(copy.from.startA, copy.from.startB);
    std::swap(copy.to.startA, copy.to.startB);
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
  if (!context)
    return makeKernelWithoutRank(false);
  const TensorType &from = call.operands[0], &to = call.results[0];
  WEFT_CHECK_RANK_CALL(expectPart(call, *group, from.shape[*split], to.shape[*split], *splitZigzag));
  WEFT_CHECK_RANK_CALL(expectPart(call, *group, to.shape[*concat], from.shape[*concat], *concatZigzag));
  absl::StatusOr<Meeting> meeting =
      arrange(call, *group, *context, CollectiveOp::AllToAll,
              absl::StrCat("split ", *split, *splitZigzag ? " in zigzag" : "", ", concat ", *concat,
                           *concatZigzag ? " in zigzag" : ""));
  if (!meeting.ok())
    return meeting.status();
  DimensionPart own = group->ownPart(from.shape[*split]);
  std::vector<BoxCopy> copies;
  for (int64_t member = 0; member < group->ranks; ++member)
    for (const PartStretch &theirs : group->stretches(to.shape[*concat], member, *concatZigzag))
      for (const PartStretch &mine : group->stretches(from.shape[*split], group->index, *splitZigzag)) {
        copies.push_back(boxOf(from, to, *split, mine, *concat, theirs));
        copies.back().source = static_cast<size_t>(member);
      }
  return makeRankKernel([=, split = *split, meeting = *std::move(meeting)](const KernelArguments &arguments,
                                                                           ThreadPool &threads) {
    if (!meeting.begin(arguments))
      return;
    runCopies(copies, meeting.exchange->operands(), arguments.results[0], threads);
    zeroTail(to, split, own.valid, arguments.results[0]);
    meeting.exchange->end();
  });
}

/// Each rank takes what the rank before it has, the first what the last one has: a step of a ring.
KernelOrError createShift(const KernelCall &call, const RankContext *context) {
  WEFT_CHECK_RANK_CALL(expectTensors(call, 1, 1));
  WEFT_CHECK_RANK_CALL(expectSameButFor(call, {}));
  absl::StatusOr<RankGroup> group = readGroup(call, context);
  if (!group.ok())
    return group.status();
  if (!context)
    return makeKernelWithoutRank(false);
  absl::StatusOr<Meeting> meeting = arrange(call, *group, *context, CollectiveOp::Shift, "to the next rank");
  if (!meeting.ok())
    return meeting.status();
  constexpr int64_t kTileBytes = 64 * 1024;
  int64_t bytes = call.operands[0].bytes();
  auto before = static_cast<size_t>((group->index + group->ranks - 1) % group->ranks);
  return makeRankKernel(
      [=, meeting = *std::move(meeting)](const KernelArguments &arguments, ThreadPool &threads) {
        if (!meeting.begin(arguments))
          return;
        const auto *from = static_cast<const std::byte *>(meeting.exchange->operands()[before]);
        auto *to = static_cast<std::byte *>(arguments.results[0]);
        threads.forEachTile((bytes + kTileBytes - 1) / kTileBytes, [&](int64_t tile, int) {
          int64_t begin = tile * kTileBytes;
          std::memcpy(to + begin, from + begin, static_cast<size_t>(std::min(kTileBytes, bytes - begin)));
        });
        meeting.exchange->end();
      });
}

} // namespace weft::collective
