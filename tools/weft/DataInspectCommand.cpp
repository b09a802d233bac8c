//===- DataInspectCommand.cpp - weft data inspect -------------------------===//
//
// Opening a dataset checks its index whole; the figures come from the index alone, so a terabyte takes no
// longer than its documents need.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/DataInspectCommand.h"

#include "runtime/data/DatasetDescription.h"
#include "runtime/data/DocumentLengths.h"
#include "runtime/data/IndexedDataset.h"
#include "runtime/metrics/HumanFormat.h"
#include "tools/weft/Command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace weft {

static void printLengths(const DocumentLengths &lengths, int64_t tokens) {
  std::printf("  tokens of a document   shortest %s, median %s, mean %s, 90 %% up to %s, 99 %% up to %s, "
              "longest %s\n",
              formatCount(lengths.shortest).c_str(), formatCount(lengths.median).c_str(),
              formatCount(static_cast<int64_t>(lengths.mean)).c_str(),
              formatCount(lengths.percentile90).c_str(), formatCount(lengths.percentile99).c_str(),
              formatCount(lengths.longest).c_str());
  std::printf("  %25s  %14s  %6s\n", "tokens", "documents", "tokens");
  int64_t most = 1;
  for (const DocumentLengths::Bucket &bucket : lengths.histogram)
    most = std::max(most, bucket.documents);
  constexpr int64_t barWidth = 40;
  for (const DocumentLengths::Bucket &bucket : lengths.histogram) {
    std::string range = formatCount(bucket.from) + " to " + formatCount(bucket.to - 1);
    double share =
        100.0 * static_cast<double>(bucket.tokens) / static_cast<double>(std::max<int64_t>(tokens, 1));
    std::string bar(static_cast<size_t>((bucket.documents * barWidth + most - 1) / most), '#');
    std::printf("  %25s  %14s  %5.1f%%  %s\n", range.c_str(), formatCount(bucket.documents).c_str(), share,
                bar.c_str());
  }
}

static void inspect(const std::string &path) {
  absl::StatusOr<IndexedDataset> dataset = IndexedDataset::open(path);
  if (!dataset.ok())
    failCommand(withExitCode(dataset.status(), ExitCode::Data));
  const IndexView &index = dataset->index();
  std::printf("%s: whole\n", dataset->prefix().c_str());
  std::printf("  documents   %s\n", formatCount(index.documents()).c_str());
  std::printf("  sequences   %s\n", formatCount(index.sequences()).c_str());
  std::printf("  tokens      %s, stored as %s\n", formatCount(index.tokens()).c_str(),
              std::string(name(index.tokenType())).c_str());
  std::printf("  checksum    %016llx\n", static_cast<unsigned long long>(dataset->checksum()));
  if (std::optional<DatasetDescription> description = readDescription(*dataset))
    std::printf("  tokenizer   %s, checksum %016llx\n", description->tokenizerKind.c_str(),
                static_cast<unsigned long long>(description->tokenizerChecksum));
  else
    std::printf("  tokenizer   not known: no %s.dataset.json belongs to it\n", dataset->prefix().c_str());
  if (index.documents() > 0)
    printLengths(measureDocuments(index), index.tokens());
}

void addDataInspect(CLI::App &data) {
  CLI::App *command = data.add_subcommand("inspect", "Check datasets and print their figures");
  auto datasets = std::make_shared<std::vector<std::string>>();
  command->add_option("DATASET", *datasets, "PREFIX or PREFIX.idx")->required();
  command->callback([datasets] {
    for (const std::string &dataset : *datasets)
      inspect(dataset);
  });
}

} // namespace weft
