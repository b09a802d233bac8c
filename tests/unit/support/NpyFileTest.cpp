// Reading and writing .npy: files as NumPy writes them, byte by byte, and files that are wrong.
#include "tests/unit/TestFolder.h"

#include "runtime/support/NpyFile.h"

#include "gtest/gtest.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace weft {
namespace {

std::string file(const std::string &header, const std::string &data, int version = 1) {
  std::string content = "\x93NUMPY";
  content += static_cast<char>(version);
  content += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    content += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return content + header + data;
}

template <typename Value> std::string raw(std::vector<Value> values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(Value)};
}

template <typename Value> std::vector<Value> valuesOf(const NpyArray &array) {
  std::vector<Value> values(array.bytes.size() / sizeof(Value));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

void expectRefused(const std::string &content, const std::string &message) {
  absl::StatusOr<NpyArray> array = parseNpy(content, "x.npy");
  ASSERT_FALSE(array.ok());
  EXPECT_EQ(std::string(array.status().message()), message);
}

TEST(NpyFile, ReadsWhatNumPyWrites) {
  absl::StatusOr<NpyArray> array =
      parseNpy(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }     \n",
                    raw<float>({1, 2, 3, 4, 5, 6})),
               "x");
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->type.str(), "tensor<2x3xf32>");
  EXPECT_EQ(valuesOf<float>(*array), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(NpyFile, ReadsEveryTypeVersionAndOrderOfKeys) {
  struct Case {
    std::string descr;
    size_t bytes;
    std::string type;
  };
  for (const Case &one :
       {Case{"|b1", 1, "tensor<1xi1>"}, Case{"<i4", 4, "tensor<1xi32>"}, Case{"<i8", 8, "tensor<1xi64>"},
        Case{"<V2", 2, "tensor<1xbf16>"}, Case{"|V2", 2, "tensor<1xbf16>"}, Case{"<f2", 2, "tensor<1xf16>"},
        Case{"<f4", 4, "tensor<1xf32>"}, Case{"<f8", 8, "tensor<1xf64>"}})
    for (int version : {1, 2, 3}) {
      absl::StatusOr<NpyArray> array =
          parseNpy(file("{\"shape\":(1,),'descr':'" + one.descr + "','fortran_order':False}",
                        std::string(one.bytes, '\0'), version),
                   "x");
      ASSERT_TRUE(array.ok()) << array.status();
      EXPECT_EQ(array->type.str(), one.type);
    }
}

TEST(NpyFile, ReadsScalarsAndEmptyArrays) {
  absl::StatusOr<NpyArray> scalar =
      parseNpy(file("{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", raw<int64_t>({-5})), "x");
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_EQ(scalar->type.str(), "tensor<i64>");
  EXPECT_EQ(valuesOf<int64_t>(*scalar), std::vector<int64_t>{-5});
  absl::StatusOr<NpyArray> empty =
      parseNpy(file("{'descr': '<f4', 'fortran_order': True, 'shape': (0, 3), }\n", ""), "x");
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ(empty->type.str(), "tensor<0x3xf32>");
}

TEST(NpyFile, TurnsColumnMajorIntoRowMajor) {
  // x[i, j, k] = 100 i + 10 j + k, first index fastest.
  std::vector<int32_t> columns, rows;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        columns.push_back(100 * i + 10 * j + k);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k)
        rows.push_back(100 * i + 10 * j + k);
  absl::StatusOr<NpyArray> array =
      parseNpy(file("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 2), }\n", raw(columns)), "x");
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(valuesOf<int32_t>(*array), rows);
}

TEST(NpyFile, WritesTheBytesThatNumPyWould) {
  std::vector<float> values = {1, 2};
  absl::StatusOr<std::string> content = formatNpy({DType::F32, {2}}, std::as_bytes(std::span(values)));
  ASSERT_TRUE(content.ok());
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  header.append(117 - header.size(), ' ');
  EXPECT_EQ(*content, file(header + "\n", raw(values)));
}

TEST(NpyFile, ReadsBackWhatItWrites) {
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{}, {3}, {2, 0}, {2, 1, 3}, std::vector<int64_t>(40, 1)})
    for (DType dtype : {DType::I1, DType::I32, DType::I64, DType::BF16, DType::F16, DType::F32, DType::F64}) {
      TensorType type{dtype, shape};
      std::vector<std::byte> bytes(type.bytes(), std::byte{1});
      absl::StatusOr<std::string> content = formatNpy(type, bytes);
      ASSERT_TRUE(content.ok());
      EXPECT_EQ((content->size() - bytes.size()) % 64, 0u);
      absl::StatusOr<NpyArray> array = parseNpy(*content, "x");
      ASSERT_TRUE(array.ok()) << array.status();
      EXPECT_EQ(array->type, type);
      EXPECT_EQ(array->bytes, bytes);
    }
}

