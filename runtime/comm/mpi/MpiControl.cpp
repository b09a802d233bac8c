//===- MpiControl.cpp - Word of leaving and of failing --------------------===//
//
// A message is a letter; behind that of a failure stand its code, message and payloads, each text with its
// length before it. It is short enough to be sent without the receiver's help.
//
//===----------------------------------------------------------------------===//
#include "runtime/comm/mpi/MpiControl.h"

#include "absl/strings/cord.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace weft {
namespace {

constexpr int kTag = 1;
constexpr char kLeft = 'L', kFailed = 'F';
constexpr size_t kMostText = 2048; ///< bytes of a message; a longer one is cut off

void putNumber(std::string &to, uint32_t number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  to.append(bytes, sizeof number);
}

void putText(std::string &to, std::string_view text) {
  text = text.substr(0, kMostText);
  putNumber(to, static_cast<uint32_t>(text.size()));
  to.append(text);
}

uint32_t takeNumber(std::string_view &from) {
  uint32_t number = 0;
  if (from.size() < sizeof number) {
    from = {};
    return 0;
  }
  std::memcpy(&number, from.data(), sizeof number);
  from.remove_prefix(sizeof number);
  return number;
}

std::string takeText(std::string_view &from) {
  size_t length = std::min<size_t>(takeNumber(from), from.size());
  std::string text(from.substr(0, length));
  from.remove_prefix(length);
  return text;
}

std::string encode(const absl::Status &status) {
  std::string text(1, kFailed);
  putNumber(text, static_cast<uint32_t>(status.code()));
  putText(text, std::string(status.message()));
  status.ForEachPayload([&](absl::string_view key, const absl::Cord &payload) {
    putText(text, std::string(key));
    putText(text, std::string(payload));
  });
  return text;
}

absl::Status decode(std::string_view text) {
  const auto code = static_cast<absl::StatusCode>(takeNumber(text));
  absl::Status status(code, takeText(text));
  while (!text.empty()) {
    const std::string key = takeText(text), value = takeText(text);
    status.SetPayload(key, absl::Cord(absl::string_view(value)));
  }
  return status;
}

} // namespace

MpiControl::MpiControl(MPI_Comm communicator, int rank, int size)
    : communicator(communicator), rank(rank), left(static_cast<size_t>(size)) {}

void MpiControl::tell(std::string text) {
  Message &message = outgoing.emplace_back();
  message.text = std::move(text);
  for (int peer = 0; peer < static_cast<int>(left.size()); ++peer) {
    MPI_Request request = MPI_REQUEST_NULL;
    // To a peer that is gone there is nothing to tell.
    if (peer != rank && MPI_Isend(message.text.data(), static_cast<int>(message.text.size()), MPI_BYTE, peer,
                                  kTag, communicator, &request) == MPI_SUCCESS)
      message.requests.push_back(request);
  }
}

void MpiControl::tellLeft() {
  left[static_cast<size_t>(rank)] = true;
  tell(std::string(1, kLeft));
}

void MpiControl::tellFailure(const absl::Status &status) {
  if (!failed.ok())
    return;
  failed = status;
  tell(encode(status));
}

void MpiControl::fail(const absl::Status &status) { failed.Update(status); }

bool MpiControl::allHaveLeft() const {
  return std::all_of(left.begin(), left.end(), [](bool hasLeft) { return hasLeft; });
}

absl::Status MpiControl::poll() {
  outgoing.remove_if([](Message &message) {
    int done = 0;
    return MPI_Testall(static_cast<int>(message.requests.size()), message.requests.data(), &done,
                       MPI_STATUSES_IGNORE) != MPI_SUCCESS ||
           done != 0;
  });
  return receive();
}

absl::Status MpiControl::receive() {
  for (;;) {
    int flag = 0;
    if (incomingRequest == MPI_REQUEST_NULL) {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      WEFT_CHECK_MPI(MPI_Improbe(MPI_ANY_SOURCE, kTag, communicator, &flag, &message, &status));
      if (flag == 0)
        return absl::OkStatus();
      int bytes = 0;
      WEFT_CHECK_MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
      incoming.resize(static_cast<size_t>(bytes));
      incomingFrom = status.MPI_SOURCE;
      WEFT_CHECK_MPI(MPI_Imrecv(incoming.data(), bytes, MPI_BYTE, &message, &incomingRequest));
    }
    WEFT_CHECK_MPI(MPI_Test(&incomingRequest, &flag, MPI_STATUS_IGNORE));
    if (flag == 0)
      return absl::OkStatus();
    hear(incoming, incomingFrom);
  }
}

void MpiControl::hear(const std::string &text, int from) {
  if (text[0] == kLeft)
    left[static_cast<size_t>(from)] = true;
  else if (failed.ok())
    failed = decode(std::string_view(text).substr(1));
}

} // namespace weft
