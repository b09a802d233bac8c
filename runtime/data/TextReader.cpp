//===- TextReader.cpp - Bytes of a plain, gzip or Zstandard file ----------===//
//
// One source of raw bytes, three readers over it. zlib and libzstd do the decompression; truncation is what
// they cannot see, so each reader remembers whether it stands between members.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/TextReader.h"

#include "runtime/data/FileError.h"

#include "absl/strings/str_cat.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr size_t chunkBytes = size_t{1} << 20;

/// An open file, read in order.
class RawFile {
public:
  RawFile(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}
  RawFile(RawFile &&other) noexcept
      : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)), taken(other.taken) {}
  RawFile &operator=(RawFile &&) = delete;
  ~RawFile() {
    if (descriptor >= 0)
      ::close(descriptor);
  }

  absl::StatusOr<size_t> read(std::span<char> out) {
    ssize_t count;
    do
      count = ::read(descriptor, out.data(), out.size());
    while (count < 0 && errno == EINTR);
    if (count < 0)
      return fileError(path, "read", errno);
    taken += count;
    return static_cast<size_t>(count);
  }

  const std::string path;
  int descriptor;
  int64_t taken = 0;
};

absl::Status shorterThanBefore(const std::string &path, int64_t bytes) {
  return absl::DataLossError(
      absl::StrCat(path, ": ends before byte ", bytes, " of its text, where reading is to go on"));
}

class PlainReader final : public TextReader {
public:
  explicit PlainReader(RawFile file) : file(std::move(file)) {}
  absl::StatusOr<size_t> read(std::span<char> out) override { return file.read(out); }
  absl::Status skip(int64_t bytes) override {
    int64_t size = ::lseek(file.descriptor, 0, SEEK_END);
    if (size < 0 || ::lseek(file.descriptor, bytes, SEEK_SET) < 0)
      return fileError(file.path, "seek", errno);
    if (size < bytes)
      return shorterThanBefore(file.path, bytes);
    file.taken = bytes;
    return absl::OkStatus();
  }
  int64_t fileBytesRead() const override { return file.taken; }

private:
  RawFile file;
};

absl::Status compressedFileError(const std::string &path, std::string_view what) {
  return absl::DataLossError(
      absl::StrCat(path, ": ", std::string(what), ". The file is damaged: fetch it again."));
}

/// What skips by reading.
class CompressedReader : public TextReader {
public:
  explicit CompressedReader(RawFile file) : file(std::move(file)), input(chunkBytes) {}
  int64_t fileBytesRead() const override { return file.taken; }
  absl::Status skip(int64_t bytes) override {
    std::vector<char> passed(chunkBytes);
    for (int64_t left = bytes; left > 0;) {
      size_t part = std::min(passed.size(), static_cast<size_t>(left));
      absl::StatusOr<size_t> count = read(std::span(passed).first(part));
      if (!count.ok())
        return count.status();
      if (*count == 0)
        return shorterThanBefore(file.path, bytes);
      left -= static_cast<int64_t>(*count);
    }
    return absl::OkStatus();
  }

protected:
  RawFile file;
  std::vector<char> input;
};

class GzipReader final : public CompressedReader {
public:
  explicit GzipReader(RawFile file) : CompressedReader(std::move(file)) {
    ready = inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK;
  }
  ~GzipReader() override {
    if (ready)
      inflateEnd(&stream);
  }

  absl::StatusOr<size_t> read(std::span<char> out) override {
    if (!ready)
      return absl::ResourceExhaustedError(absl::StrCat(file.path, ": no memory to decompress gzip"));
    stream.next_out = reinterpret_cast<Bytef *>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    while (stream.avail_out == out.size()) {
      if (stream.avail_in == 0) {
        absl::StatusOr<size_t> count = file.read(input);
        if (!count.ok())
          return count.status();
        if (*count == 0 && insideMember)
          return compressedFileError(file.path, "the gzip data ends too soon");
        if (*count == 0)
          return size_t{0};
        stream.next_in = reinterpret_cast<Bytef *>(input.data());
        stream.avail_in = static_cast<uInt>(*count);
      }
      if (!insideMember && inflateReset(&stream) != Z_OK)
        return compressedFileError(file.path, "the gzip data cannot be read");
      insideMember = true;
      int result = inflate(&stream, Z_NO_FLUSH);
      if (result == Z_STREAM_END)
        insideMember = false;
      else if (result != Z_OK && result != Z_BUF_ERROR)
        return compressedFileError(
            file.path, absl::StrCat("not valid gzip data (", stream.msg ? stream.msg : "unknown cause", ")"));
    }
    return out.size() - stream.avail_out;
  }

private:
  z_stream stream{};
  bool ready = false;
  bool insideMember = false;
};

class ZstdReader final : public CompressedReader {
public:
  explicit ZstdReader(RawFile file) : CompressedReader(std::move(file)), stream(ZSTD_createDStream()) {}
  ~ZstdReader() override { ZSTD_freeDStream(stream); }

  absl::StatusOr<size_t> read(std::span<char> out) override {
    if (stream == nullptr)
      return absl::ResourceExhaustedError(absl::StrCat(file.path, ": no memory to decompress Zstandard"));
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (to.pos == 0) {
      if (from.pos == from.size) {
        absl::StatusOr<size_t> count = file.read(input);
        if (!count.ok())
          return count.status();
        if (*count == 0 && insideFrame)
          return compressedFileError(file.path, "the Zstandard data ends too soon");
        if (*count == 0)
          return size_t{0};
        from = {input.data(), *count, 0};
      }
      size_t result = ZSTD_decompressStream(stream, &to, &from);
      if (ZSTD_isError(result))
        return compressedFileError(
            file.path, absl::StrCat("not valid Zstandard data (", ZSTD_getErrorName(result), ")"));
      insideFrame = result != 0;
    }
    return to.pos;
  }

private:
  ZSTD_DStream *stream;
  ZSTD_inBuffer from{nullptr, 0, 0};
  bool insideFrame = false;
};

} // namespace

absl::StatusOr<std::unique_ptr<TextReader>> TextReader::open(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return fileError(path, "open", errno);
  RawFile file(path, descriptor);
  struct stat info;
  if (::fstat(descriptor, &info) != 0)
    return fileError(path, "read its size", errno);
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": is not a regular file"));
  unsigned char head[4] = {};
  if (::pread(descriptor, head, sizeof(head), 0) < 0)
    return fileError(path, "read", errno);
  static constexpr unsigned char gzipMagic[2] = {0x1f, 0x8b};
  static constexpr unsigned char zstdMagic[4] = {0x28, 0xb5, 0x2f, 0xfd};
  if (std::memcmp(head, gzipMagic, sizeof(gzipMagic)) == 0)
    return std::make_unique<GzipReader>(std::move(file));
  if (std::memcmp(head, zstdMagic, sizeof(zstdMagic)) == 0)
    return std::make_unique<ZstdReader>(std::move(file));
  return std::make_unique<PlainReader>(std::move(file));
}

} // namespace weft
