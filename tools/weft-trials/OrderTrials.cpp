//===- OrderTrials.cpp - Which sample a run reads, and what it sees ---------===//
//
// Even seeds draw a corpus, a blend, stages, a packing and batches. The samples that loaders of 1, 2, 3 and 8
// data ranks give are the same bits, also those of loaders that begin at any step around the end of a pass;
// a pass gives every sample of an input once; each prefix of a stage has its weights within one sample. Odd
// seeds draw a model (LeakTrials.h).
//
//===----------------------------------------------------------------------===//
#include "tools/weft-trials/LeakTrials.h"
#include "tools/weft-trials/OrderCases.h"
#include "tools/weft-trials/Trials.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/nn/NnDialect.h"
#include "dialects/sched/SchedDialect.h"
#include "kernels/cpu/Cpu.h"
#include "runtime/data/DataLoader.h"
#include "tools/weft-trials/Diagnostics.h"

#include "absl/strings/str_cat.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

using namespace mlir;

namespace weft::trials {
namespace {

/// Steps around the end of a pass at which a run is resumed.
constexpr int64_t kAround = 3;

/// What loaders give, one number behind the other.
struct Read {
  std::vector<int32_t> numbers;
  std::vector<int64_t> sampleIds;
  bool operator==(const Read &) const = default;
};

class OrderTrial {
public:
  explicit OrderTrial(const Options &options)
      : options(options), context(MLIRContext::Threading::DISABLED),
        report("order", options.sabotage.empty() ? "" : " --sabotage " + options.sabotage) {
    context.loadDialect<nn::NnDialect, sched::SchedDialect, dist::DistDialect, func::FuncDialect>();
  }

  void run(uint64_t seed) {
    const bool isOfModel = seed % 2 == 1;
    report.beginCase(isOfModel ? leakKind(seed / 2) : "sequence", seed);
    DiagnosticText diagnostics(&context);
    absl::Status status = isOfModel ? runLeakCase(context, seed / 2, options.sabotage == "segments", report)
                                    : compareOrder(seed);
    if (!status.ok())
      report.fail(absl::StrCat(std::string(status.message()), diagnostics.text()));
    report.endCase();
  }

  int close() const { return report.close(); }

private:
  absl::Status compareOrder(uint64_t seed) {
    absl::StatusOr<std::unique_ptr<OrderCase>> item = OrderCase::draw(seed);
    if (!item.ok())
      return item.status();
    report.note(absl::StrCat("packing ", static_cast<int>((*item)->options.packing)));
    if ((*item)->stages.size() > 1)
      report.note("stages");
    if (absl::Status status = compareRanks(**item); !status.ok())
      return status;
    comparePrefixes(**item);
    return comparePasses(**item);
  }

  /// The samples of steps [first, last), in the order of ranks and microbatches.
  absl::StatusOr<Read> readSteps(const OrderCase &item, int64_t dataRanks, int64_t first, int64_t last) {
    const auto count = static_cast<size_t>(item.microBatch * item.options.sequenceLength);
    std::vector<int32_t> tokens(count), targets(count), segments(count), positions(count);
    std::vector<int64_t> ids(static_cast<size_t>(item.microBatch));
    std::vector<std::unique_ptr<DataLoader>> loaders;
    for (int64_t rank = 0; rank < dataRanks; ++rank) {
      const int64_t reads = options.sabotage == "rank" ? (rank + 1) % dataRanks : rank;
      absl::StatusOr<std::unique_ptr<DataLoader>> loader =
          DataLoader::create(item.data, {.globalBatch = item.globalBatch,
                                         .microBatch = item.microBatch,
                                         .dataRanks = dataRanks,
                                         .rank = reads,
                                         .firstStep = first});
      if (!loader.ok())
        return loader.status();
      loaders.push_back(*std::move(loader));
    }
    Read read;
    for (int64_t step = first; step < last; ++step)
      for (std::unique_ptr<DataLoader> &loader : loaders)
        for (int64_t m = 0; m < loader->microbatchesPerStep(); ++m) {
          if (absl::Status status = loader->read(step, m, {tokens, targets, ids, segments, positions});
              !status.ok())
            return status;
          for (const std::vector<int32_t> &rows : {tokens, targets, segments, positions})
            read.numbers.insert(read.numbers.end(), rows.begin(), rows.end());
          read.sampleIds.insert(read.sampleIds.end(), ids.begin(), ids.end());
        }
    return read;
  }

