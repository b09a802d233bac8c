//===- PrepareJournal.cpp - How far a preparation has come ----------------===//
//
// The file is a row of 64-bit words, little endian. Head: magic, version, the four words of the key, their
// checksum. Record: the number of words that follow, the part, their checksum.
//
//===----------------------------------------------------------------------===//
#include "runtime/data/PrepareJournal.h"

#include "runtime/data/FileError.h"
#include "runtime/data/MappedFile.h"

#include "absl/strings/str_cat.h"

#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace weft {
namespace {

constexpr int64_t magic = 0x4C4E524A54464557; // WEFTJRNL
constexpr int64_t version = 1;
constexpr size_t headWords = 7;
/// Words of a part before those of its documents.
constexpr size_t fixedWords = 9;

int64_t checksumOf(std::span<const int64_t> words) {
  return static_cast<int64_t>(XXH64(words.data(), words.size_bytes(), 0));
}

/// Of bytes [begin, begin + size) of a file.
absl::StatusOr<int64_t> checksumOf(const AtomicFile &file, int64_t begin, int64_t size) {
  std::vector<std::byte> block(size_t{1} << 20);
  uint64_t sum = 0;
  for (int64_t done = 0; done < size;) {
    std::span<std::byte> part =
        std::span(block).first(std::min(block.size(), static_cast<size_t>(size - done)));
    if (absl::Status status = file.read(begin + done, part); !status.ok())
      return status;
    sum = XXH64(part.data(), part.size(), sum);
    done += static_cast<int64_t>(part.size());
  }
  return static_cast<int64_t>(sum);
}

std::vector<int64_t> headOf(const PrepareKey &key) {
  std::vector<int64_t> words = {magic,
                                version,
                                static_cast<int64_t>(key.sources),
                                static_cast<int64_t>(key.tokenizer),
                                static_cast<int64_t>(key.jsonKey),
                                static_cast<int64_t>(key.type)};
  words.push_back(checksumOf(words));
  return words;
}

/// Why a journal that begins with `head` is none of `wanted`; empty when it is.
std::string difference(std::span<const int64_t> head, std::span<const int64_t> wanted) {
  bool isReadable = head.size() == headWords && head[0] == magic && head[1] == version &&
                    head.back() == checksumOf(head.first(headWords - 1));
  if (!isReadable)
    return "it is damaged, or of another version";
  if (head[2] != wanted[2])
    return "the source files have changed";
  if (head[3] != wanted[3])
    return "the tokenizer is another one";
  if (head[4] != wanted[4])
    return "the JSON key is another one";
  return head[5] != wanted[5] ? "the token type is another one" : "";
}

} // namespace

absl::StatusOr<PrepareJournal> PrepareJournal::open(const std::string &path) {
  absl::StatusOr<int> descriptor = openLocked(path);
  if (!descriptor.ok())
    return descriptor.status();
  bool wasMade = ::lseek(*descriptor, 0, SEEK_END) == 0;
  return PrepareJournal(path, *descriptor, wasMade);
}

PrepareJournal::PrepareJournal(std::string path, int descriptor, bool wasMade)
    : path(std::move(path)), descriptor(descriptor), wasMade(wasMade) {}

PrepareJournal::PrepareJournal(PrepareJournal &&other) noexcept
    : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)), wasMade(other.wasMade),
      size(other.size), part(std::move(other.part)), reason(std::move(other.reason)) {}

PrepareJournal::~PrepareJournal() {
  if (descriptor >= 0)
    ::close(descriptor);
}

absl::StatusOr<PreparedSoFar> PrepareJournal::resume(const PrepareKey &key, AtomicFile &bin) {
  absl::StatusOr<MappedFile> file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  std::vector<int64_t> words(file->bytes().size() / sizeof(int64_t));
  std::memcpy(words.data(), file->bytes().data(), words.size() * sizeof(int64_t));

  PreparedSoFar total;
  std::vector<int64_t> head = headOf(key);
  if (!words.empty())
    reason = difference(std::span(words).first(std::min(words.size(), headWords)), head);
  bool isOurs = !words.empty() && reason.empty();
  if (isOurs)
    if (absl::Status status = addUpParts(std::span(words).subspan(headWords), bin, key.type, total);
        !status.ok())
      return status;
  if (::ftruncate(descriptor, size) != 0)
    return fileError(path, "truncate", errno);
  if (!isOurs)
    if (absl::Status status = write(head); !status.ok())
      return status;
  if (absl::Status status = bin.truncate(total.binBytes); !status.ok())
    return status;
  beginPart(total.position, total.fileBytes);
  return total;
}

