//===- ExitCodeTest.cpp - Exit codes are a contract -----------------------===//
//
// The numbers, how a status carries one, and that docs/exit_codes.md says the same.
//
//===----------------------------------------------------------------------===//
#include "runtime/support/ExitCode.h"
#include "runtime/support/FileText.h"

#include "gtest/gtest.h"

namespace weft {

TEST(ExitCode, NumbersNeverChange) {
  EXPECT_EQ(static_cast<int>(ExitCode::Ok), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::Internal), 1);
  EXPECT_EQ(static_cast<int>(ExitCode::Config), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::Data), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::Checkpoint), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::Stopped), 5);
  EXPECT_EQ(static_cast<int>(ExitCode::NonFinite), 6);
  EXPECT_EQ(static_cast<int>(ExitCode::PeerLost), 7);
  EXPECT_EQ(static_cast<int>(ExitCode::OutOfMemory), 8);
}

TEST(ExitCode, TableHasEachCodeAtItsNumber) {
  ASSERT_EQ(exitCodes().size(), 9u);
  for (size_t i = 0; i < exitCodes().size(); ++i)
    EXPECT_EQ(static_cast<size_t>(exitCodes()[i].code), i);
}

TEST(ExitCode, StatusCarriesItsCode) {
  absl::Status status = withExitCode(absl::InvalidArgumentError("bad"), ExitCode::Data);
  EXPECT_EQ(exitCodeOf(status), ExitCode::Data);
  EXPECT_EQ(status.message(), "bad");
}

TEST(ExitCode, TheLayerNearestToTheCauseKeepsItsCode) {
  absl::Status inner = withExitCode(absl::DataLossError("short"), ExitCode::Checkpoint);
  EXPECT_EQ(exitCodeOf(withExitCode(inner, ExitCode::Internal)), ExitCode::Checkpoint);
}

TEST(ExitCode, OkStaysOk) {
  EXPECT_EQ(exitCodeOf(absl::OkStatus()), ExitCode::Ok);
  EXPECT_TRUE(withExitCode(absl::OkStatus(), ExitCode::Data).ok());
}

TEST(ExitCode, KindOfStatusDecidesWithoutACode) {
  EXPECT_EQ(exitCodeOf(absl::ResourceExhaustedError("")), ExitCode::OutOfMemory);
  EXPECT_EQ(exitCodeOf(absl::UnavailableError("")), ExitCode::PeerLost);
  EXPECT_EQ(exitCodeOf(absl::CancelledError("")), ExitCode::Stopped);
  EXPECT_EQ(exitCodeOf(absl::InternalError("")), ExitCode::Internal);
}

TEST(ExitCode, DocumentHasARowForEachCode) {
  absl::StatusOr<std::string> document = readFileText(WEFT_SOURCE_DIR "/docs/exit_codes.md", 1 << 20);
  ASSERT_TRUE(document.ok()) << document.status();
  std::string rows;
  for (const ExitCodeInfo &info : exitCodes())
    rows += "| " + std::to_string(static_cast<int>(info.code)) + " | " + std::string(info.name) + " | " +
            std::string(info.meaning) + " |\n";
  EXPECT_NE(document->find("| code | name | when |\n|---|---|---|\n" + rows), std::string::npos)
      << "docs/exit_codes.md should hold these rows:\n"
      << rows;
}

} // namespace weft