  absl::Status compareRanks(const OrderCase &item) {
    const int64_t first = std::max<int64_t>(0, item.stepsOfPass - kAround), last = item.stepsOfPass + kAround;
    absl::StatusOr<Read> whole = readSteps(item, 1, 0, last);
    if (!whole.ok())
      return whole.status();
    std::vector<int64_t> begins = {0};
    for (int64_t resumed = first; resumed < last; ++resumed)
      begins.push_back(resumed);
    for (int64_t dataRanks : {1, 2, 3, 8})
      for (int64_t begin : begins) {
        absl::StatusOr<Read> read = readSteps(item, dataRanks, begin, last);
        if (!read.ok())
          return read.status();
        const Read wanted = {tail(whole->numbers, read->numbers.size()),
                             tail(whole->sampleIds, read->sampleIds.size())};
        const bool isWhole = read->sampleIds.size() == static_cast<size_t>((last - begin) * item.globalBatch);
        report.compare("bits", isWhole && *read == wanted ? 0 : 1, 0,
                       absl::StrCat(dataRanks, " data ranks from step ", begin, ": ", item.text));
      }
    return absl::OkStatus();
  }

  template <typename T> static std::vector<T> tail(const std::vector<T> &all, size_t count) {
    return {all.end() - static_cast<std::ptrdiff_t>(std::min(count, all.size())), all.end()};
  }

  /// Of the first n samples of a stage, an input of share w gives n w within less than one.
  void comparePrefixes(const OrderCase &item) {
    std::map<std::pair<int64_t, int64_t>, int64_t> counts; // by stage and input
    std::map<int64_t, int64_t> samples;
    double worst = 0;
    const int64_t last = (item.stepsOfPass + kAround) * item.globalBatch;
    for (int64_t k = 0; k < last; ++k) {
      const SampleOrigin origin = item.data->origin(Split::Training, k);
      const DataStage &stage = item.stages[static_cast<size_t>(origin.stage)];
      double sum = 0;
      for (const DataInput &input : stage.inputs)
        sum += input.weight;
      ++counts[{origin.stage, origin.input}];
      const auto n = static_cast<double>(++samples[origin.stage]);
      for (const DataInput &input : stage.inputs) {
        const double weight = input.weight * (options.sabotage == "blend" ? 1.01 : 1.0);
        const auto given = static_cast<double>(counts[{origin.stage, datasetOf(item, input)}]);
        worst = std::max(worst, std::abs(given - n * weight / sum));
      }
    }
    report.compare("prefixes", worst, 1, item.text);
  }

  static int64_t datasetOf(const OrderCase &item, const DataInput &input) {
    const std::vector<IndexedDataset> &datasets = item.data->datasets();
    return std::find_if(datasets.begin(), datasets.end(),
                        [&](const IndexedDataset &dataset) { return dataset.prefix() == input.path; }) -
           datasets.begin();
  }

  /// A pass over an input takes each of its samples once: as many as there are, none twice.
  absl::Status comparePasses(const OrderCase &item) {
    std::map<int64_t, std::set<int64_t>> firstTokens; // of the first pass, by input
    std::set<int64_t> ended;
    int64_t twice = 0;
    for (int64_t k = 0; k < item.stepsOfPass * item.globalBatch; ++k) {
      const SampleOrigin origin = item.data->origin(Split::Training, k);
      if (origin.epoch > 0)
        ended.insert(origin.input);
      else
        twice += firstTokens[origin.input].insert(origin.pieces.front().begin).second ? 0 : 1;
    }
    report.compare("passes", static_cast<double>(twice), 0, item.text);
    if (ended.empty())
      return absl::InternalError("no pass has ended");
    return absl::OkStatus();
  }

  const Options &options;
  MLIRContext context;
  Report report;
};

} // namespace

int runOrderTrials(const Options &options) {
  const std::set<std::string> known = {"", "rank", "blend", "segments"};
  if (!known.contains(options.sabotage)) {
    std::fprintf(stderr, "order: --sabotage takes rank, blend or segments, not %s\n",
                 options.sabotage.c_str());
    return 2;
  }
  absl::StatusOr<cpu::InstructionSet> set = cpu::useBestInstructionSet();
  if (!set.ok()) {
    std::fprintf(stderr, "order: %s\n", std::string(set.status().message()).c_str());
    return 1;
  }
  OrderTrial trial(options);
  Deadline deadline(options.minutes);
  for (int64_t index = 0; index < options.count && !deadline.passed(); ++index)
    trial.run(options.seed + static_cast<uint64_t>(index));
  return trial.close();
}

} // namespace weft::trials
