#include "runtime/comm/CallText.h"

#include "runtime/comm/Communicator.h"
#include "runtime/support/ExitCode.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace weft {

static constexpr char gaveUpUrl[] = "weft/rank-that-gave-up";

/// 4096 bytes f32 (sum, ...)
static std::string describeBytes(const CollectiveCall &call) {
  std::string text = absl::StrCat(call.bytes, " bytes");
  if (call.type)
    absl::StrAppend(&text, " ", std::string(name(*call.type)));
  if (!call.detail.empty())
    absl::StrAppend(&text, " (", std::string(call.detail), ")");
  return text;
}

static std::string betweenRanks(std::span<const int> members) {
  return absl::StrCat(" from rank ", members[0], " to rank ", members[1]);
}

std::string describeCall(const CollectiveCall &call, uint64_t number, std::span<const int> members,
                         size_t ranks) {
  std::string text = absl::StrCat(std::string(name(call.operation)), " #", number);
  if (call.operation != CollectiveOp::Barrier)
    absl::StrAppend(&text, " of ", describeBytes(call));
  else if (!call.detail.empty())
    absl::StrAppend(&text, " (", std::string(call.detail), ")");
  if (call.operation == CollectiveOp::Send)
    return absl::StrCat(text, betweenRanks(members));
  if (members.size() < ranks) {
    absl::StrAppend(&text, " over ranks");
    for (int rank : members)
      absl::StrAppend(&text, " ", rank);
  }
  return text;
}

absl::Status differentEnds(const CollectiveCall &sent, const CollectiveCall &received, uint64_t number,
                           std::span<const int> members) {
  return absl::InvalidArgumentError(absl::StrCat("send #", number, betweenRanks(members), ": rank ",
                                                 members[0], " sends ", describeBytes(sent), ", rank ",
                                                 members[1], " receives ", describeBytes(received)));
}

absl::Status notBegun(int rank, uint64_t number, std::span<const int> members) {
  return absl::InvalidArgumentError(absl::StrCat("rank ", rank, " waits for send #", number,
                                                 betweenRanks(members), ", which it has not begun"));
}

absl::Status hasLeft(int lost, int waiting, const std::string &call) {
  return withExitCode(
      absl::UnavailableError(absl::StrCat("lost rank ", lost, ", which has left the job before ", call,
                                          ". Rank ", waiting, " waited in it")),
      ExitCode::PeerLost);
}

absl::Status gaveUp(int rank, const absl::Status &cause) {
  absl::Status status(cause.ok() ? absl::StatusCode::kAborted : cause.code(),
                      absl::StrCat("rank ", rank, " gave up", cause.ok() ? "" : ": ", cause.message()));
  cause.ForEachPayload(
      [&](absl::string_view key, const absl::Cord &payload) { status.SetPayload(key, payload); });
  status.SetPayload(gaveUpUrl, absl::Cord(absl::string_view(std::to_string(rank))));
  return status;
}

bool isOfAnotherRank(const absl::Status &status) { return status.GetPayload(gaveUpUrl).has_value(); }

} // namespace weft
