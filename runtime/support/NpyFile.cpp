#include "runtime/support/NpyFile.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace weft {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostHeaderBytes = 1 << 20;

struct DescriptionRow {
  std::string_view text;
  DType type;
};
/// The first row of a type is the one that is written.
constexpr std::array<DescriptionRow, 8> kDescriptions = {{{"|b1", DType::I1},
                                                          {"<i4", DType::I32},
                                                          {"<i8", DType::I64},
                                                          {"<V2", DType::BF16},
                                                          {"|V2", DType::BF16},
                                                          {"<f2", DType::F16},
                                                          {"<f4", DType::F32},
                                                          {"<f8", DType::F64}}};

template <typename... Parts> absl::Status bad(const std::string &file, const Parts &...parts) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", parts...));
}

struct Header {
  std::string description;
  bool isColumnMajor = false;
  std::vector<int64_t> shape;
};

/// Reads the header's dictionary: the literals that NumPy writes, keys in any order.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view text) : rest(text) {}

  /// Empty when the text is anything but {'descr': text, 'fortran_order': boolean, 'shape': tuple}.
  std::optional<Header> read() {
    Header header;
    bool seen[3] = {false, false, false};
    if (!take('{'))
      return std::nullopt;
    while (!take('}')) {
      std::optional<std::string> key = text();
      if (!key || !take(':'))
        return std::nullopt;
      int which = *key == "descr" ? 0 : *key == "fortran_order" ? 1 : *key == "shape" ? 2 : -1;
      if (which < 0 || seen[which] || !value(which, header))
        return std::nullopt;
      seen[which] = true;
      if (!take(',')) {
        if (!take('}'))
          return std::nullopt;
        break;
      }
    }
    skipSpace();
    if (!rest.empty() || !seen[0] || !seen[1] || !seen[2])
      return std::nullopt;
    return header;
  }

private:
  bool value(int which, Header &header) {
    if (which == 0) {
      std::optional<std::string> description = text();
      header.description = description.value_or("");
      return description.has_value();
    }
    if (which == 1) {
      header.isColumnMajor = takeWord("True");
      return header.isColumnMajor || takeWord("False");
    }
    return tuple(header.shape);
  }

  bool tuple(std::vector<int64_t> &sizes) {
    if (!take('('))
      return false;
    while (!take(')')) {
      skipSpace();
      size_t digits = 0;
      while (digits < rest.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest[digits])))
        ++digits;
      int64_t size = 0;
      if (!absl::SimpleAtoi(absl::string_view(rest.data(), digits), &size))
        return false;
      rest.remove_prefix(digits);
      sizes.push_back(size);
      if (!take(','))
        return sizes.size() != 1 && take(')'); // (3) is a number, (3,) a tuple
    }
    return true;
  }

  std::optional<std::string> text() {
    skipSpace();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return std::nullopt;
    size_t end = rest.find(rest[0], 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string found(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return found;
  }

  void skipSpace() {
    while (!rest.empty() && absl::ascii_isspace(static_cast<unsigned char>(rest[0])))
      rest.remove_prefix(1);
  }
  bool take(char wanted) {
    skipSpace();
    if (rest.empty() || rest[0] != wanted)
      return false;
    rest.remove_prefix(1);
    return true;
  }
  bool takeWord(std::string_view word) {
    skipSpace();
    if (rest.substr(0, word.size()) != word)
      return false;
    rest.remove_prefix(word.size());
    return true;
  }

  std::string_view rest;
};

/// Where the header's text lies in the file.
struct HeaderRange {
  size_t begin, bytes;
};

absl::StatusOr<HeaderRange> findHeader(std::string_view content, const std::string &file) {
  if (content.substr(0, kMagic.size()) != kMagic)
    return bad(file, "is not a .npy file (it must begin with \\x93NUMPY)");
  size_t at = kMagic.size();
  int version = content.size() > at ? static_cast<unsigned char>(content[at]) : 0;
  if (content.size() > at && (version < 1 || version > 3))
    return bad(file, "has .npy version ", version, "; versions 1 to 3 are read");
  size_t lengthBytes = version == 1 ? 2 : 4, begin = at + 2 + lengthBytes;
  if (content.size() < begin)
    return bad(file, "ends inside its header");
  size_t bytes = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    bytes |= static_cast<size_t>(static_cast<unsigned char>(content[at + 2 + i])) << (8 * i);
  if (bytes > kMostHeaderBytes)
    return bad(file, "has a header of ", bytes, " bytes; at most ", kMostHeaderBytes, " are read");
  if (content.size() - begin < bytes)
    return bad(file, "ends inside its header");
  return HeaderRange{begin, bytes};
}

/// From column-major (first dimension contiguous) to row-major.
std::vector<std::byte> toRowMajor(const TensorType &type, const std::vector<std::byte> &columns) {
  std::vector<std::byte> rows(columns.size());
  size_t width = static_cast<size_t>(byteSize(type.dtype));
  std::vector<int64_t> index(type.shape.size(), 0);
  for (size_t to = 0; to < rows.size(); to += width) {
    int64_t from = 0;
    for (size_t d = index.size(); d-- > 0;)
      from = from * type.shape[d] + index[d];
    std::memcpy(rows.data() + to, columns.data() + static_cast<size_t>(from) * width, width);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < type.shape[d])
        break;
      index[d] = 0;
    }
  }
  return rows;
}

