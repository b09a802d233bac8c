#include "tools/weft-run/TensorFiles.h"

#include "kernels/reference/Bytes.h"
#include "kernels/reference/Casts.h"
#include "runtime/checkpoint/SafetensorsFile.h"
#include "runtime/support/ExitCode.h"
#include "runtime/support/NpyFile.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <filesystem>

namespace weft::run {
namespace {

absl::Status dataError(const std::string &message) {
  return withExitCode(absl::InvalidArgumentError(message), ExitCode::Data);
}
absl::Status asDataError(const absl::Status &status) { return withExitCode(status, ExitCode::Data); }

absl::StatusOr<Tensor> readOneNpy(const std::string &file) {
  absl::StatusOr<NpyArray> array = readNpy(file);
  if (!array.ok())
    return asDataError(array.status());
  absl::StatusOr<Tensor> tensor = reference::fromBytes(array->type, array->bytes);
  if (!tensor.ok())
    return dataError(absl::StrCat(file, ": ", std::string(tensor.status().message())));
  return tensor;
}

absl::Status add(const std::string &name, Tensor value, const std::string &file,
                 std::map<std::string, FileTensor> &tensors) {
  auto [entry, isNew] = tensors.try_emplace(name, FileTensor{std::move(value), file});
  if (!isNew)
    return withExitCode(absl::InvalidArgumentError(absl::StrCat("--input: ", name, " is given twice, by ",
                                                                entry->second.file, " and by ", file)),
                        ExitCode::Config);
  return absl::OkStatus();
}

absl::Status addSafetensors(const std::string &file, std::map<std::string, FileTensor> &tensors) {
  absl::StatusOr<checkpoint::SafetensorsFile> opened =
      checkpoint::SafetensorsFile::open(checkpoint::systemFiles(), file);
  if (!opened.ok())
    return asDataError(opened.status());
  for (const checkpoint::SafetensorsEntry &entry : opened->header().entries) {
    std::optional<DType> dtype = checkpoint::toDType(entry.type);
    if (!dtype)
      return dataError(absl::StrCat(file, ": ", entry.name, " has type ",
                                    std::string(checkpoint::name(entry.type)),
                                    ", which no value of a program has"));
    absl::StatusOr<Tensor> tensor = reference::fromBytes({*dtype, entry.shape}, opened->bytes(entry));
    if (!tensor.ok())
      return dataError(absl::StrCat(file, ": ", entry.name, ": ", std::string(tensor.status().message())));
    if (absl::Status status = add(entry.name, *std::move(tensor), file, tensors); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::Status writeSafetensors(const std::string &path, const std::map<std::string, Tensor> &tensors) {
  std::vector<checkpoint::SafetensorsEntry> entries;
  for (const auto &[name, tensor] : tensors)
    entries.push_back({name, checkpoint::toSafetensors(tensor.dtype), tensor.shape, 0, 0});
  absl::StatusOr<checkpoint::SafetensorsWriter> writer =
      checkpoint::SafetensorsWriter::create(checkpoint::systemFiles(), path, std::move(entries), {});
  if (!writer.ok())
    return writer.status();
  for (const checkpoint::SafetensorsEntry &entry : writer->entries()) {
    absl::StatusOr<std::vector<std::byte>> bytes = reference::toBytes(tensors.at(entry.name));
    if (!bytes.ok())
      return bytes.status();
    if (absl::Status status = writer->write(*bytes); !status.ok())
      return status;
  }
  return writer->finish().status();
}

absl::Status writeNpyFolder(const std::string &folder, const std::map<std::string, Tensor> &tensors) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return absl::UnknownError(absl::StrCat(folder, ": cannot be made: ", error.message()));
  for (const auto &[name, tensor] : tensors) {
    if (absl::StrContains(name, '/'))
      return absl::InvalidArgumentError(
          absl::StrCat("--output ", folder, ": ", name,
                       " cannot be a file's name; give a .safetensors file instead of a folder"));
    absl::StatusOr<std::vector<std::byte>> bytes = reference::toBytes(tensor);
    if (!bytes.ok())
      return bytes.status();
    if (absl::Status status = writeNpy(absl::StrCat(folder, "/", name, ".npy"), tensor.type(), *bytes);
        !status.ok())
      return status;
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::map<std::string, FileTensor>> readTensors(const std::vector<std::string> &arguments) {
  std::map<std::string, FileTensor> tensors;
  for (const std::string &argument : arguments) {
    size_t equals = argument.find('=');
    if (equals == std::string::npos && absl::EndsWith(argument, ".safetensors")) {
      if (absl::Status status = addSafetensors(argument, tensors); !status.ok())
        return status;
      continue;
    }
    if (equals == std::string::npos || equals == 0 || !absl::EndsWith(argument, ".npy"))
      return withExitCode(absl::InvalidArgumentError(absl::StrCat(
                              "--input ", argument, ": must be NAME=FILE.npy or FILE.safetensors")),
                          ExitCode::Config);
    std::string file = argument.substr(equals + 1);
    absl::StatusOr<Tensor> tensor = readOneNpy(file);
    if (!tensor.ok())
      return tensor.status();
    if (absl::Status status = add(argument.substr(0, equals), *std::move(tensor), file, tensors);
        !status.ok())
      return status;
  }
  return tensors;
}

absl::StatusOr<Tensor> convertTo(const FileTensor &tensor, const TensorType &type, const std::string &what) {
  const Tensor &value = tensor.value;
  if (value.shape != type.shape || isFloat(value.dtype) != isFloat(type.dtype))
    return dataError(
        absl::StrCat(tensor.file, ": ", what, " must be ", type.str(), ", it is ", value.type().str()));
  absl::StatusOr<Tensor> converted = reference::cast(value, type.dtype);
  if (converted.ok() && converted->integers != value.integers)
    return dataError(absl::StrCat(tensor.file, ": ", what, " has values that do not fit ", type.str()));
  return converted;
}

absl::Status writeTensors(const std::string &path, const std::map<std::string, Tensor> &tensors) {
  return asDataError(absl::EndsWith(path, ".safetensors") ? writeSafetensors(path, tensors)
                                                          : writeNpyFolder(path, tensors));
}

} // namespace weft::run
