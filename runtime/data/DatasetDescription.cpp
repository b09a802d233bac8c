//===- DatasetDescription.cpp - Which tokenizer a dataset was made with ---===//
//
// Values that are read back are strings, so that the reader of JSONL reads them.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/DatasetDescription.h"

#include "runtime/data/JsonText.h"
#include "runtime/support/FileText.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft {
namespace {

std::string pathOf(const IndexedDataset &dataset) { return dataset.prefix() + ".dataset.json"; }

std::string hex(uint64_t checksum) { return absl::StrFormat("%016x", checksum); }

} // namespace

absl::Status describeDataset(const IndexedDataset &dataset, const Tokenizer &tokenizer) {
  std::string line = absl::StrFormat(
      "{\"dataset\": \"%s\", \"tokenizer\": \"%s\", \"tokenizer_checksum\": \"%s\", \"vocabulary_size\": %d, "
      "\"end_of_document\": %d, \"documents\": %d, \"tokens\": %d}\n",
      hex(dataset.checksum()), tokenizer.kind(), hex(tokenizer.checksum()), tokenizer.vocabularySize(),
      tokenizer.endOfDocument(), dataset.index().documents(), dataset.tokens());
  return writeFileAtomically(pathOf(dataset), line);
}

std::optional<DatasetDescription> readDescription(const IndexedDataset &dataset) {
  absl::StatusOr<std::string> line = readFileText(pathOf(dataset), size_t{1} << 16);
  if (!line.ok())
    return std::nullopt;
  std::string ofDataset;
  std::string checksum;
  DatasetDescription description;
  bool isReadable = readJsonText(*line, "dataset", ofDataset).ok() &&
                    readJsonText(*line, "tokenizer", description.tokenizerKind).ok() &&
                    readJsonText(*line, "tokenizer_checksum", checksum).ok() &&
                    absl::SimpleHexAtoi(checksum, &description.tokenizerChecksum);
  if (!isReadable || ofDataset != hex(dataset.checksum()))
    return std::nullopt;
  return description;
}

absl::Status checkTokenizer(const IndexedDataset &dataset, const Tokenizer &tokenizer) {
  std::optional<DatasetDescription> description = readDescription(dataset);
  if (!description || description->tokenizerChecksum == tokenizer.checksum())
    return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      dataset.prefix(), ": was prepared with a tokenizer of kind ", description->tokenizerKind, ", checksum ",
      hex(description->tokenizerChecksum), "; this one is of kind ", tokenizer.kind(), ", checksum ",
      hex(tokenizer.checksum()), ". Name that tokenizer, or prepare the data again with this one."));
}

} // namespace weft