absl::StatusOr<TensorType> typeOf(const Header &header, const std::string &file) {
  auto row = std::find_if(kDescriptions.begin(), kDescriptions.end(),
                          [&](const DescriptionRow &entry) { return entry.text == header.description; });
  if (row == kDescriptions.end())
    return bad(
        file, "has elements of type '", header.description,
        "'; read are bool (|b1), int32 (<i4), int64 (<i8), float16 (<f2), float32 (<f4), float64 (<f8) and "
        "bfloat16 (<V2). Convert it with numpy's astype");
  TensorType type{row->type, header.shape};
  int64_t bytes = byteSize(type.dtype);
  for (int64_t size : type.shape)
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes))
      return bad(file, "has a shape of more than 2^63 bytes");
  return type;
}

} // namespace

absl::StatusOr<NpyArray> parseNpy(std::string_view content, const std::string &file) {
  absl::StatusOr<HeaderRange> range = findHeader(content, file);
  if (!range.ok())
    return range.status();
  std::optional<Header> header = HeaderReader(content.substr(range->begin, range->bytes)).read();
  if (!header)
    return bad(file, "has a header that is not {'descr': text, 'fortran_order': boolean, 'shape': tuple}");
  absl::StatusOr<TensorType> type = typeOf(*header, file);
  if (!type.ok())
    return type.status();
  std::string_view data = content.substr(range->begin + range->bytes);
  if (static_cast<int64_t>(data.size()) != type->bytes())
    return bad(file, "holds ", data.size(), " bytes of elements, ", type->str(), " needs ", type->bytes());
  NpyArray array{*type, std::vector<std::byte>(data.size())};
  if (!data.empty())
    std::memcpy(array.bytes.data(), data.data(), data.size());
  if (type->dtype == DType::I1)
    for (size_t i = 0; i < array.bytes.size(); ++i)
      if (array.bytes[i] > std::byte{1})
        return bad(file, "element ", i, " is ", static_cast<int>(array.bytes[i]), ", a bool is 0 or 1");
  if (header->isColumnMajor)
    array.bytes = toRowMajor(*type, array.bytes);
  return array;
}

absl::StatusOr<NpyArray> readNpy(const std::string &path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    return bad(path, "is not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return absl::NotFoundError(absl::StrCat(path, ": cannot be opened"));
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad())
    return absl::DataLossError(absl::StrCat(path, ": cannot be read"));
  return parseNpy(content, path);
}

absl::StatusOr<std::string> formatNpy(const TensorType &type, std::span<const std::byte> bytes) {
  if (static_cast<int64_t>(bytes.size()) != type.bytes())
    return absl::InvalidArgumentError(
        absl::StrCat(".npy: ", type.str(), " needs ", type.bytes(), " bytes, there are ", bytes.size()));
  auto row = std::find_if(kDescriptions.begin(), kDescriptions.end(),
                          [&](const DescriptionRow &entry) { return entry.type == type.dtype; });
  std::string header =
      absl::StrCat("{'descr': '", std::string(row->text), "', 'fortran_order': False, 'shape': (");
  for (int64_t size : type.shape)
    absl::StrAppend(&header, size, type.shape.size() == 1 ? "," : ", ");
  if (type.shape.size() > 1)
    header.resize(header.size() - 2);
  header += "), }";
  size_t start = kMagic.size() + 4;
  header.append(63 - (start + header.size()) % 64, ' ');
  header += '\n';
  if (header.size() > 0xFFFF)
    return absl::InvalidArgumentError(
        absl::StrCat(".npy: a tensor of rank ", type.shape.size(), " has no header"));
  std::string content(kMagic);
  for (size_t byte : {size_t{1}, size_t{0}, header.size() & 0xFF, header.size() >> 8})
    content.push_back(static_cast<char>(byte));
  content += header;
  content.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  return content;
}

absl::Status writeNpy(const std::string &path, const TensorType &type, std::span<const std::byte> bytes) {
  absl::StatusOr<std::string> content = formatNpy(type, bytes);
  if (!content.ok())
    return content.status();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content->data(), static_cast<std::streamsize>(content->size()));
  file.close();
  if (!file)
    return absl::UnknownError(absl::StrCat(path, ": cannot be written"));
  return absl::OkStatus();
}

} // namespace weft
