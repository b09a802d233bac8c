#include "tools/weft-trials/OrderCases.h"

#include "runtime/data/IndexedDatasetWriter.h"
#include "tools/weft-trials/Random.h"

#include "absl/strings/str_cat.h"

#include <cstdlib>

namespace weft::trials {
namespace {

constexpr int32_t kTokensOfInput = 1'000'000;

/// Tokens that say where they are: input i has i million and up. Documents of 1 to `longest` tokens.
absl::Status writeInput(const std::string &prefix, int64_t input, int64_t tokens, int64_t longest,
                        Random &random) {
  absl::StatusOr<IndexedDatasetWriter> writer = IndexedDatasetWriter::create(prefix, TokenType::I32);
  if (!writer.ok())
    return writer.status();
  int64_t left = 0;
  for (int64_t i = 0; i < tokens; ++i) {
    if (left == 0)
      left = random.integer(1, longest);
    const auto token = static_cast<int32_t>(input * kTokensOfInput + i);
    if (absl::Status status = writer->appendTokens(std::span(&token, 1)); !status.ok())
      return status;
    if (--left == 0)
      writer->endDocument();
  }
  return writer->commit();
}

} // namespace

OrderCase::~OrderCase() {
  std::error_code error; // what is left is in the folder of temporary files
  std::filesystem::remove_all(folder, error);
}

absl::StatusOr<std::unique_ptr<OrderCase>> OrderCase::draw(uint64_t seed) {
  Random random(seed);
  std::unique_ptr<OrderCase> item(new OrderCase());
  std::string name = (std::filesystem::temp_directory_path() / "weft-order-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return absl::UnavailableError(absl::StrCat(name, ": cannot be made"));
  item->folder = name;
  DataOptions &options = item->options;
  options.sequenceLength = random.integer(3, 24);
  options.validationFraction = random.chance(0.3) ? 0.1 : 0;
  options.seed = random.next();
  options.vocabularySize = 100 * kTokensOfInput;
  constexpr SamplePacking packings[] = {SamplePacking::Split, SamplePacking::Documents,
                                        SamplePacking::BestFit, SamplePacking::Pad};
  options.packing = packings[seed / 2 % 4];
  const int64_t inputs = random.integer(1, 4);
  std::vector<DataInput> all;
  for (int64_t i = 0; i < inputs; ++i) {
    const std::string prefix = (item->folder / absl::StrCat("input", i)).string();
    if (absl::Status status = writeInput(prefix, i, random.integer(60, 400) * options.sequenceLength,
                                         random.integer(2, 3 * options.sequenceLength), random);
        !status.ok())
      return status;
    all.push_back({prefix, static_cast<double>(random.integer(1, 1000))});
  }
  const int64_t stages = random.chance(0.3) ? random.integer(2, 3) : 1;
  for (int64_t s = 0; s < stages; ++s) {
    DataStage stage;
    for (const DataInput &input : all)
      if (stage.inputs.empty() || random.chance(0.7))
        stage.inputs.push_back({input.path, static_cast<double>(random.integer(1, 1000))});
    stage.tokens =
        s + 1 < stages ? random.integer(1, 200) * options.sequenceLength + random.integer(0, 2) : 0;
    item->stages.push_back(std::move(stage));
  }
  absl::StatusOr<TrainingData> data = TrainingData::open(item->stages, options);
  if (!data.ok())
    return data.status();
  item->data = std::make_shared<const TrainingData>(*std::move(data));
  item->microBatch = random.integer(1, 2);
  item->globalBatch = 24 * item->microBatch;
  int64_t k = 0;
  for (int64_t step = 0; item->stepsOfPass == 0; ++step)
    for (int64_t i = 0; i < item->globalBatch; ++i)
      if (item->data->origin(Split::Training, k++).epoch > 0)
        item->stepsOfPass = step + 1;
  item->text = absl::StrCat(inputs, " inputs, ", stages, " stages, sequences of ", options.sequenceLength,
                            ", packing ", static_cast<int>(options.packing), ", micro batch ",
                            item->microBatch, ", a pass ends in step ", item->stepsOfPass);
  return item;
}

} // namespace weft::trials
