//===- SafetensorsFile.cpp - Tensors by name, in one file -----------------===//
//
// The header is read with pread and checked before anything is mapped. The writer hashes and writes in
// stretches that stay in the cache between the two.
//
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/SafetensorsFile.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/mman.h>

namespace weft::checkpoint {

SafetensorsFile::SafetensorsFile(SafetensorsFile &&other) noexcept
    : contents(std::move(other.contents)), index(std::move(other.index)),
      mapping(std::exchange(other.mapping, nullptr)) {}

SafetensorsFile::~SafetensorsFile() {
  if (mapping)
    ::munmap(const_cast<std::byte *>(mapping), static_cast<size_t>(contents.dataEnd));
}

absl::StatusOr<SafetensorsHeader> readSafetensorsHeader(const InputFile &file, const std::string &path) {
  std::string start(static_cast<size_t>(std::min(kSafetensorsLengthBytes, file.bytes())), '\0');
  if (absl::Status status = file.read(0, start.data(), start.size()); !status.ok())
    return status;
  absl::StatusOr<int64_t> length = parseSafetensorsLength(start, file.bytes(), path);
  if (!length.ok())
    return length.status();
  std::string json(static_cast<size_t>(*length), '\0');
  if (absl::Status status = file.read(kSafetensorsLengthBytes, json.data(), json.size()); !status.ok())
    return status;
  return parseSafetensorsHeader(json, file.bytes(), path);
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::open(FileSystem &files, const std::string &path) {
  absl::StatusOr<InputFile> file = InputFile::open(files, path);
  if (!file.ok())
    return file.status();
  absl::StatusOr<SafetensorsHeader> header = readSafetensorsHeader(*file, path);
  if (!header.ok())
    return header.status();

  SafetensorsFile result;
  void *mapped = ::mmap(nullptr, static_cast<size_t>(file->bytes()), PROT_READ, MAP_SHARED,
                        file->descriptorForMapping(), 0);
  if (mapped == MAP_FAILED)
    return fileError(errno, "map into memory", path);
  result.contents = *std::move(header);
  result.mapping = static_cast<const std::byte *>(mapped);
  for (size_t i = 0; i < result.contents.entries.size(); ++i)
    result.index.emplace(result.contents.entries[i].name, i);
  return result;
}

const SafetensorsEntry *SafetensorsFile::find(const std::string &name) const {
  const auto found = index.find(name);
  return found == index.end() ? nullptr : &contents.entries[found->second];
}

std::span<const std::byte> SafetensorsFile::bytes(const SafetensorsEntry &entry) const {
  return {mapping + entry.begin, static_cast<size_t>(entry.end - entry.begin)};
}

SafetensorsWriter::SafetensorsWriter(std::string path, SafetensorsHeader header, OutputFile file)
    : path(std::move(path)), header(std::move(header)), file(std::move(file)) {}

absl::StatusOr<SafetensorsWriter> SafetensorsWriter::create(FileSystem &files, const std::string &path,
                                                            std::vector<SafetensorsEntry> entries,
                                                            std::map<std::string, std::string> metadata) {
  absl::StatusOr<SafetensorsHeader> header = layOutSafetensors(std::move(entries), std::move(metadata), path);
  if (!header.ok())
    return header.status();
  absl::StatusOr<OutputFile> file = OutputFile::create(files, path, header->dataEnd);
  if (!file.ok())
    return file.status();
  SafetensorsWriter writer(path, *std::move(header), *std::move(file));
  const std::string start = formatSafetensorsHeader(writer.header);
  writer.blocks.update(start.data(), start.size());
  if (absl::Status status = writer.file.append(start.data(), start.size()); !status.ok())
    return status;
  return writer;
}

absl::Status SafetensorsWriter::checkNext() const {
  return next < header.entries.size()
             ? absl::OkStatus()
             : absl::FailedPreconditionError(absl::StrCat(path, ": every tensor was written already"));
}

absl::Status SafetensorsWriter::wrongSize(int64_t given) const {
  const SafetensorsEntry &entry = header.entries[next];
  return absl::InvalidArgumentError(absl::StrCat(path, ": tensor '", entry.name, "' needs ",
                                                 entry.end - entry.begin, " bytes, ", given, " were given"));
}

absl::Status SafetensorsWriter::write(std::span<const std::byte> data, const std::atomic<bool> *stop) {
  if (absl::Status status = checkNext(); !status.ok())
    return status;
  if (written + static_cast<int64_t>(data.size()) != nextBytes())
    return wrongSize(written + static_cast<int64_t>(data.size()));
  if (absl::Status status = append(data, stop); !status.ok())
    return status;
  return endEntry();
}

absl::Status SafetensorsWriter::append(std::span<const std::byte> data, const std::atomic<bool> *stop) {
  if (absl::Status status = checkNext(); !status.ok())
    return status;
  if (static_cast<int64_t>(data.size()) > nextBytes() - written)
    return wrongSize(written + static_cast<int64_t>(data.size()));
  for (size_t at = 0; at < data.size(); at += kChecksumStretch) {
    if (stop != nullptr && *stop)
      return absl::CancelledError(absl::StrCat(path, ": given up before all was written"));
    const std::span<const std::byte> part = data.subspan(at, std::min(kChecksumStretch, data.size() - at));
    blocks.update(part.data(), part.size());
    if (absl::Status status = file.append(part.data(), part.size()); !status.ok())
      return status;
    written += static_cast<int64_t>(part.size());
  }
  return absl::OkStatus();
}

absl::Status SafetensorsWriter::endEntry() {
  if (absl::Status status = checkNext(); !status.ok())
    return status;
  if (written != nextBytes())
    return wrongSize(written);
  written = 0;
  ++next;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Block>> SafetensorsWriter::finish() {
  if (next != header.entries.size())
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": tensor '", header.entries[next].name, "' was not written"));
  if (absl::Status status = file.finish(); !status.ok())
    return status;
  return blocks.finish();
}

} // namespace weft::checkpoint
