//===- Compressed.h - Text as gzip and Zstandard have it ------------------===//
//
// One member or frame each; joined, they are still a valid file.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_DATA_COMPRESSED_H
#define WEFT_TESTS_UNIT_DATA_COMPRESSED_H

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <zlib.h>
#include <zstd.h>

namespace weft {

inline std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

} // namespace weft

#endif // WEFT_TESTS_UNIT_DATA_COMPRESSED_H
