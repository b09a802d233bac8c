//===- CkptCommand.cpp - weft ckpt inspect|verify|diff --------------------===//
//
// Prints what runtime/checkpoint and runtime/interchange find out. The JSON has the same content as the text,
// and integers as integers.
//
//===----------------------------------------------------------------------===//
#include "tools/weft/CkptCommand.h"

#include "runtime/checkpoint/CheckpointComparison.h"
#include "runtime/checkpoint/CheckpointFolders.h"
#include "runtime/checkpoint/FileOperations.h"
#include "runtime/interchange/FolderTensors.h"
#include "runtime/interchange/ParameterNames.h"
#include "runtime/support/FormatCount.h"
#include "tools/weft/Command.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <set>

namespace weft {
namespace {
using namespace checkpoint;
using namespace interchange;
using Json = nlohmann::ordered_json;

void print(const std::string &text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void print(const Json &json) { print(json.dump(2) + "\n"); }

std::string count(size_t number, const char *thing) {
  return absl::StrCat(number, " ", thing, number == 1 ? "" : "s");
}

/// The checkpoint that a path means. Broken newer ones that were passed over are told on standard error.
absl::StatusOr<Checkpoint> openTold(const std::string &path) {
  std::vector<std::string> broken;
  absl::StatusOr<Checkpoint> checkpoint = openMeant(path, broken);
  for (const std::string &message : broken)
    std::fprintf(stderr, "%s\n", message.c_str());
  return checkpoint;
}

/// Rows of two left-aligned columns and a right-aligned one.
std::string table(const std::vector<std::array<std::string, 3>> &rows) {
  int widths[3] = {};
  for (const auto &row : rows)
    for (size_t column = 0; column < 3; ++column)
      widths[column] = std::max(widths[column], static_cast<int>(row[column].size()));
  std::string text;
  for (const auto &row : rows)
    absl::StrAppendFormat(&text, "  %-*s  %-*s  %*s\n", widths[0], row[0], widths[1], row[1], widths[2],
                          row[2]);
  return text;
}

std::string inspectionText(const Checkpoint &checkpoint) {
  std::string text =
      absl::StrCat(checkpoint.folder(), ": step ", checkpoint.state().step, ", ",
                   count(checkpoint.tensors().size(), "tensor"), ", ", formatCount(checkpoint.tensorBytes()),
                   " bytes in ", count(checkpoint.files().size(), "file"), "\n");
  if (checkpoint.blockBytes() > 0)
    absl::StrAppend(&text, "version 2: a checksum for each ", formatCount(checkpoint.blockBytes()),
                    " bytes of a file\n");
  else
    text += "version 1: a checksum for each piece of a tensor\n";
  std::vector<std::array<std::string, 3>> rows = {{"tensor", "type", "bytes"}};
  for (const TensorRecord &tensor : checkpoint.tensors())
    rows.push_back({tensor.name,
                    absl::StrCat(tensor.type.str(), tensor.placement.empty() ? "" : " ", tensor.placement),
                    formatCount(tensor.type.bytes())});
  text += table(rows);
  for (const auto &[key, value] : checkpoint.state().text) {
    const size_t lines = static_cast<size_t>(std::count(value.begin(), value.end(), '\n'));
    absl::StrAppend(&text, key, ": ", lines > 0 ? count(lines, "line") + " (--json shows them)" : value,
                    "\n");
  }
  for (const auto &item : checkpoint.state().values.items())
    absl::StrAppend(&text, item.key(), ": ", item.value().dump(), "\n");
  return text;
}

Json inspectionJson(const Checkpoint &checkpoint) {
  Json tensors = Json::array(), files = Json::array();
  for (const TensorRecord &tensor : checkpoint.tensors())
    tensors.push_back({{"name", tensor.name},
                       {"dtype", std::string(name(tensor.type.dtype))},
                       {"shape", tensor.type.shape},
                       {"placement", tensor.placement},
                       {"bytes", tensor.type.bytes()}});
  for (const FileRecord &file : checkpoint.files())
    files.push_back({{"name", file.name}, {"bytes", file.bytes}});
  return {{"folder", checkpoint.folder()},
          {"step", checkpoint.state().step},
          {"block_bytes", checkpoint.blockBytes()},
          {"files", files},
          {"tensors", tensors},
          {"text", checkpoint.state().text},
          {"values", Json(checkpoint.state().values)}};
}

/// Of a folder of another program.
std::string inspectionText(const HuggingFaceFolder &folder) {
  std::set<std::string> files;
  std::vector<std::array<std::string, 3>> rows = {{"tensor", "type", "bytes"}};
  for (const FolderTensor &tensor : folder.tensors()) {
    files.insert(folder.fileOf(tensor));
    rows.push_back(
        {tensor.entry.name, tensor.typeText(), formatCount(tensor.entry.end - tensor.entry.begin)});
  }
  return absl::StrCat(folder.path(), ": Hugging Face, ", count(folder.tensors().size(), "tensor"), ", ",
                      formatCount(folder.tensorBytes()), " bytes in ", count(files.size(), "file"), "\n",
                      table(rows));
}

Json inspectionJson(const HuggingFaceFolder &folder) {
  Json tensors = Json::array();
  for (const FolderTensor &tensor : folder.tensors())
    tensors.push_back({{"name", tensor.entry.name},
                       {"dtype", std::string(name(tensor.entry.type))},
                       {"shape", tensor.entry.shape},
                       {"file", folder.fileOf(tensor)},
                       {"bytes", tensor.entry.end - tensor.entry.begin}});
  return {{"folder", folder.path()}, {"tensors", std::move(tensors)}};
}

struct Verification {
  std::string folder;
  size_t tensors = 0;
  int64_t bytes = 0;
  std::vector<std::string> problems;
};

absl::StatusOr<Verification> verifyOne(const std::string &folder) {
  Verification result{folder, 0, 0, {}};
  absl::StatusOr<Checkpoint> checkpoint = openCheckpoint(folder);
  if (!checkpoint.ok()) {
    if (!absl::IsDataLoss(checkpoint.status()))
      return checkpoint.status();
    result.problems.emplace_back(checkpoint.status().message());
    return result;
  }
  result.tensors = checkpoint->tensors().size();
  result.bytes = checkpoint->tensorBytes();
  result.problems = checkpoint->verify();
  return result;
}

std::string verificationText(const Verification &result) {
  if (result.problems.empty())
    return absl::StrCat(result.folder, ": whole: ", count(result.tensors, "tensor"), ", ",
                        formatCount(result.bytes), " bytes, every checksum matches\n");
  std::string text =
      absl::StrCat(result.folder, ": broken: ", count(result.problems.size(), "problem"), "\n");
  for (const std::string &problem : result.problems)
    absl::StrAppend(&text, "  ", problem, "\n");
  return text;
}

std::string typeText(const std::optional<StoredType> &type) { return type ? type->str() : "absent"; }

std::string differenceText(const TensorComparison &tensor) {
  if (!tensor.comparable)
    return absl::StrCat("  ", tensor.name, ": ", typeText(tensor.first), " and ", typeText(tensor.second),
                        "\n");
  std::string text =
      absl::StrFormat("  %s: %s of %s elements differ, the first at %d; max |a-b| %.3g, relative %.3g",
                      tensor.name, formatCount(tensor.differing), formatCount(tensor.elements),
                      tensor.firstIndex, tensor.maxAbsolute, tensor.maxRelative);
  if (tensor.notFinite > 0)
    absl::StrAppend(&text, "; ", formatCount(tensor.notFinite), " not finite");
  return text + "\n";
}

Json differenceJson(const TensorComparison &tensor) {
  Json json = {{"name", tensor.name},
               {"equal", tensor.equal()},
               {"first_type", typeText(tensor.first)},
               {"second_type", typeText(tensor.second)}};
  if (tensor.comparable)
    json.update({{"elements", tensor.elements},
                 {"differing", tensor.differing},
                 {"first_index", tensor.firstIndex},
                 {"not_finite", tensor.notFinite},
                 {"max_absolute", tensor.maxAbsolute},
                 {"max_relative", tensor.maxRelative}});
  return json;
}

std::string comparisonText(const std::string &first, const std::string &second,
                           const std::vector<TensorComparison> &tensors,
                           const std::vector<std::string> &state) {
  std::string differences;
  size_t differing = 0;
  bool sameTypes = true;
  for (const TensorComparison &tensor : tensors) {
    sameTypes &= tensor.sameType();
    if (!tensor.equal()) {
      ++differing;
      differences += differenceText(tensor);
    }
  }
  std::string text = absl::StrCat("a: ", first, "\nb: ", second, "\n");
  if (differing == 0)
    absl::StrAppend(&text, "equal: every ", sameTypes ? "bit" : "value", " of ",
                    count(tensors.size(), "tensor"), "\n");
  else
    absl::StrAppend(&text, "different: ", differing, " of ", count(tensors.size(), "tensor"), "\n",
                    differences);
  if (!state.empty())
    absl::StrAppend(&text, "run state differs in ", absl::StrJoin(state, " "), "\n");
  return text;
}

/// Ends the command as the answer says; called from a CLI11 callback.
void finish(const absl::StatusOr<ExitCode> &answer) {
  std::fflush(stdout);
  if (!answer.ok())
    failCommand(withExitCode(answer.status(), ExitCode::Checkpoint));
  if (*answer != ExitCode::Ok)
    endCommand(*answer);
}
} // namespace

absl::StatusOr<ExitCode> ckptInspect(const std::string &path, bool json) {
  if (isHuggingFaceFolder(path)) {
    absl::StatusOr<HuggingFaceFolder> folder = HuggingFaceFolder::open(path);
    if (!folder.ok())
      return folder.status();
    json ? print(inspectionJson(*folder)) : print(inspectionText(*folder));
    return ExitCode::Ok;
  }
  absl::StatusOr<Checkpoint> checkpoint = openTold(path);
  if (!checkpoint.ok())
    return checkpoint.status();
  json ? print(inspectionJson(*checkpoint)) : print(inspectionText(*checkpoint));
  return ExitCode::Ok;
}

absl::StatusOr<ExitCode> ckptVerify(const std::string &path, bool json) {
  absl::StatusOr<std::optional<std::string>> holder = checkpointsAt(path);
  if (!holder.ok())
    return holder.status();
  absl::StatusOr<std::vector<std::string>> folders = std::vector<std::string>{path};
  if (*holder)
    folders = stepFolders(**holder);
  if (!folders.ok())
    return folders.status();
  bool whole = true;
  Json answers = Json::array();
  for (const std::string &folder : *folders) {
    absl::StatusOr<Verification> result = verifyOne(folder);
    if (!result.ok())
      return result.status();
    whole &= result->problems.empty();
    answers.push_back(
        {{"folder", folder}, {"whole", result->problems.empty()}, {"problems", result->problems}});
    if (!json)
      print(verificationText(*result));
  }
  if (json)
    print(answers);
  return whole ? ExitCode::Ok : ExitCode::Checkpoint;
}

namespace {
/// One side of a comparison: a checkpoint or a folder.
class Side {
public:
  static absl::StatusOr<std::unique_ptr<Side>> open(const std::string &path) {
    auto side = std::make_unique<Side>();
    if (isHuggingFaceFolder(path)) {
      absl::StatusOr<HuggingFaceFolder> folder = HuggingFaceFolder::open(path);
      if (!folder.ok())
        return folder.status();
      side->folder.emplace(*std::move(folder));
      return side;
    }
    absl::StatusOr<Checkpoint> checkpoint = openTold(path);
    if (!checkpoint.ok())
      return checkpoint.status();
    side->checkpoint.emplace(*std::move(checkpoint));
    return side;
  }
  const std::string &path() const { return folder ? folder->path() : checkpoint->folder(); }
  /// Beside a folder, a checkpoint is its parameters.
  std::unique_ptr<TensorSource> tensors(bool besideFolder) const {
    if (folder)
      return std::make_unique<FolderTensors>(*folder);
    return std::make_unique<CheckpointTensors>(*checkpoint, besideFolder ? isParameter : nullptr);
  }