/// Adds to `total` the parts that are whole, and counts their words in `size`.
absl::Status PrepareJournal::addUpParts(std::span<const int64_t> words, const AtomicFile &bin, TokenType type,
                                        PreparedSoFar &total) {
  size = static_cast<int64_t>(headWords * sizeof(int64_t));
  Part whole;
  for (size_t taken; (taken = readRecord(words, byteSize(type), whole)) != 0; words = words.subspan(taken)) {
    if (total.binBytes + whole.binBytes > bin.size())
      return absl::OkStatus();
    absl::StatusOr<int64_t> checksum = checksumOf(bin, total.binBytes, whole.binBytes);
    if (!checksum.ok())
      return checksum.status();
    if (*checksum != whole.binChecksum)
      return absl::OkStatus();
    addUp(whole, total);
    size += static_cast<int64_t>(taken * sizeof(int64_t));
  }
  return absl::OkStatus();
}

/// Reads the record that `words` begin with and returns the number of its words; 0 when it is not whole.
size_t PrepareJournal::readRecord(std::span<const int64_t> words, int64_t tokenBytes, Part &part) {
  if (words.size() < fixedWords + 2 || words[0] < static_cast<int64_t>(fixedWords) ||
      static_cast<uint64_t>(words[0]) > words.size() - 2)
    return 0;
  size_t count = static_cast<size_t>(words[0]);
  std::span<const int64_t> body = words.subspan(1, count);
  if (words[count + 1] != checksumOf(body))
    return 0;
  part.end = {.file = body[0], .offset = body[1], .lines = body[2]};
  part.binBytes = body[3];
  part.binChecksum = body[4];
  part.textBytes = body[5];
  part.emptyDocuments = body[6];
  part.fileBytes = body[7];
  part.openTokens = body[8];
  part.documentTokens.assign(body.begin() + fixedWords, body.end());

  // What has a right checksum and is wrong nevertheless was not written by this program.
  bool isSane = std::all_of(body.begin(), body.begin() + 4, [](int64_t word) { return word >= 0; });
  int64_t left = part.binBytes / tokenBytes;
  for (int64_t tokens : part.documentTokens) {
    isSane &= tokens > 0 && tokens <= left;
    left -= isSane ? tokens : 0;
  }
  return isSane && part.openTokens == left ? count + 2 : 0;
}

std::vector<int64_t> PrepareJournal::recordOf(const Part &part) {
  std::vector<int64_t> words = {static_cast<int64_t>(fixedWords + part.documentTokens.size()),
                                part.end.file,
                                part.end.offset,
                                part.end.lines,
                                part.binBytes,
                                part.binChecksum,
                                part.textBytes,
                                part.emptyDocuments,
                                part.fileBytes,
                                part.openTokens};
  words.insert(words.end(), part.documentTokens.begin(), part.documentTokens.end());
  words.push_back(checksumOf(std::span(words).subspan(1)));
  return words;
}

void PrepareJournal::addUp(const Part &part, PreparedSoFar &total) {
  total.position = part.end;
  total.binBytes += part.binBytes;
  total.textBytes += part.textBytes;
  total.emptyDocuments += part.emptyDocuments;
  total.fileBytes = part.fileBytes;
  total.index.add(part.documentTokens, part.openTokens);
}

void PrepareJournal::add(const EncodedPieces &pieces) {
  part.end = pieces.end;
  part.binBytes += static_cast<int64_t>(pieces.stored.size());
  part.textBytes += pieces.textBytes;
  part.emptyDocuments += pieces.emptyDocuments;
  part.fileBytes = pieces.fileBytes;
  for (int64_t tokens : pieces.documentTokens)
    part.documentTokens.push_back(tokens + std::exchange(part.openTokens, 0));
  part.openTokens += pieces.openTokens;
}

absl::Status PrepareJournal::endPart(const AtomicFile &bin) {
  absl::StatusOr<int64_t> checksum = checksumOf(bin, bin.size() - part.binBytes, part.binBytes);
  if (!checksum.ok())
    return checksum.status();
  part.binChecksum = *checksum;
  absl::Status status = write(recordOf(part));
  beginPart(part.end, part.fileBytes);
  return status;
}

/// A part without pieces ends where it begins.
void PrepareJournal::beginPart(SourcePosition position, int64_t fileBytes) {
  part = {};
  part.end = position;
  part.fileBytes = fileBytes;
}

absl::Status PrepareJournal::write(std::span<const int64_t> words) {
  const char *data = reinterpret_cast<const char *>(words.data());
  for (size_t left = words.size_bytes(); left != 0;) {
    ssize_t count = ::pwrite(descriptor, data, left, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fileError(path, "write", errno);
    data += count;
    size += count;
    left -= static_cast<size_t>(count);
  }
  return absl::OkStatus();
}

void PrepareJournal::remove() { ::unlink(path.c_str()); }

} // namespace weft