TEST(NpyFile, GoesThroughTheDisk) {
  TestFolder folder;
  std::string path = folder / "values.npy";
  std::vector<double> values = {0.5, -1};
  ASSERT_TRUE(writeNpy(path, {DType::F64, {2}}, std::as_bytes(std::span(values))).ok());
  absl::StatusOr<NpyArray> array = readNpy(path);
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(valuesOf<double>(*array), values);
}

TEST(NpyFile, SaysWhyAPathCannotBeReadOrWritten) {
  absl::StatusOr<NpyArray> array = readNpy("/nonexistent/x.npy");
  EXPECT_EQ(std::string(array.status().message()), "/nonexistent/x.npy: cannot be opened");
  EXPECT_TRUE(absl::IsNotFound(array.status()));
  EXPECT_EQ(std::string(readNpy("/").status().message()), "/: is not a regular file");
  std::vector<float> values = {1};
  EXPECT_EQ(
      std::string(
          writeNpy("/nonexistent/x.npy", {DType::F32, {1}}, std::as_bytes(std::span(values))).message()),
      "/nonexistent/x.npy: cannot be written");
}

TEST(NpyFile, RefusesOtherFilesAndCutOnes) {
  std::string whole = file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", raw<float>({1, 2}));
  expectRefused("", "x.npy: is not a .npy file (it must begin with \\x93NUMPY)");
  expectRefused("PK\x03\x04", "x.npy: is not a .npy file (it must begin with \\x93NUMPY)");
  expectRefused(whole.substr(0, 6), "x.npy: ends inside its header");
  expectRefused(whole.substr(0, 9), "x.npy: ends inside its header");
  expectRefused(whole.substr(0, 40), "x.npy: ends inside its header");
  expectRefused(whole.substr(0, whole.size() - 1), "x.npy: holds 7 bytes of elements, tensor<2xf32> needs 8");
  expectRefused(whole + "x", "x.npy: holds 9 bytes of elements, tensor<2xf32> needs 8");
  expectRefused(file("{}", "", 4), "x.npy: has .npy version 4; versions 1 to 3 are read");
  expectRefused(std::string("\x93NUMPY\x02\x00\x00\x00\x20\x00", 12),
                "x.npy: has a header of 2097152 bytes; at most 1048576 are read");
}

TEST(NpyFile, EveryCutOfAFileIsRefused) {
  std::string whole =
      file("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }\n", raw<float>({1, 2}));
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(parseNpy(whole.substr(0, bytes), "x").ok()) << bytes;
}

TEST(NpyFile, RefusesTypesThatItDoesNotHave) {
  expectRefused(
      file("{'descr': '>f4', 'fortran_order': False, 'shape': (), }\n", "1234"),
      "x.npy: has elements of type '>f4'; read are bool (|b1), int32 (<i4), int64 (<i8), float16 (<f2), "
      "float32 (<f4), float64 (<f8) and bfloat16 (<V2). Convert it with numpy's astype");
}

TEST(NpyFile, RefusesMalformedHeaders) {
  std::string message =
      "x.npy: has a header that is not {'descr': text, 'fortran_order': boolean, 'shape': tuple}";
  for (const char *header :
       {"", "{}", "{", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': ''}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': ()}",
        "{'descr: '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"})
    expectRefused(file(header, "1234"), message);
}

TEST(NpyFile, RefusesShapesThatOverflow) {
  expectRefused(file("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", ""),
                "x.npy: has a shape of more than 2^63 bytes");
  expectRefused(file("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 0, 4), }", ""),
                "x.npy: has a shape of more than 2^63 bytes");
  expectRefused(file("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000,), }", "1234"),
                "x.npy: holds 4 bytes of elements, tensor<1000000xf32> needs 4000000");
}

TEST(NpyFile, RefusesBooleansThatAreNeitherZeroNorOne) {
  expectRefused(file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", std::string("\x01\x07")),
                "x.npy: element 1 is 7, a bool is 0 or 1");
}

TEST(NpyFile, RefusesToWriteAnotherNumberOfBytes) {
  std::vector<float> values = {1};
  EXPECT_EQ(std::string(formatNpy({DType::F32, {2}}, std::as_bytes(std::span(values))).status().message()),
            ".npy: tensor<2xf32> needs 8 bytes, there are 4");
}

} // namespace
} // namespace weft