  std::optional<Checkpoint> checkpoint;
  std::optional<HuggingFaceFolder> folder;
};
} // namespace

absl::StatusOr<ExitCode> ckptDiff(const std::string &firstPath, const std::string &secondPath, bool json) {
  absl::StatusOr<std::unique_ptr<Side>> firstSide = Side::open(firstPath);
  if (!firstSide.ok())
    return firstSide.status();
  absl::StatusOr<std::unique_ptr<Side>> secondSide = Side::open(secondPath);
  if (!secondSide.ok())
    return secondSide.status();
  const Side &first = **firstSide, &second = **secondSide;
  const bool areBothOurs = first.checkpoint && second.checkpoint;
  absl::StatusOr<std::vector<TensorComparison>> tensors = compareTensors(
      *first.tensors(second.folder.has_value()), *second.tensors(first.folder.has_value()), !areBothOurs);
  if (!tensors.ok())
    return tensors.status();
  const std::vector<std::string> state =
      areBothOurs ? compareStates(first.checkpoint->state(), second.checkpoint->state())
                  : std::vector<std::string>();
  const bool equal = std::all_of(tensors->begin(), tensors->end(),
                                 [](const TensorComparison &tensor) { return tensor.equal(); });
  if (!json) {
    print(comparisonText(first.path(), second.path(), *tensors, state));
    return equal ? ExitCode::Ok : ExitCode::Checkpoint;
  }
  Json list = Json::array();
  for (const TensorComparison &tensor : *tensors)
    list.push_back(differenceJson(tensor));
  print(Json{{"first", first.path()},
             {"second", second.path()},
             {"equal", equal},
             {"tensors", std::move(list)},
             {"state", state}});
  return equal ? ExitCode::Ok : ExitCode::Checkpoint;
}

void addCkptCommand(CLI::App &app) {
  struct Options {
    std::string path, second;
    bool json = false;
  };
  CLI::App *ckpt = app.add_subcommand("ckpt", "Look into checkpoints, import and export them");
  ckpt->require_subcommand(1);
  constexpr const char *saved = "A checkpoint (runs/NAME/checkpoints/step-N), or a run's folder";
  constexpr const char *any =
      "A checkpoint (runs/NAME/checkpoints/step-N), a run's folder, or a Hugging Face folder";
  const auto add = [ckpt](const char *name, const char *what, const char *meaning, bool two, auto run) {
    const auto options = std::make_shared<Options>();
    CLI::App *command = ckpt->add_subcommand(name, what);
    command->add_option(two ? "first" : "path", options->path, meaning)->required();
    if (two)
      command->add_option("second", options->second, meaning)->required();
    command->add_flag("--json", options->json, "Print JSON instead of text");
    command->callback([options, run] { finish(run(*options)); });
  };
  add("inspect", "Show the tensors, sizes and run state of a checkpoint (of a run: the latest)", any, false,
      [](const Options &options) { return ckptInspect(options.path, options.json); });
  add("verify", "Read every byte of a checkpoint (of a run: of all) and compare the checksums", saved, false,
      [](const Options &options) { return ckptVerify(options.path, options.json); });
  add("diff", "Compare two checkpoints or Hugging Face folders tensor by tensor", any, true,
      [](const Options &options) { return ckptDiff(options.path, options.second, options.json); });
}

} // namespace weft
