#include "tests/unit/TestFolder.h"

#include "runtime/executable/ExecutableFile.h"
#include "runtime/executable/ExecutableFormat_generated.h"
#include "runtime/executable/FileHeader.h"
#include "tests/unit/executable/SampleExecutable.h"
#include "tests/unit/executable/SampleGenerated.h"
#include "tests/unit/executable/SampleMeshExecutable.h"
#include "tests/unit/executable/SampleParts.h"
#include "tests/unit/object/TestObjects.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <xxhash.h>

namespace weft::testing {
namespace {

std::string sampleBytes() { return *serializeExecutables({sampleExecutable()}); }

/// The sample's bytes with a changed header whose checksum is right.
std::string withHeader(const std::function<void(FileHeader &)> &change) {
  std::string bytes = sampleBytes();
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  change(header);
  header.headerChecksum = XXH64(&header, offsetof(FileHeader, headerChecksum), 0);
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

class InFolder : public ::testing::Test {
protected:
  TestFolder folder;
};

TEST(ExecutableFile, ReadsBackWhatWasWritten) {
  absl::StatusOr<std::vector<Executable>> read = parseExecutables(sampleBytes(), "a.weft");
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(read->front(), sampleExecutable());
}

TEST(ExecutableFile, KeepsTheMeshAndEveryPlacement) {
  Executable sample = sampleMeshExecutable();
  sample.programs[0].inputs[0].placement = {}; // one of each: split, and whole
  absl::StatusOr<std::string> bytes = serializeExecutables({sample});
  ASSERT_EQ(bytes.status(), absl::OkStatus());
  absl::StatusOr<std::vector<Executable>> read = parseExecutables(*bytes, "a.weft");
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(read->front(), sample);
  EXPECT_EQ(parseExecutables(*serializeExecutables({sampleMeshExecutable()}), "a.weft")->front(),
            sampleMeshExecutable());
}

TEST(ExecutableFile, KeepsEveryPartAndWhatIsCommonOnce) {
  std::vector<Executable> parts = sampleParts();
  const std::string tokenizer(5000, 't');
  for (Executable &part : parts)
    part.tokenizer = tokenizer;
  absl::StatusOr<std::string> bytes = serializeExecutables(parts);
  ASSERT_EQ(bytes.status(), absl::OkStatus());
  EXPECT_LT(bytes->size(), 2 * tokenizer.size());
  absl::StatusOr<std::vector<Executable>> read = parseExecutables(*bytes, "a.weft");
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(*read, parts);
  EXPECT_EQ(&(*read)[0].tokenizer.str(), &(*read)[1].tokenizer.str()); // and once in memory
}

/// A build that knows one part alone must not take the first for the whole.
TEST(ExecutableFile, SeveralPartsAreOfAVersionThatOlderBuildsRefuse) {
  auto versionOf = [](const std::vector<Executable> &parts) {
    FileHeader header;
    std::memcpy(&header, serializeExecutables(parts)->data(), sizeof(header));
    return header.formatVersion;
  };
  EXPECT_EQ(versionOf({sampleMeshExecutable()}), 1);
  EXPECT_EQ(versionOf(sampleParts()), 2);
}

/// And a build that knows no generated kernels must not run their calls without them.
TEST(ExecutableFile, AnObjectIsOfAVersionThatOlderBuildsRefuse) {
  FileHeader header;
  std::memcpy(&header, serializeExecutables({sampleGenerated(objectBytes("kernels"))})->data(),
              sizeof(header));
  EXPECT_EQ(header.formatVersion, 4);
}

TEST(ExecutableFile, KeepsTheObjectOnceForAllParts) {
  std::vector<Executable> parts = sampleParts();
  const SharedText object = objectBytes("kernels");
  for (Executable &part : parts) {
    part.target.instructionSet = "avx2";
    part.object = {"x86-64-v3", object};
  }
  absl::StatusOr<std::string> bytes = serializeExecutables(parts);
  ASSERT_EQ(bytes.status(), absl::OkStatus());
  absl::StatusOr<std::vector<Executable>> read = parseExecutables(*bytes, "a.weft");
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(*read, parts);
  EXPECT_EQ(&(*read)[0].object.bytes.str(), &(*read)[1].object.bytes.str());
  const size_t found = bytes->find(object.str());
  ASSERT_NE(found, std::string::npos);
  EXPECT_EQ(found % 64, 0);
  EXPECT_EQ(bytes->find(object.str(), found + 1), std::string::npos);
}

TEST(ExecutableFile, ADamagedObjectIsNoticed) {
  const std::string object = objectBytes("kernels");
  std::string bytes = *serializeExecutables({sampleGenerated(object)});
  bytes[bytes.find(object) + object.size() / 2] ^= 1;
  EXPECT_EQ(
      parseExecutables(bytes, "a.weft").status(),
      absl::DataLossError("a.weft: the checksum of the object of generated kernels does not match: the file "
                          "is damaged. Write it again: weft compile RUN.yaml -o a.weft"));
}

TEST(ExecutableFile, EqualExecutablesGiveEqualBytes) { EXPECT_EQ(sampleBytes(), sampleBytes()); }

TEST(ExecutableFile, ReadsFromBytesAtAnyAddress) {
  std::string shifted = "x" + sampleBytes();
  EXPECT_TRUE(parseExecutables(std::string_view(shifted).substr(1), "a.weft").ok());
}

TEST(ExecutableFile, HoldsAnEmptyExecutable) {
  Executable empty;
  empty.weftVersion = "0.1.0";
  empty.target.instructionSet = "test";
  absl::StatusOr<std::string> bytes = serializeExecutables({empty});
  ASSERT_EQ(bytes.status(), absl::OkStatus());
  EXPECT_EQ(parseExecutables(*bytes, "a.weft")->front(), empty);
}

TEST(ExecutableFile, ADamagedByteIsNoticedOrWithoutEffect) {
  std::string bytes = sampleBytes();
  Executable sample = sampleExecutable();
  int noticed = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    absl::StatusOr<std::vector<Executable>> read = parseExecutables(damaged, "a.weft");
    noticed += !read.ok();
    if (read.ok()) {
      EXPECT_EQ(read->front(), sample) << "byte " << i;
    }
  }
  EXPECT_GT(noticed, static_cast<int>(bytes.size() / 2));
}

TEST(ExecutableFile, ACutFileIsRefusedAtEveryLength) {
  std::string bytes = sampleBytes();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(parseExecutables(std::string_view(bytes).substr(0, size), "a.weft").ok()) << size;
}

struct Refused {
  const char *name;
  std::function<std::string()> bytes;
  absl::StatusCode code;
  const char *message;
};

class ParseRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(ParseRefuses, WithItsMessage) {
  absl::Status status = parseExecutables(GetParam().bytes(), "runs/a.weft").status();
  EXPECT_EQ(status.code(), GetParam().code);
  EXPECT_EQ(status.message(), std::string("runs/a.weft: ") + GetParam().message +
                                  ". Write it again: weft compile RUN.yaml -o runs/a.weft");
}

const Refused kRefused[] = {
    {"NoExecutable", [] { return std::string("model: {}"); }, absl::StatusCode::kInvalidArgument,
     "this is no weft executable (it does not start with 'weftexe')"},
    {"ShortHeader", [] { return sampleBytes().substr(0, 100); }, absl::StatusCode::kDataLoss,
     "the file ends after 100 bytes, inside its header: it was cut off"},
    {"DamagedHeader",
     [] {
       std::string bytes = sampleBytes();
       bytes[20] ^= 1;
       return bytes;
     },
     absl::StatusCode::kDataLoss, "the checksum of the header does not match: the file is damaged"},
    {"NewerVersion",
     [] {
       return withHeader([](FileHeader &header) {
         header.formatVersion = 7;
         std::strcpy(header.weftVersion, "3.4.5");
       });
     },
     absl::StatusCode::kFailedPrecondition,
     "written by weft 3.4.5 in format version 7, this is weft " WEFT_VERSION ", which reads versions 1 to 4"},
    {"CutOff", [] { return withHeader([](FileHeader &header) { header.fileBytes = 99; }); },
     absl::StatusCode::kDataLoss,
     "the file has 3008 bytes, its header says 99: it was cut off or appended to"},
    {"StructureEnd",
     [] { return withHeader([](FileHeader &header) { header.structureBytes = ~uint64_t{0}; }); },
     absl::StatusCode::kInvalidArgument,
     "its structure is said to be 18446744073709551615 bytes at offset 128"},
    {"NoStructure", [] { return withHeader([](FileHeader &header) { header.structureBytes = 0; }); },
     absl::StatusCode::kInvalidArgument, "its structure is said to be 0 bytes at offset 128"},
    {"DamagedStructure",
     [] {
       std::string bytes = sampleBytes();
       bytes[kHeaderBytes] ^= 1;
       return bytes;
     },
     absl::StatusCode::kDataLoss, "the checksum of the structure does not match: the file is damaged"},
    {"ForeignStructure",
     [] {
       std::string bytes = withHeader([](FileHeader &header) {
         std::string ones(header.structureBytes, '\xff');
         header.structureChecksum = XXH64(ones.data(), ones.size(), 0);
       });
       FileHeader header;
       std::memcpy(&header, bytes.data(), sizeof(header));
       bytes.replace(kHeaderBytes, header.structureBytes, std::string(header.structureBytes, '\xff'));
       return bytes;
     },
     absl::StatusCode::kInvalidArgument, "its structure does not verify as FlatBuffers"},
    {"DamagedConfig",
     [] {
       std::string bytes = sampleBytes();
       bytes[bytes.find("train: {steps")] = 'b';
       return bytes;
     },
     absl::StatusCode::kDataLoss, "the checksum of the config does not match: the file is damaged"},
};

INSTANTIATE_TEST_SUITE_P(ExecutableFile, ParseRefuses, ::testing::ValuesIn(kRefused),
                         [](const auto &info) { return info.param.name; });

/// A whole file around a structure.
std::string fileOf(const flatbuffers::FlatBufferBuilder &builder) {
  FileHeader header = {};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.formatVersion = kFormatVersion;
  header.structureOffset = kHeaderBytes;
  header.structureBytes = builder.GetSize();
  header.structureChecksum = XXH64(builder.GetBufferPointer(), builder.GetSize(), 0);
  header.fileBytes = kHeaderBytes + builder.GetSize();
  header.headerChecksum = XXH64(&header, offsetof(FileHeader, headerChecksum), 0);
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  return bytes.append(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
}

TEST(ExecutableFile, AStructureWhoseStringsShareTheirBytesCannotGrowInMemory) {
  flatbuffers::FlatBufferBuilder builder;
  auto version = builder.CreateString("0.1.0"), set = builder.CreateString("test");
  format::Blob nothing(0, 0, XXH64(nullptr, 0, 0));
  auto location = builder.CreateString(std::string(10000, 'x'));
  auto locations =
      builder.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(10000, location));
  builder.Finish(
      format::CreateExecutable(builder, version, set, 1, &nothing, &nothing, 0, 0, 0, 0, locations));
  EXPECT_EQ(parseExecutables(fileOf(builder), "a.weft").status().message(),
            "a.weft: parts of its structure overlap. Write it again: weft compile RUN.yaml -o a.weft");
}

TEST(ExecutableFile, BlobsThatShareTheirBytesCannotGrowInMemory) {
  flatbuffers::FlatBufferBuilder builder;
  auto version = builder.CreateString("0.1.0"), set = builder.CreateString("test");
  std::string contents(2000, 'x'); // behind the structure, as config and as tokenizer
  uint64_t checksum = XXH64(contents.data(), contents.size(), 0);
  format::Blob blob(1024, contents.size(), checksum);
  builder.Finish(format::CreateExecutable(builder, version, set, 1, &blob, &blob));
  std::string bytes = fileOf(builder);
  bytes.resize(1024);
  bytes += contents;
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.fileBytes = bytes.size();
  header.headerChecksum = XXH64(&header, offsetof(FileHeader, headerChecksum), 0);
  std::memcpy(bytes.data(), &header, sizeof(header));
  EXPECT_EQ(
      parseExecutables(bytes, "a.weft").status().message(),
      "a.weft: the tokenizer shares its bytes with other parts of the file. Write it again: weft compile "
      "RUN.yaml -o a.weft");
}

TEST(ExecutableFile, WhatCannotRunIsNotWritten) {
  Executable executable = sampleExecutable();
  executable.target.threads = 0;
  EXPECT_EQ(serializeExecutables({executable}).status().message(),
            "target: threads is 0, at least 1 is needed");
}

TEST(ExecutableFile, AVersionMustFitTheHeader) {
  Executable executable = sampleExecutable();
  executable.weftVersion = std::string(32, '1');
  EXPECT_EQ(serializeExecutables({executable}).status().message(),
            "weft version '11111111111111111111111111111111' is longer than 31 bytes");
}

TEST_F(InFolder, WritesTheFileAndNothingElse) {
  std::string path = folder / "a.weft";
  ASSERT_EQ(writeExecutables({sampleExecutable()}, path), absl::OkStatus());
  EXPECT_EQ(readExecutables(path)->front(), sampleExecutable());
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(InFolder, AMissingFileIsNamed) {
  std::string path = folder / "none.weft";
  EXPECT_EQ(readExecutables(path).status().message(), path + ": cannot be opened: No such file or directory");
}

TEST_F(InFolder, AFolderIsNoExecutable) {
  EXPECT_EQ(readExecutables(folder.path()).status().message(), folder.path() + ": is not a regular file");
}

TEST_F(InFolder, AnUnwritablePlaceIsNamed) {
  std::string path = folder / "missing/a.weft";
  absl::Status status = writeExecutables({sampleExecutable()}, path);
  EXPECT_EQ(status.message(), path + ": cannot be created: No such file or directory");
}

/// The file of format version 1 that is in git loads for as long as version 1 is read.
TEST(ExecutableFile, VersionOneStillLoads) {
  absl::StatusOr<std::vector<Executable>> read = readExecutables(WEFT_TEST_DATA "/version-1.weft");
  ASSERT_EQ(read.status(), absl::OkStatus());
  Executable sample = sampleExecutable();
  sample.caches.clear(); // written before there were caches, and meshes
  EXPECT_EQ(read->front(), sample);
  EXPECT_EQ(read->front().mesh, Mesh{});
  EXPECT_EQ(readExecutables(WEFT_TEST_DATA "/version-1-mesh.weft")->front(), sampleMeshExecutable());
}

TEST(ExecutableFile, VersionTwoStillLoads) {
  absl::StatusOr<std::vector<Executable>> read = readExecutables(WEFT_TEST_DATA "/version-2-parts.weft");
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(*read, sampleParts());
}

TEST(ExecutableFile, VersionThreeStillLoads) {
  absl::StatusOr<std::vector<Executable>> read = readExecutables(WEFT_TEST_DATA "/version-3-snapshot.weft");
  ASSERT_EQ(read.status(), absl::OkStatus());
  Executable sample = withSnapshot(sampleExecutable());
  sample.caches.clear(); // written before there were caches
  EXPECT_EQ(read->front(), sample);
}

TEST(ExecutableFile, VersionFourStillLoads) {
  absl::StatusOr<std::vector<Executable>> read = readExecutables(WEFT_TEST_DATA "/version-4-object.weft");
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_EQ(read->front(), sampleGenerated(read->front().object.bytes.str()));
}

TEST(ExecutableFile, AMeshThatIsMuchLargerThanItsPartsCannotGrowInMemory) {
  flatbuffers::FlatBufferBuilder builder;
  auto version = builder.CreateString("0.1.0"), set = builder.CreateString("test");
  format::Blob nothing(0, 0, XXH64(nullptr, 0, 0));
  auto role = format::CreateRole(builder, builder.CreateString(std::string(10000, 'x')));
  auto roles = builder.CreateVector(std::vector<flatbuffers::Offset<format::Role>>{role});
  auto part = format::CreatePart(builder);
  auto parts = builder.CreateVector(std::vector<flatbuffers::Offset<format::Part>>(400, part));
  builder.Finish(format::CreateExecutable(builder, version, set, 1, &nothing, &nothing, 0, 0, 0, 0, 0, 0, 0,
                                          roles, parts));
  EXPECT_EQ(parseExecutables(fileOf(builder), "a.weft").status().message(),
            "a.weft: its mesh is too large for 400 further parts. Write it again: weft compile RUN.yaml -o "
            "a.weft");
}

} // namespace
} // namespace weft::testing
