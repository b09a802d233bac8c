//===- Calls.h - Calls of ranks, and how they end -------------------------===//
//
// What tests of communicators say over and over: a body on every rank with a status each, and one call over
// some of the ranks.
//
//===----------------------------------------------------------------------===//
#ifndef WEFT_TESTS_UNIT_COMM_CALLS_H
#define WEFT_TESTS_UNIT_COMM_CALLS_H

#include "tests/unit/comm/RankHarness.h"

#include "absl/strings/cord.h"

namespace weft::testing {

template <typename T> std::span<std::byte> bytesOf(std::vector<T> &values) {
  return std::as_writable_bytes(std::span(values));
}

/// A status as a text, and back: code, message, and the payload test/detail.
inline std::string encode(const absl::Status &status) {
  std::optional<absl::Cord> detail;
  if (auto payload = status.GetPayload("test/detail"))
    detail = *payload;
  return std::string(1, static_cast<char>(status.code())) + std::string(detail.value_or(absl::Cord())) +
         '\0' + std::string(status.message());
}
inline absl::Status decodeStatus(const std::string &text) {
  const size_t end = text.find('\0', 1);
  absl::Status status(static_cast<absl::StatusCode>(text[0]), text.substr(end + 1));
  if (end > 1)
    status.SetPayload("test/detail", absl::Cord(absl::string_view(text).substr(1, end - 1)));
  return status;
}
inline std::vector<absl::Status> collectStatuses(std::vector<std::string> texts) {
  collect(texts);
  std::vector<absl::Status> all;
  for (const std::string &text : texts)
    all.push_back(decodeStatus(text));
  return all;
}

/// Runs a body on every rank, and gives the status of each.
inline std::vector<absl::Status> statuses(int ranks,
                                          const std::function<absl::Status(Communicator &)> &body) {
  std::vector<std::string> all(static_cast<size_t>(ranks), encode(absl::OkStatus()));
  onEachRank(ranks, [&](Communicator &communicator) {
    all[static_cast<size_t>(communicator.rank())] = encode(body(communicator));
  });
  return collectStatuses(std::move(all));
}

inline void expectOnAll(const std::vector<absl::Status> &all, absl::StatusCode code,
                        const std::string &message) {
  for (const absl::Status &status : all) {
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(status.message(), message);
  }
}

/// One call over some ranks, as a kernel makes it.
inline absl::Status meetOver(Communicator &communicator, const std::vector<int64_t> &ranks) {
  auto exchange = communicator.exchange(ranks);
  if (!exchange.ok())
    return exchange.status();
  CollectiveCall call;
  call.operation = CollectiveOp::AllReduce;
  call.type = DType::F32;
  call.bytes = 4;
  if (absl::Status status = (*exchange)->begin(call, {}, {}); !status.ok())
    return status;
  (*exchange)->end();
  return absl::OkStatus();
}

} // namespace weft::testing

#endif // WEFT_TESTS_UNIT_COMM_CALLS_H
